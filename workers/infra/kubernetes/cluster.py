"""What an installation says about its cluster: images, storage, endpoints, security.

Read from settings by ``workers.infra.adapters``; the chart writes those settings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Self

from pydantic import ConfigDict, model_validator
from pydantic.dataclasses import dataclass

_CHECKED = ConfigDict(extra="forbid")


class EndpointKind(StrEnum):
    """How clients from outside reach a space."""

    SERVICE = "service"  # inside the cluster only
    LOAD_BALANCER = "loadbalancer"
    NODE_PORT = "nodeport"
    INGRESS = "ingress"  # TLS passed through by SNI
    GATEWAY = "gateway"  # TLSRoute, Gateway API 1.5 or newer
    ROUTE = "route"  # OpenShift


class CertificateSource(StrEnum):
    """Where the certificates come from that clients of spaces are shown."""

    SPACE_CA = "space-ca"  # each space's own authority
    SECRET = "secret"  # one that the operator supplies, for all spaces
    ISSUER = "issuer"  # cert-manager makes one for each space


class IssuerKind(StrEnum):
    """Kinds of issuers that cert-manager has of its own; the first is of one namespace only."""

    ISSUER = "Issuer"
    CLUSTER_ISSUER = "ClusterIssuer"


@dataclass(frozen=True, config=_CHECKED)
class Issuer:
    """An issuer of cert-manager."""

    kind: IssuerKind = IssuerKind.CLUSTER_ISSUER
    name: str = ""


@dataclass(frozen=True, config=_CHECKED)
class CertificateChoice:
    """``secret`` is in the control namespace: ``tls.crt``, ``tls.key`` and perhaps ``ca.crt``."""

    source: CertificateSource = CertificateSource.SPACE_CA
    secret: str = ""
    issuer: Issuer = Issuer()

    @model_validator(mode="after")
    def _check_named(self) -> Self:
        needed = {CertificateSource.SECRET: self.secret, CertificateSource.ISSUER: self.issuer.name}
        if not needed.get(self.source, "none needed"):
            raise ValueError(f"the source {self.source.value} needs the name of one")
        return self


@dataclass(frozen=True, config=_CHECKED)
class EndpointChoice:
    """``domain``: each space gets ``<namespace>.<domain>`` (for node ports, the nodes' name).

    ``class_name`` is the ingress class, ``gateway`` the ``namespace/name`` of the Gateway.
    """

    kind: EndpointKind = EndpointKind.SERVICE
    domain: str = ""
    class_name: str = ""
    gateway: str = ""
    annotations: Mapping[str, str] = field(default_factory=dict)
    certificate: CertificateChoice = CertificateChoice()


@dataclass(frozen=True, config=_CHECKED)
class Images:
    """Image references, digests allowed. Without ``router`` only brokered spaces are offered."""

    broker: str
    router: str = ""
    pull_policy: str = "IfNotPresent"
    pull_secrets: Sequence[str] = ()


@dataclass(frozen=True, config=_CHECKED)
class Identity:
    """User and group of the containers; both None where the platform assigns them (OpenShift)."""

    user: int | None = 1001
    group: int | None = 1001


@dataclass(frozen=True, config=_CHECKED)
class Storage:
    """The volume of each broker. An empty class means the cluster's default one."""

    size_gb: int = 5
    class_name: str = ""


@dataclass(frozen=True, config=_CHECKED)
class Pods:
    """Pods of the cluster that a policy names: those with ``labels`` in ``namespace``."""

    namespace: str
    labels: Mapping[str, str]


@dataclass(frozen=True, config=_CHECKED)
class Cluster:
    """Everything that builders need to know of the place. Paths are those inside the images.

    ``installation`` tells this installation from others in the cluster; a label's value.
    ``dns_cidrs`` are asked for names beside the pods of ``dns``: no policy can name a pod of the
    host's network.
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
    java: str = "java"
    artemis_home: str = "/opt/activemq-artemis"
    router_command: str = "qdrouterd"
