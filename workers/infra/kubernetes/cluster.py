"""What an installation must know of its cluster: images, storage, endpoints, accounts and more.

``cluster_file`` reads a ``Cluster`` from a YAML file, which the chart writes. All classes here
refuse unknown fields and values of another type.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Self

from pydantic import ConfigDict, field_validator, model_validator
from pydantic.dataclasses import dataclass

from controlplane.core.reasons import Reason
from workers.infra.base import InfraError
from workers.infra.kubernetes.endpoints.kind import EndpointKind
from workers.infra.kubernetes.endpoints.registry import REGISTRY

# A misspelled setting must be refused. If it were ignored, its default would apply unnoticed.
_CHECKED = ConfigDict(extra="forbid")


class CertificateSource(StrEnum):
    """The source of the certificates that public listeners present."""

    SPACE_CA = "space-ca"  # signed by each space's own authority
    SECRET = "secret"  # one for all spaces, supplied by the operator
    ISSUER = "issuer"  # one for each space, issued by cert-manager


class IssuerKind(StrEnum):
    """The two kinds of issuers of cert-manager. An ``Issuer`` serves only its own namespace."""

    ISSUER = "Issuer"
    CLUSTER_ISSUER = "ClusterIssuer"


@dataclass(frozen=True, config=_CHECKED)
class Issuer:
    """A reference to an issuer of cert-manager."""

    kind: IssuerKind = IssuerKind.CLUSTER_ISSUER
    name: str = ""


@dataclass(frozen=True, config=_CHECKED)
class CertificateChoice:
    """Where public listeners get their certificates from.

    * ``secret``: needed for the source ``secret``: the name of a Secret in the control namespace,
      which has the keys ``tls.crt``, ``tls.key`` and optionally ``ca.crt``.
    * ``issuer``: needed for the source ``issuer``: who issues the certificates.
    """

    source: CertificateSource = CertificateSource.SPACE_CA
    secret: str = ""
    issuer: Issuer = Issuer()

    @model_validator(mode="after")
    def _check_named(self) -> Self:
        if self.source is CertificateSource.SECRET and not self.secret:
            raise ValueError("the source secret needs certificate.secret")
        if self.source is CertificateSource.ISSUER and not self.issuer.name:
            raise ValueError("the source issuer needs certificate.issuer.name")
        return self


@dataclass(frozen=True, config=_CHECKED)
class EndpointChoice:
    """The installation's settings of how clients reach spaces.

    * ``kind``: the name of a row of ``endpoints.registry``. It decides which fields must be set.
    * ``domain``: each space gets the host ``<namespace>.<domain>``. For node ports it is the host
      name of the nodes.
    * ``class_name``: the ingress class, for the kind ``ingress``.
    * ``gateway``: ``namespace/name`` of the Gateway, for the kind ``gateway``.
    * ``annotations``: set on each space's service, and on the object that leads clients to it.
    * ``certificate``: where the certificates of public listeners come from.
    """

    kind: str = "service"
    domain: str = ""
    class_name: str = ""
    gateway: str = ""
    annotations: Mapping[str, str] = field(default_factory=dict)
    certificate: CertificateChoice = CertificateChoice()

    @property
    def strategy(self) -> EndpointKind:
        """The ``EndpointKind`` named ``kind``: builds the endpoint's objects, finds the address."""
        return REGISTRY[self.kind]

    @field_validator("kind")
    @classmethod
    def _check_kind(cls, kind: str) -> str:
        if kind not in REGISTRY:
            raise ValueError(f"Input should be one of {', '.join(REGISTRY)}")
        return kind

    @model_validator(mode="after")
    def _check_needs(self) -> Self:
        missing = [name for name in self.strategy.needs if not getattr(self, name)]
        if missing:
            raise ValueError(f"the kind {self.kind} needs {' and '.join(missing)}")
        return self


