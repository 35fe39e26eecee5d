"""What Waypost must know of a kind of instance to run and sample it. Adapters iterate the rows.

Each kind is one module beside this one. The package has the registry.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from controlplane.core.instance_names import Kind, Listener
from workers.infra.base import ResourceBudget
from workers.infra.engines import Launch
from workers.messaging.brokers.snapshot import MeteredAddress
from workers.messaging.observed import InstanceSnapshot, ManagementTarget


class ConfiguredImages(Protocol):
    """The images that an installation configures; empty if it has none."""

    @property
    def broker(self) -> str: ...

    @property
    def router(self) -> str: ...


@dataclass(frozen=True)
class Share:
    """What a plan lets one kind use: the number of instances, and MiB for each one's engine."""

    count: int
    memory_mb: int


@dataclass(frozen=True)
class Container:
    """Absolute paths in a container: Java, the broker's program, and the instance's folders.

    ``broker_plugin``: the broker's program has the plugin's JAR in ``lib`` (docs/adr/0017).
    """

    java: str
    artemis_home: str
    config_dir: str
    data_dir: str
    scratch_dir: str
    broker_plugin: bool


@dataclass(frozen=True)
class Connects:
    """A connection that instances of a kind open to instances of the same space.

    ``outgoing`` and ``incoming`` name the network policies that allow it on either side. One name
    for both is one policy with both directions.
    """

    peer: Kind
    listener: Listener
    outgoing: str
    incoming: str


class ReadSnapshot(Protocol):
    """Reads an instance's counters; raises ``Unreachable`` if it does not answer."""

    def __call__(
        self, target: ManagementTarget, *, addresses: Sequence[MeteredAddress]
    ) -> InstanceSnapshot: ...


@dataclass(frozen=True)
class InstanceKind:
    """One kind of instance.

    * ``image``: which of the configured images it runs.
    * ``command``: how a container starts the engine; the number is the engine's memory in MiB.
    * ``share``: what a space may use of it.
    * ``overhead_mb``: memory, in MiB, that a container needs beyond that of its engine.
    * ``listeners``: its ports. ``ready_listener`` accepts connections once it can serve.
    * ``growing_file``: the configuration file whose size grows with the number of addresses.
    * ``has_volume``: it keeps data that must outlive a restart.
    * ``grace_seconds``: how long it may take to stop.
    * ``start_order``: on one machine, lower numbers start first and stop last.
    * ``connects``: the network traffic it needs within its space.
    * ``needs_logins``, ``needs_names``: it connects to the auth service; it resolves host names.
    * ``read_snapshot``: reads its counters for metering.
    """

    kind: Kind
    image: Callable[[ConfiguredImages], str]
    command: Callable[[Container, int], Launch]
    share: Callable[[ResourceBudget], Share]
    overhead_mb: int
    listeners: Sequence[Listener]
    ready_listener: Listener
    growing_file: str
    has_volume: bool
    grace_seconds: int
    start_order: int
    connects: Sequence[Connects]
    needs_logins: bool
    needs_names: bool
    read_snapshot: ReadSnapshot
