"""The kinds of objects that Waypost uses in a cluster, and their API paths."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Manifest = dict[str, Any]
# RFC 1123 subdomains, and the names of roles (Kubernetes, "Object Names and IDs").
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.:_-]*[A-Za-z0-9])?")


@dataclass(frozen=True)
class Resource:
    """One kind of object, and its protected fields (JSON pointers, RFC 6901).

    * ``exact``: fields that must be exactly as in the manifest.
    * ``closed``: fields to which the API may add single values (defaults). Nobody may add a list, a
      mapping or an element to them.
    """

    kind: str
    api_version: str
    plural: str
    namespaced: bool = True
    exact: frozenset[str] = frozenset()
    closed: frozenset[str] = frozenset()

    def path(self, namespace: str | None, name: str | None = None) -> str:
        """Return the API's path of one object, or of the collection.

        Raises:
            ValueError: a part is not a legal name, so that the path could lead elsewhere.
        """
        for part in (namespace, name):
            if part is not None and not _NAME.fullmatch(part):
                raise ValueError(f"{part!r} is not a name of an object")
        root = "/api/v1" if self.api_version == "v1" else f"/apis/{self.api_version}"
        parts = [root]
        if self.namespaced and namespace is not None:
            parts += ["namespaces", namespace]
        parts.append(self.plural)
        return "/".join([*parts, name] if name else parts)


NAMESPACE = Resource("Namespace", "v1", "namespaces", namespaced=False)
ROLE_BINDING = Resource(
    "RoleBinding",
    "rbac.authorization.k8s.io/v1",
    "rolebindings",
    exact=frozenset({"/roleRef", "/subjects"}),
)
NETWORK_POLICY = Resource(
    "NetworkPolicy", "networking.k8s.io/v1", "networkpolicies", exact=frozenset({"/spec"})
)
RESOURCE_QUOTA = Resource("ResourceQuota", "v1", "resourcequotas", exact=frozenset({"/spec"}))
LIMIT_RANGE = Resource("LimitRange", "v1", "limitranges", exact=frozenset({"/spec"}))
SERVICE_ACCOUNT = Resource("ServiceAccount", "v1", "serviceaccounts")
SECRET = Resource("Secret", "v1", "secrets", exact=frozenset({"/data"}))
CONFIG_MAP = Resource("ConfigMap", "v1", "configmaps", exact=frozenset({"/data"}))
SERVICE = Resource(
    "Service",
    "v1",
    "services",
    exact=frozenset(
        f"/spec/{field}" for field in ("selector", "externalIPs", "publishNotReadyAddresses")
    ),
    closed=frozenset({"/spec/ports"}),
)
DISRUPTION_BUDGET = Resource(
    "PodDisruptionBudget",
    "policy/v1",
    "poddisruptionbudgets",
    exact=frozenset({"/spec/selector"}),
)
_POD = "/spec/template/spec"
# Fields without a default of the API that would weaken the isolation or move the pod.
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
    closed=frozenset({"/spec/rules", "/spec/tls", "/spec/defaultBackend"}),
)
TLS_ROUTE = Resource(
    "TLSRoute",
    "gateway.networking.k8s.io/v1",
    "tlsroutes",
    closed=frozenset({"/spec/parentRefs", "/spec/hostnames", "/spec/rules"}),
)
ROUTE = Resource(
    "Route", "route.openshift.io/v1", "routes", closed=frozenset({"/spec/alternateBackends"})
)
CERTIFICATE = Resource(
    "Certificate", "cert-manager.io/v1", "certificates", closed=frozenset({"/spec"})
)
POD = Resource("Pod", "v1", "pods")
EVENT = Resource("Event", "v1", "events")
VOLUME_CLAIM = Resource("PersistentVolumeClaim", "v1", "persistentvolumeclaims")

# The kinds that Waypost applies, ordered so that no object refers to a later one.
APPLIED: Sequence[Resource] = (
    NAMESPACE,
    ROLE_BINDING,
    NETWORK_POLICY,
    RESOURCE_QUOTA,
    LIMIT_RANGE,
    SERVICE_ACCOUNT,
    SECRET,
    CONFIG_MAP,
    SERVICE,
    DISRUPTION_BUDGET,
    STATEFUL_SET,
    INGRESS,
    TLS_ROUTE,
    ROUTE,
    CERTIFICATE,
)
_BY_KIND: Mapping[str, Resource] = {resource.kind: resource for resource in APPLIED}


def of(manifest: Mapping[str, Any]) -> Resource:
    """Return the resource of a manifest that Waypost applies."""
    return _BY_KIND[manifest["kind"]]


def name_of(manifest: Mapping[str, Any]) -> str:
    """Return the object's name."""
    return str(manifest["metadata"]["name"])
