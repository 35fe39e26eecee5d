"""The port ``Infra``: run named instances with rendered files in isolated namespaces.

It is the same for processes and for pods. Work in a namespace happens in a session, which
``Infra.open`` returns. Every method is idempotent and may be killed anywhere. No method waits until
something is ready: ``Session.list_instances`` reports readiness.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from controlplane.core.instance_names import Kind
from controlplane.core.reasons import Reason


class InfraError(Exception):
    """The platform refuses or does not answer; ``retry`` says whether waiting can help."""

    def __init__(self, message: str, *, reason: Reason, retry: bool) -> None:
        super().__init__(message)
        self.reason = reason
        self.retry = retry


class CertificateProblem(InfraError):
    """The certificate for public listeners is not available; spaces continue to serve."""


class EndpointPending(InfraError):
    """The endpoint has no address yet; ``extra_names`` are other host names that it will have."""

    def __init__(self, message: str, extra_names: Sequence[str]) -> None:
        super().__init__(message, reason=Reason.ENDPOINT_PENDING, retry=True)
        self.extra_names = extra_names


@dataclass(frozen=True)
class Namespace:
    """The namespace of one address space; ``workers.infra.names.namespace`` makes its ``name``."""

    name: str
    tenant_id: str
    space_id: str


@dataclass(frozen=True)
class ResourceBudget:
    """The most that one space may run under its plan; memory is in MiB per instance."""

    brokers: int
    broker_memory_mb: int
    routers: int
    router_memory_mb: int = 128


@dataclass(frozen=True)
class Layout:
    """The folders, hosts and ports of one instance.

    * ``config_dir``, ``data_dir``: absolute paths as the instance sees them.
    * ``bind_host``: the address that the instance listens on.
    * ``host``: the host that peers and workers connect to.
    * ``ports``: numbers by ``Listener``.
    """

    config_dir: str
    data_dir: str
    bind_host: str
    host: str
    ports: Mapping[str, int]


@dataclass(frozen=True)
class InstanceSpec:
    """One router or broker to run.

    * ``files``: content by path relative to ``config_dir``.
    * ``live_files``: files that the engine reloads, so their change needs no restart. A change of
      anything else (another file, the memory, the engine) restarts the instance.
    * ``secret_files``: files to store as secrets.
    * ``image``: the container image, where the platform has images. Empty means the configured one.
    """

    namespace: Namespace
    kind: Kind
    name: str
    files: Mapping[str, str]
    live_files: frozenset[str] = frozenset()
    secret_files: frozenset[str] = frozenset()
    memory_mb: int = 128
    image: str = ""
    engine: str = "artemis"  # artemis | devrouter | qdrouterd


@dataclass(frozen=True)
class InstanceStatus:
    """The observed state of an instance.

    * ``boot``: identifies one incarnation of the process.
    * ``trouble``: the platform's reason why waiting alone will not help; empty if there is none.
    * ``restart_deferred``: a change that needs a restart waits.
    """

    name: str
    kind: Kind
    running: bool
    message: str = ""
    boot: str = ""
    trouble: str = ""
    restart_deferred: bool = False


@dataclass(frozen=True)
class EngineImages:
    """The configured images of the engines, and what else decides how instances are made.

    * ``broker``, ``router``: image references; empty if the platform has no images.
    * ``template_hash``: changes when another setting or another version of Waypost makes instances
      in a different way.
    * ``revision``: rises with each change of the configuration. A worker with a lower revision than
      that of the last rollout is about to be replaced.
    """

    broker: str = ""
    router: str = ""
    template_hash: str = ""
    revision: int = 0


@dataclass(frozen=True)
class PublicEndpoint:
    """Where clients reach an instance's public port.

    ``trouble`` says why clients outside cannot reach it and what to do; empty if none is known.
    """

    host: str
    port: int
    extra_names: Sequence[str] = field(default_factory=tuple)
    trouble: str = ""


@dataclass(frozen=True)
class GivenCertificate:
    """A certificate for public listeners as it was found (PEM), not checked yet.

    * ``authority_pem``: the authority that clients must trust; empty if they trust it already.
    * ``source``: text that says where the certificate is stored.
    * ``remedy``: text that says what to do if it is not valid or expires soon.
    """

    key_pem: str
    certificate_pem: str
    authority_pem: str
    source: str
    remedy: str


class Session(Protocol):
    """The work of one pass in one namespace.

    A session reads what exists once and then knows what it wrote, so it must not be kept: open
    another one for the next pass. Its methods may be called in any order. All are idempotent and
    raise only ``InfraError``.
    """

    def ensure_namespace(self, budget: ResourceBudget) -> None:
        """Create or update the namespace and its isolation. No instance starts without it."""
        ...

    def layout_of(self, kind: Kind, name: str) -> Layout:
        """Return the layout of an instance, for rendering its files before it exists.

        The layout stays the same until the instance is deleted.
        """
        ...

    def ensure_instance(self, spec: InstanceSpec, *, may_restart: bool = True) -> InstanceStatus:
        """Make the instance run as ``spec`` says; create it if it does not exist.

        With ``may_restart`` False, an existing instance gets its live files and keeps everything
        else, so that it starts as before if it crashes. A file that somebody deleted may be
        restored. ``restart_deferred`` in the status says whether any change waits.

        Raises:
            ValueError: ``spec`` is of another namespace.
        """
        ...

    def restart_instance(self, name: str) -> None: ...

    def list_instances(self) -> Sequence[InstanceStatus]:
        """Return the existing instances; a deleted one may still answer for a while."""
        ...

    def delete_instance(self, name: str, *, keep_volume: bool = False) -> None:
        """Stop the instance; remove its files, and its volume unless ``keep_volume``.

        Callers have checked that the volume is empty, or a person has confirmed the deletion.
        """
        ...

    def ensure_endpoint(self, instance: str) -> PublicEndpoint:
        """Create or update the space's public endpoint, and return its address.

        ``instance`` is one of the public instances.

        Raises:
            EndpointPending: the platform has not assigned an address yet.
        """
        ...

    def ensure_certificate(self, endpoint: PublicEndpoint) -> GivenCertificate | None:
        """Return the certificate for public listeners; None means one of the space's own authority.

        Raises:
            CertificateProblem: there is no certificate for this endpoint, or none yet.
        """
        ...

    def delete_endpoint(self) -> None:
        """Remove the endpoint and registry credentials of a space that ends; instances stay."""
        ...

    def delete_namespace(self) -> bool:
        """Delete the namespace with everything in it; return True once it is gone."""
        ...


class Infra(Protocol):
    """Run instances in namespaces. All methods are idempotent and raise only ``InfraError``."""

    def engine_images(self) -> EngineImages:
        """Return the images that are configured now."""
        ...

    def open(self, namespace: Namespace) -> AbstractContextManager[Session]:
        """Return a session in the namespace, which need not exist. Opening it sends no request.

        The session is valid in the ``with`` block only.
        """
        ...

    def list_namespaces(self) -> Sequence[str]: ...


def check_namespace(spec: InstanceSpec, namespace: Namespace) -> None:
    """Raise ``ValueError`` unless the instance belongs into the namespace of the session."""
    if spec.namespace != namespace:
        raise ValueError(f"{spec.name} is of {spec.namespace.name}, not of {namespace.name}")
