"""What the drivers read from routers and brokers, as plain values for metering and status."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ManagementTarget:
    """Where and how to reach one instance's management: mutual TLS with the space's own CA.

    ``ca_file``, ``cert_file`` and ``key_file`` are paths readable by this process.
    """

    host: str
    port: int
    ca_file: str
    cert_file: str
    key_file: str


@dataclass(frozen=True)
class AddressCounters:
    """Cumulative counters of one tenant address on one instance, inside the instance's life.

    ``stored_bytes`` is a gauge. Internal addresses (probe twins, management) are never here.

    ``queues_out`` is for topics: what each subscription queue (its name and its broker's id for it)
    had acknowledged. A queue vanishes with its subscriber, so ``messages_out``, their sum at this
    moment, may fall; whoever bills adds up the growth of each queue instead. Empty otherwise.

    ``life`` is the broker's id for the queue or topic: one that was deleted and made again under
    its name counts from zero under another id. Empty at routers, which give none.
    """

    address: str
    messages_in: int
    messages_out: int
    stored_bytes: int = 0
    queues_out: Mapping[str, int] = field(default_factory=dict)
    life: str = ""


@dataclass(frozen=True)
class ConnectionSeen:
    """One open client connection; internal ones (workers, router to broker) are never here."""

    id: str
    user: str
    container: str
    remote_host: str


@dataclass(frozen=True)
class InstanceSnapshot:
    """One cumulative snapshot of one instance.

    ``boot_id`` is one life of its process; ``connections_opened`` is cumulative inside it and
    counts client connections only.
    """

    boot_id: str
    addresses: Sequence[AddressCounters]
    connections: Sequence[ConnectionSeen]
    connections_opened: int
