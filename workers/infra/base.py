"""The port ``Infra``: run brokers and routers with rendered files, in one namespace for each space.

``workers.infra.local`` runs them as processes of one machine, ``workers.infra.kubernetes`` as pods
of a cluster. Work in a namespace happens in a session, which ``Infra.open`` returns.

Every method but ``Session.restart_instance`` is idempotent. The process may be killed in any of
them: the next call completes the work. No method waits until an instance is ready:
``Session.ensure_instance`` and ``Session.list_instances`` report readiness.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from controlplane.core.causes import Cause
from controlplane.core.instance_names import Kind
from controlplane.core.reasons import Reason


class InfraError(Exception):
    """The platform refuses or does not answer, or it lacks something that the request needs.

    * ``reason``: becomes the reason of a condition of the space; its help says what to do.
    * ``retry``: the same request may succeed later, without a change of the space or the settings.
    """

    def __init__(self, message: str, *, reason: Reason, retry: bool) -> None:
        super().__init__(message)
        self.reason = reason
        self.retry = retry


class CertificateProblem(InfraError):
    """The certificate that the installation provides for public listeners is not available.

    Callers let a space that has been Active continue to serve with the certificate that it has. A
    new space waits.
    """


class EndpointPending(InfraError):
    """The platform has not assigned an address to the endpoint yet.

    ``extra_names``: host names that lead to the space already, such as the one inside the cluster.
    """

    def __init__(self, message: str, extra_names: Sequence[str]) -> None:
        # Nobody need change anything: the platform assigns an address by itself.
        super().__init__(message, reason=Reason.ENDPOINT_PENDING, retry=True)
        self.extra_names = extra_names


@dataclass(frozen=True)
class Namespace:
    """Identifies the namespace of one address space and its owner; it need not exist.

    ``workers.infra.names.namespace`` makes ``name``.
    """

    name: str
    tenant_id: str
    space_id: str


@dataclass(frozen=True)
class ResourceBudget:
    """What one space may use: the most instances of each kind, and the size of one instance.

    * ``brokers``, ``routers``: numbers of instances.
    * ``broker_memory_mb``, ``router_memory_mb``: memory of the engine of one instance, in MiB.
    * ``disk_gb``, ``persistent``, ``broker_cpu_millis``: for each broker, as in ``InstanceSpec``.
    """

    brokers: int
    broker_memory_mb: int
    routers: int
    router_memory_mb: int = 128
    disk_gb: int | None = None
    persistent: bool = True
    broker_cpu_millis: int = 100


@dataclass(frozen=True)
class Layout:
    """Where one instance has its folders, hosts and ports; its files are rendered from this value.

    * ``config_dir``, ``data_dir``: absolute paths as the instance sees them.
    * ``bind_host``: the address that the instance listens on.
    * ``host``: the host that workers and the space's other instances connect to.
    * ``ports``: port numbers by ``Listener``.
    """

    config_dir: str
    data_dir: str
    bind_host: str
    host: str
    ports: Mapping[str, int]


@dataclass(frozen=True)
class InstanceSpec:
    """One router or broker that must run: the desired state for ``Session.ensure_instance``.

    * ``files``: content by path relative to ``Layout.config_dir``.
    * ``live_files``: paths of files that the engine reloads, so that their change needs no restart.
      A change of anything else (another file, the memory, the image) restarts the instance.
    * ``secret_files``: paths of files that a cluster stores in a Secret.
    * ``memory_mb``: memory of the engine, in MiB.
    * ``cpu_millis``: thousandths of a core that a cluster reserves.
    * ``disk_gb``: the size of a new volume in GiB; None means the size in the cluster's settings.
    * ``persistent``: False means that the instance has no volume, even if its kind has one.
    * ``placement``: the name of a placement profile of the cluster's settings; empty means none.
    * ``image``: the container image; empty means the configured one. Only clusters have images.
    * ``engine``: the program to start on a single machine; a cluster does not read it.
    """

    namespace: Namespace
    kind: Kind
    name: str
    files: Mapping[str, str]
    live_files: frozenset[str] = frozenset()
    secret_files: frozenset[str] = frozenset()
    memory_mb: int = 128
    cpu_millis: int = 100
    disk_gb: int | None = None
    persistent: bool = True
    placement: str = ""
    image: str = ""
    engine: str = "artemis"  # artemis | devrouter | qdrouterd


@dataclass(frozen=True)
class InstanceStatus:
    """The observed state of an instance.

    * ``running``: the process runs. In a cluster its readiness probe also passes, and its pod is
      made from the present template and not being deleted.
    * ``message``: the state in words, for operators.
    * ``boot``: identifies the last incarnation; empty if there is no pod or supervised program yet.
    * ``trouble``: why the instance will not run soon by itself, as the platform reports it; empty
      if no reason is known.
    * ``cause``: why the instance does not run. Tenants read ``cause.words`` in place of ``trouble``
      and ``message``, which may name hosts of the platform. With ``Cause.NONE`` tenants may read
      both.
    * ``restart_deferred``: ``ensure_instance`` did not apply a change that needs a restart.
    """

    name: str
    kind: Kind
    running: bool
    message: str = ""
    boot: str = ""
    trouble: str = ""
    restart_deferred: bool = False
    cause: Cause = Cause.NONE


@dataclass(frozen=True)
class EngineImages:
    """The engine release that is configured: images, and what else decides how instances start.

    * ``broker``, ``router``: image references; empty on a platform without images.
    * ``template_hash``: a hash of everything except images that makes a restart necessary when it
      changes. ``Infra.engine_images`` covers the platform's part, ``rollouts.release`` all of it.
    * ``revision``: the setting ``REVISION``, which rises with each change of the configuration. A
      worker with a lower revision than the last rollout is about to be replaced.
      ``rollouts.release`` sets it.
    """

    broker: str = ""
    router: str = ""
    template_hash: str = ""
    revision: int = 0


@dataclass(frozen=True)
class PublicEndpoint:
    """The host and port where clients connect to a space.

    * ``extra_names``: other host names by which clients reach it. Its certificate names them too.
    * ``trouble``: why clients outside the platform cannot reach it, and what to do; empty if no
      reason is known.
    """

    host: str
    port: int
    extra_names: Sequence[str] = field(default_factory=tuple)
    trouble: str = ""


@dataclass(frozen=True)
class GivenCertificate:
    """A certificate for public listeners, as the platform stores it (PEM), not checked yet.

    * ``authority_pem``: the authority that clients must trust; empty if they trust it already.
    * ``source``: where the certificate is stored, for messages.
    * ``remedy``: what to do if it is not valid or expires soon, for messages.
    """

    key_pem: str
    certificate_pem: str
    authority_pem: str
    source: str
    remedy: str


@dataclass(frozen=True)
class InstanceSight:
    """What a watch saw of the pod of one instance.

    * ``boot``: as in ``InstanceStatus``; empty if the pod is gone.
    * ``well``: the pod is ready and is not being deleted.
    * ``reason``: why it is not, in one word of the platform, such as ``OOMKilled``; may be empty.
    """

    namespace: str
    space_id: str
    instance: str
    boot: str = ""
    well: bool = False
    reason: str = ""


@dataclass(frozen=True)
class Sights:
    """What a watch saw at one time. If ``complete``, all other instances have no pod."""

    seen: Sequence[InstanceSight]
    complete: bool = False


class Watch(Protocol):
    """Watches the instances of all spaces."""

    def follow(self, seconds: int) -> Iterator[Sights]:
        """Yield all instances at once, and then each change, for about ``seconds``.

        May end earlier. What changes between two calls is in the next one's first result.

        Raises:
            InfraError: the platform refuses or does not answer.
        """
        ...


class Session(Protocol):
    """Reads and changes one namespace, for one reconcile pass or one other task.

    ``Infra.open`` returns a session. A session may keep what it has read and written, so it must
    not outlive the pass or task: open another one for the next. Its methods may be called in any
    order.

    Raises:
        InfraError: any method: the platform refuses or does not answer.
        ValueError: any method: a name is not that of an instance, or is not legal.
    """

    def ensure_namespace(self, budget: ResourceBudget) -> None:
        """Create or update the namespace and everything in it that belongs to no single instance.

        That is the isolation from other spaces, the limits of ``budget``, and the credentials of
        image registries. A single machine enforces neither isolation nor limits.
        """
        ...

    def layout_of(self, kind: Kind, name: str) -> Layout:
        """Return the folders, hosts and ports of an instance, which need not exist yet.

        Its files are rendered from them. They stay the same until the instance is deleted.
        """
        ...

    def ensure_instance(self, spec: InstanceSpec, *, may_restart: bool = True) -> InstanceStatus:
        """Make the instance run as ``spec`` says; create it if it does not exist.

        Returns the present status, without a wait until the instance is ready.

        An existing instance restarts if anything but its live files changes. If such a change is
        due and ``may_restart`` is False, the instance does not restart. It then gets its live files
        only and keeps everything else, so that it starts as before if it crashes; the status has
        ``restart_deferred`` True. A file that somebody deleted or edited may be restored even then.

        Raises:
            ValueError: ``spec`` is of another namespace.
        """
        ...

    def restart_instance(self, name: str) -> None:
        """Restart an existing instance with its present files. Each call restarts it again."""
        ...

    def list_instances(self) -> Sequence[InstanceStatus]:
        """Return the existing instances, running or not.

        A deleted instance is not listed, although its process may take some time to stop.
        """
        ...

    def delete_instance(self, name: str, *, keep_volume: bool = False) -> None:
        """Stop the instance; delete its files, and its volume unless ``keep_volume``.

        This method does not check whether the volume stores messages. Callers must have checked
        that it stores none, or a person must have confirmed the deletion.
        """
        ...

    def ensure_endpoint(self, instance: str, former_port: int | None = None) -> PublicEndpoint:
        """Ensure and return the endpoint (host and port) through which clients reach ``instance``.

        ``instance`` is a broker of a brokered space, or a router of a standard space. A cluster has
        one endpoint for all these instances of a space. On a single machine each has its own.
        ``former_port`` is the port that clients know. A cluster that assigns ports is asked for
        this port again; if the port is not free, the endpoint gets another one.

        Raises:
            EndpointPending: the platform has not assigned an address yet.
        """
        ...

    def ensure_certificate(self, endpoint: PublicEndpoint) -> GivenCertificate | None:
        """Return the certificate that the installation provides for public listeners, unchecked.

        If cert-manager issues the certificate, this method requests one for the host of
        ``endpoint``. None: the installation provides none, so the caller uses one that the space's
        own authority signs.

        Raises:
            CertificateProblem: there is no certificate for this endpoint, or none yet.
        """
        ...

    def delete_endpoint(self) -> None:
        """Delete the endpoint, its certificate and the registry credentials of a space that ends.

        Instances stay.
        """
        ...

    def delete_namespace(self) -> bool:
        """Delete the namespace with everything in it, also volumes; return True once it is gone.

        False: the platform has not finished. Call again later.
        """
        ...


class Infra(Protocol):
    """A platform that runs instances, in one namespace for each space.

    All methods are idempotent and raise only ``InfraError``.
    """

    def engine_images(self) -> EngineImages:
        """Return the configured images, and the platform's part of the template hash.

        All fields are empty on a platform without images. ``rollouts.release`` completes the value.
        """
        ...

    def open(self, namespace: Namespace) -> AbstractContextManager[Session]:
        """Return a session in the namespace, which need not exist. Opening it sends no request.

        The session is valid in the ``with`` block only.
        """
        ...

    def list_namespaces(self) -> Sequence[str]:
        """Return the names of the existing namespaces of this installation's spaces, sorted."""
        ...


def check_namespace(spec: InstanceSpec, namespace: Namespace) -> None:
    """Check that ``spec`` is for ``namespace``, the namespace of the session.

    Raises:
        ValueError: ``spec`` is for another namespace.
    """
    if spec.namespace != namespace:
        raise ValueError(f"{spec.name} is of {spec.namespace.name}, not of {namespace.name}")
