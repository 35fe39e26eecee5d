"""What Waypost must know of a kind of instance (broker, router) to run and sample it.

Each kind is one module beside this one, with one ``InstanceKind``. ``workers.infra.kinds.REGISTRY``
lists them. The adapters and metering look a kind up there.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from controlplane.core.instance_names import Kind, Listener
from workers.infra.base import ResourceBudget
from workers.infra.engines import Launch
from workers.messaging.brokers.snapshot import MeteredAddress
from workers.messaging.observed import InstanceSnapshot, ManagementTarget


class ConfiguredImages(Protocol):
    """The image references that an installation configures; empty for an engine without one."""

    @property
    def broker(self) -> str: ...

    @property
    def router(self) -> str: ...


@dataclass(frozen=True)
class Share:
    """What one space may use of a kind: the number of instances, and each one's memory in MiB.

    The memory is that of the engine, without ``InstanceKind.overhead_mb``.
    """

    count: int
    memory_mb: int


@dataclass(frozen=True)
class Container:
    """What a start command needs to know of its container: programs and folders of the instance.

    ``java`` is a program, the other texts are paths of folders. ``broker_plugin``: the folder
    ``lib`` of Artemis has the plugin's JAR (docs/adr/0017).
    ``health_port``: the number of the port ``Listener.HEALTH``.
    """

    java: str
    artemis_home: str
    config_dir: str
    data_dir: str
    scratch_dir: str
    broker_plugin: bool
    health_port: int


@dataclass(frozen=True)
class HealthPaths:
    """The paths at which an engine answers probes over HTTP with 200 (docs/adr/0021).

    * ``ready``: while it accepts clients.
    * ``alive``: unless its process must be restarted.
    """

    ready: str
    alive: str


@dataclass(frozen=True)
class Connects:
    """A connection that instances of a kind open to a listener of ``peer`` in the same space.

    ``outgoing`` names the network policy that lets the connecting pods open it. ``incoming`` names
    the one that lets the peers accept it. Equal names mean one policy for both directions.
    """

    peer: Kind
    listener: Listener
    outgoing: str
    incoming: str


# Protocols, because ``Callable`` cannot describe keyword-only parameters.
class ReadSnapshot(Protocol):
    """A function that reads the cumulative counters of one instance, as one snapshot.

    ``addresses`` are the addresses to look for. The snapshot leaves out those that the instance
    does not have or does not count.

    Raises:
        Unreachable: the instance does not answer.
        Refused: it refused a request.
    """

    def __call__(
        self, target: ManagementTarget, *, addresses: Sequence[MeteredAddress]
    ) -> InstanceSnapshot: ...


class CloseConnections(Protocol):
    """A function that closes client connections of one instance; returns how many it closed.

    It closes those of the messaging user ``user``, and those in ``ids``. ``ids`` belong to the
    incarnation ``boot_id``: in another incarnation they are ignored. None means no user, and no
    check of the incarnation.

    Raises:
        Unreachable: the instance does not answer.
        Refused: it refused a request.
    """

    def __call__(
        self,
        target: ManagementTarget,
        *,
        boot_id: str | None,
        ids: Collection[str],
        user: str | None,
    ) -> int: ...


@dataclass(frozen=True)
class InstanceKind:
    """Describes one kind of instance, for the adapters and for metering.

    * ``image``: returns which one of the configured images it runs.
    * ``command``: returns how a container starts the engine with this memory in MiB.
    * ``share``: returns what the budget of a space allows of this kind.
    * ``overhead_mb``: memory, in MiB, that a container needs beyond that of its engine.
    * ``listeners``: its ports, without ``Listener.HEALTH``.
    * ``health``: returns the paths of its health listener in a cluster. None: it has none.
    * ``ready_listener``: an instance has started once this one accepts connections.
    * ``growing_file``: the configuration file whose size grows with the number of addresses.
    * ``has_volume``: it keeps data that must outlive a restart.
    * ``grace_seconds``: in a cluster, the longest time that it may take to stop.
    * ``start_order``: on one machine, lower numbers start first and stop last.
    * ``connects``: the connections that it opens within its space.
    * ``needs_logins``: it connects to the auth service.
    * ``needs_names``: it resolves host names.
    * ``read_snapshot``: reads its counters for metering.
    * ``close_connections``: closes connections of clients.
    """

    kind: Kind
    image: Callable[[ConfiguredImages], str]
    command: Callable[[Container, int], Launch]
    share: Callable[[ResourceBudget], Share]
    overhead_mb: int
    listeners: Sequence[Listener]
    health: Callable[[Container], HealthPaths | None]
    ready_listener: Listener
    growing_file: str
    has_volume: bool
    grace_seconds: int
    start_order: int
    connects: Sequence[Connects]
    needs_logins: bool
    needs_names: bool
    read_snapshot: ReadSnapshot
    close_connections: CloseConnections
