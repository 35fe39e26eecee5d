"""The kinds of objects that Waypost uses in a cluster: API paths, models and protected fields.

Builders use the client's models for kinds of the Kubernetes API. A kind that other software brings
(TLSRoute, Route, Certificate) has a ``ForeignObject`` in the module that builds it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from kubernetes import client as k8s
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from workers.infra.kubernetes import reported
from workers.infra.kubernetes.objects import json_of
from workers.infra.kubernetes.reported import Reported

ReportedT = TypeVar("ReportedT", bound=Reported)
ReportedT_co = TypeVar("ReportedT_co", bound=Reported, covariant=True)
# RFC 1123 subdomains, and the names of roles (Kubernetes, "Object Names and IDs").
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.:_-]*[A-Za-z0-9])?")


@dataclass(frozen=True)
class Resource(Generic[ReportedT_co]):
    """Describes one kind of object, and its protected fields (JSON pointers, RFC 6901).

    Waypost removes what others add to a protected field, because an addition could break the
    isolation of a space or divert its traffic.

    * ``plural``: the name of the kind in API paths.
    * ``reported``: the model of an object of this kind as the cluster reports it.
    * ``namespaced``: its objects are in namespaces.
    * ``exact``: fields that must be exactly as in the wanted object.
    * ``closed``: fields to which the API may add single values (defaults). Nobody may add a list, a
      mapping or an element to them.
    """

    kind: str
    api_version: str
    plural: str
    reported: type[ReportedT_co]
    namespaced: bool = True
    exact: frozenset[str] = frozenset()
    closed: frozenset[str] = frozenset()

    def path(self, namespace: str | None, name: str | None = None) -> str:
        """Return the API's path of the object ``name``; without ``name``, of the collection.

        ``namespace`` None means all namespaces. It has no effect for a kind outside namespaces.

        Raises:
            ValueError: a part is not a legal name, so that the path could lead elsewhere.
        """
        for part in (namespace, name):
            if part is not None and not _NAME.fullmatch(part):
                raise ValueError(f"{part!r} is not a name of an object")
        # The core group has no name and therefore another path (Kubernetes, "API groups").
        root = "/api/v1" if self.api_version == "v1" else f"/apis/{self.api_version}"
        parts = [root]
        if self.namespaced and namespace is not None:
            parts += ["namespaces", namespace]
        parts.append(self.plural)
        return "/".join([*parts, name] if name else parts)


NAMESPACE = Resource("Namespace", "v1", "namespaces", reported.WithConditions, namespaced=False)
ROLE_BINDING = Resource(
    "RoleBinding",
    "rbac.authorization.k8s.io/v1",
    "rolebindings",
    Reported,
    exact=frozenset({"/roleRef", "/subjects"}),
)
NETWORK_POLICY = Resource(
    "NetworkPolicy",
    "networking.k8s.io/v1",
    "networkpolicies",
    Reported,
    exact=frozenset({"/spec"}),
)
RESOURCE_QUOTA = Resource(
    "ResourceQuota", "v1", "resourcequotas", reported.Quota, exact=frozenset({"/spec"})
)
LIMIT_RANGE = Resource("LimitRange", "v1", "limitranges", Reported, exact=frozenset({"/spec"}))
SERVICE_ACCOUNT = Resource("ServiceAccount", "v1", "serviceaccounts", Reported)
SECRET = Resource("Secret", "v1", "secrets", reported.Files, exact=frozenset({"/data"}))
CONFIG_MAP = Resource("ConfigMap", "v1", "configmaps", reported.Files, exact=frozenset({"/data"}))
SERVICE = Resource(
    "Service",
    "v1",
    "services",
    reported.Service,
    exact=frozenset(
        f"/spec/{field}" for field in ("selector", "externalIPs", "publishNotReadyAddresses")
    ),
    closed=frozenset({"/spec/ports"}),
)
DISRUPTION_BUDGET = Resource(
    "PodDisruptionBudget",
    "policy/v1",
    "poddisruptionbudgets",
    Reported,
    exact=frozenset({"/spec/selector"}),
)
_POD = "/spec/template/spec"
# Waypost sets none of these fields, and the API gives them no default. A value would weaken the
# isolation or move the pod.
_POD_VALUES = (
    "dnsConfig",
    "hostNetwork",
    "hostPID",
    "hostIPC",
    "shareProcessNamespace",
    "nodeName",
    "priorityClassName",
    "runtimeClassName",
)
STATEFUL_SET = Resource(
    "StatefulSet",
    "apps/v1",
    "statefulsets",
    reported.StatefulSet,
    # With another first ordinal the pod would get another volume.
    exact=frozenset({"/spec/ordinals", *(f"{_POD}/{field}" for field in _POD_VALUES)}),
    closed=frozenset(
        f"{_POD}/{field}" for field in ("containers", "initContainers", "volumes", "hostAliases")
    ),
)
INGRESS = Resource(
    "Ingress",
    "networking.k8s.io/v1",
    "ingresses",
    Reported,
    closed=frozenset({"/spec/rules", "/spec/tls", "/spec/defaultBackend"}),
)
# Kinds that Waypost only reads, annotates or deletes.
POD = Resource("Pod", "v1", "pods", reported.Pod)
EVENT = Resource("Event", "v1", "events", reported.Event)
VOLUME_CLAIM = Resource("PersistentVolumeClaim", "v1", "persistentvolumeclaims", Reported)


class ForeignPart(BaseModel):
    """A part of an object that the Kubernetes client has no model of."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, validate_by_name=True
    )