@dataclass(frozen=True, config=_CHECKED)
class Images:
    """Image references, optionally with digests. Without ``router`` only brokered spaces can run.

    ``pull_secrets`` are names of Secrets in the control namespace with credentials of registries.
    """

    broker: str
    router: str = ""
    pull_policy: str = "IfNotPresent"
    pull_secrets: Sequence[str] = ()


@dataclass(frozen=True, config=_CHECKED)
class Identity:
    """Numeric user and group of the containers; both None if OpenShift assigns them."""

    user: int | None = 1001
    group: int | None = 1001


@dataclass(frozen=True, config=_CHECKED)
class Storage:
    """The volume of each broker: its size in GiB and its storage class.

    An empty class name means the cluster's default class.
    """

    size_gb: int = 5
    class_name: str = ""


@dataclass(frozen=True, config=_CHECKED)
class Toleration:
    """Which taint of nodes pods tolerate, with the fields of ``core/v1 Toleration``."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


@dataclass(frozen=True, config=_CHECKED)
class PlacementProfile:
    """Where the instances of a space run. A space plan may name one.

    * ``priority_class``: empty means the cluster's default.
    * ``storage_class``: empty means the class in ``Storage``; if that is empty too, the cluster's
      default. It applies to new volumes only.
    * ``pod_annotations``: set on each pod.
    """

    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: Sequence[Toleration] = ()
    priority_class: str = ""
    storage_class: str = ""
    pod_annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, config=_CHECKED)
class Pods:
    """Pods that a network policy selects: those with ``labels`` in ``namespace``."""

    namespace: str
    labels: Mapping[str, str]


_NO_PROFILE = PlacementProfile()


@dataclass(frozen=True, config=_CHECKED)
class Cluster:
    """Everything that the builders of objects need to know about the cluster.

    * ``installation``: the value of a label that distinguishes this installation of Waypost from
      others in the cluster.
    * ``control_namespace``: where Waypost itself runs.
    * ``worker_account``, ``space_role``: the service account of the workers, and the cluster role
      that it gets in the namespace of each space.
    * ``metering_account``, ``metering_role``: the same for the metering worker.
    * ``worker``, ``auth_service``, ``dns``: pods that instances may exchange traffic with.
    * ``auth_port``: the port of the auth service.
    * ``dns_cidrs``: addresses of DNS servers besides the pods of ``dns``. Needed if they are pods
      on the host network, which a network policy cannot select.
    * ``placements``: placement profiles by name.
    * ``java``, ``artemis_home``: the program and the folder in the broker's image.
    * ``broker_plugin``: the broker's image has the plugin's JAR in ``lib`` (docs/adr/0017).
    """

    installation: str
    images: Images
    control_namespace: str
    worker_account: str
    space_role: str
    metering_account: str
    metering_role: str
    worker: Pods
    auth_service: Pods
    auth_port: int
    dns: Pods = Pods("kube-system", {"k8s-app": "kube-dns"})
    dns_cidrs: Sequence[str] = ()
    dns_ports: Sequence[int] = (53,)
    endpoint: EndpointChoice = EndpointChoice()
    identity: Identity = Identity()
    storage: Storage = Storage()
    placements: Mapping[str, PlacementProfile] = field(default_factory=dict)
    java: str = "java"
    artemis_home: str = "/opt/activemq-artemis"
    broker_plugin: bool = True

    def profile(self, name: str) -> PlacementProfile:
        """Return the placement profile of this name; an empty one for the empty name.

        Raises:
            InfraError: ``PlacementUnknown``: the settings define no profile of this name.
        """
        if not name:
            return _NO_PROFILE
        if name not in self.placements:
            raise InfraError(
                f"The space plan names the placement {name!r}, which the cluster's settings do not "
                "define: add it to `spaces.placements` in the chart's values.",
                reason=Reason.PLACEMENT_UNKNOWN,
                retry=True,
            )
        return self.placements[name]
