"""The contract of ``infra``: run named instances of rendered files in isolated namespaces.

Nothing here says processes or pods. A caller first asks ``place`` for the layout (paths and ports
an instance will see), renders its files with it, then calls ``ensure_instance``. Every method is
idempotent and may be killed anywhere; none blocks until ready: readiness is observed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol


class InfraError(Exception):
    """The place refuses or is away; ``retry`` says whether waiting can help."""

    def __init__(self, message: str, *, reason: str, retry: bool) -> None:
        super().__init__(message)
        self.reason = reason
        self.retry = retry


class CertificateProblem(InfraError):
    """The certificate that public listeners shall present is not to be had; spaces serve on."""


class EndpointPending(InfraError):
    """The endpoint has no address yet; ``extra_names`` are those that it will have besides."""

    def __init__(self, message: str, extra_names: Sequence[str]) -> None:
        super().__init__(message, reason="EndpointPending", retry=True)
        self.extra_names = extra_names


class Kind(StrEnum):
    """What an instance is; decides its command, its volume and its ports."""

    BROKER = "broker"
    ROUTER = "router"


@dataclass(frozen=True)
class Namespace:
    """Where one address space runs. ``name`` comes from ``workers.infra.names.namespace``."""

    name: str
    tenant_id: str
    space_id: str


@dataclass(frozen=True)
class Room:
    """The most that one space may ever run, by its plan; memory in MiB for each instance."""

    brokers: int
    broker_memory_mb: int
    routers: int
    router_memory_mb: int = 128


@dataclass(frozen=True)
class Layout:
    """What one instance will see: absolute paths inside its own view, and where it listens.

    ``ports`` maps a port's name (``amqps`` public, ``management`` internal mutual TLS) to its
    number; ``bind_host`` is what to listen on, ``host`` what peers and workers dial.
    """

    config_dir: str
    data_dir: str
    bind_host: str
    host: str
    ports: Mapping[str, int]


@dataclass(frozen=True)
class InstanceSpec:
    """One router or broker to run. ``files``: path relative to config_dir -> content.

    Files named in ``live_files`` may change without a restart (the engine reloads them); a change
    of anything else (another file, the memory, the engine) restarts the instance. ``secret_files``
    are stored with mode 0600. ``image`` is what it runs from where engines are images; empty: the
    one that the installation is configured with.
    """

    namespace: Namespace
    kind: Kind
    name: str
    files: Mapping[str, str]
    live_files: frozenset[str] = frozenset()
    secret_files: frozenset[str] = frozenset()
    memory_mb: int = 128
    image: str = ""
    engine: str = "artemis"  # artemis | devrouter | qdrouterd | skrouterd


@dataclass(frozen=True)
class InstanceStatus:
    """What was observed. ``boot`` identifies one life of the process (start time and pid).

    ``trouble``: why waiting alone will not bring it up, in the words of the place; empty without.
    ``held_back``: it was asked to change in a way that needs a restart, and the change waits.
    """

    name: str
    kind: Kind
    running: bool
    message: str = ""
    boot: str = ""
    trouble: str = ""
    held_back: bool = False


@dataclass(frozen=True)
class EngineImages:
    """The images of the engines that an installation is configured with; empty where none are.

    ``shape`` stands for all else in which instances of one installation differ from another's, and
    of one version of Waypost from another's. ``revision`` rises with each change of the
    configuration: who has a lower one than was rolled out last is being replaced.
    """

    broker: str = ""
    router: str = ""
    shape: str = ""
    revision: int = 0


@dataclass(frozen=True)
class PublicEndpoint:
    """Where clients reach an instance's public port.

    ``trouble`` says why nothing leads there from outside yet and what to do; empty: none is known.
    """

    host: str
    port: int
    extra_names: Sequence[str] = field(default_factory=tuple)
    trouble: str = ""


@dataclass(frozen=True)
class GivenCertificate:
    """A certificate for public listeners as it was found (PEM), not checked yet.

    ``authority_pem`` is whom clients must trust for it; empty where they do already. ``source``
    says in words where it is kept, ``remedy`` what to do where it cannot be used, or not for long.
    """

    key_pem: str
    certificate_pem: str
    authority_pem: str
    source: str
    remedy: str


class Infra(Protocol):
    """Run instances in namespaces. All methods are idempotent and raise only ``InfraError``."""

    def engine_images(self) -> EngineImages:
        """Return the images that the installation is configured with now."""
        ...

    def ensure_namespace(self, namespace: Namespace, room: Room) -> None:
        """Make the namespace and its isolation; the first call of each pass."""
        ...

    def place(self, namespace: Namespace, kind: Kind, name: str) -> Layout:
        """Return where ``name`` will run; the same answer every time until it is deleted."""
        ...

    def ensure_instance(self, spec: InstanceSpec, *, may_restart: bool = True) -> InstanceStatus:
        """Make the instance run as ``spec`` says; one that is missing is always made.

        With ``may_restart`` False an instance that is there gets its live files and keeps all the
        rest: should it start again by itself, it starts as before; a file that somebody deleted may
        be given anew. ``held_back`` says whether anything was left out.
        """
        ...

    def restart_instance(self, namespace: Namespace, name: str) -> None: ...

    def list_instances(self, namespace: Namespace) -> Sequence[InstanceStatus]:
        """Return what was made and not deleted; what was deleted may answer for a while yet."""
        ...

    def delete_instance(
        self, namespace: Namespace, name: str, *, keep_volume: bool = False
    ) -> None:
        """Stop the instance and remove its files, and its volume unless that is to be kept.

        Callers checked that the volume is empty, or have a person's word.
        """
        ...

    def ensure_endpoint(self, namespace: Namespace, instance: str) -> PublicEndpoint:
        """Make what leads to the space's public instances, and return where that is.

        Raises:
            EndpointPending: the place has not given it an address yet.
        """
        ...

    def ensure_certificate(
        self, namespace: Namespace, endpoint: PublicEndpoint
    ) -> GivenCertificate | None:
        """Return what public listeners shall present; None: what the space's authority signs.

        Raises:
            CertificateProblem: the place has none for this endpoint, or none yet.
        """
        ...

    def delete_endpoint(self, namespace: Namespace) -> None:
        """Remove what leads to a space that ends, and registry credentials; its instances stay."""
        ...

    def delete_namespace(self, namespace: Namespace) -> bool:
        """Remove everything of the namespace; True once it is gone."""
        ...

    def list_namespaces(self) -> Sequence[str]: ...