class ForeignObject(ForeignPart):
    """An object of a kind that other software brings into the cluster, such as cert-manager.

    Each subclass is one kind and names its ``resource``.
    """

    resource: ClassVar[Resource[Reported]]

    metadata: k8s.V1ObjectMeta


# What builders return and ``Api.apply`` accepts.
Applied = (
    k8s.V1Namespace
    | k8s.V1RoleBinding
    | k8s.V1NetworkPolicy
    | k8s.V1ResourceQuota
    | k8s.V1LimitRange
    | k8s.V1ServiceAccount
    | k8s.V1Secret
    | k8s.V1ConfigMap
    | k8s.V1Service
    | k8s.V1PodDisruptionBudget
    | k8s.V1StatefulSet
    | k8s.V1Ingress
    | ForeignObject
)
BY_MODEL: Mapping[type[BaseModel], Resource[Reported]] = {
    k8s.V1Namespace: NAMESPACE,
    k8s.V1RoleBinding: ROLE_BINDING,
    k8s.V1NetworkPolicy: NETWORK_POLICY,
    k8s.V1ResourceQuota: RESOURCE_QUOTA,
    k8s.V1LimitRange: LIMIT_RANGE,
    k8s.V1ServiceAccount: SERVICE_ACCOUNT,
    k8s.V1Secret: SECRET,
    k8s.V1ConfigMap: CONFIG_MAP,
    k8s.V1Service: SERVICE,
    k8s.V1PodDisruptionBudget: DISRUPTION_BUDGET,
    k8s.V1StatefulSet: STATEFUL_SET,
    k8s.V1Ingress: INGRESS,
}


def of(wanted: Applied) -> Resource[Reported]:
    """Return the ``Resource`` that describes the kind of an object that Waypost applies."""
    return wanted.resource if isinstance(wanted, ForeignObject) else BY_MODEL[type(wanted)]


def metadata_of(wanted: Applied) -> k8s.V1ObjectMeta:
    """Return the object's metadata, which the client's models allow to be missing.

    Raises:
        ValueError: a builder made the object without metadata.
    """
    if wanted.metadata is None:
        raise ValueError(f"a {of(wanted).kind} has no metadata")
    return wanted.metadata


def name_of(wanted: Applied) -> str:
    """Return the name in the object's metadata; empty if it has none."""
    return metadata_of(wanted).name or ""


def path_of(wanted: Applied) -> str:
    """Return the API's path of the object."""
    return of(wanted).path(metadata_of(wanted).namespace, name_of(wanted))


def title_of(wanted: Applied) -> str:
    """Return the object's kind, namespace and name as one text for messages."""
    return f"{of(wanted).kind} {metadata_of(wanted).namespace or ''}/{name_of(wanted)}"


def document_of(wanted: Applied) -> dict[str, object]:
    """Return the object as JSON for the API.

    ``apiVersion`` and ``kind`` come from the resource, so that no builder repeats them.
    """
    resource = of(wanted)
    return {"apiVersion": resource.api_version, "kind": resource.kind, **json_of(wanted)}
