"""Values that the drivers of brokers and routers share: where an instance is, what it reports."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import NamedTuple

from plans.usage.meters import (
    BYTES_IN,
    BYTES_OUT,
    CONNECTIONS_OPENED,
    MESSAGES_IN,
    MESSAGES_OUT,
    STEPS_64K_IN,
    STEPS_64K_OUT,
)

MANAGEMENT_ADDRESS = "activemq.management"  # a broker's; requests are messages to it
NO_TLS = "none"  # ``ConnectionSeen.tls`` of a connection that is not encrypted
# The names of the addresses that probes use, on brokers and routers, begin with this. The name of a
# tenant's address cannot begin so.
PROBE_PREFIX = "$waypost.probe."


@dataclass(frozen=True)
class ManagementTarget:
    """Says how to reach and verify the management listener of one broker or router.

    ``ca_file`` has the space's own authority, ``cert_file`` and ``key_file`` Waypost's key pair.
    ``ca_file``, ``cert_file`` and ``key_file`` are paths that this process can read.
    """

    host: str
    port: int
    ca_file: str
    cert_file: str
    key_file: str


class Sizes(NamedTuple):
    """Sums over messages.

    ``bytes``: their AMQP encodings as the broker stores them. ``steps_64k``: a message counts once
    for each 64 KiB that it begins, and at least once.
    """

    bytes: int = 0
    steps_64k: int = 0


NO_SIZES = Sizes()
# The meters of the two values, in their order.
SIZES_IN = (BYTES_IN, STEPS_64K_IN)
SIZES_OUT = (BYTES_OUT, STEPS_64K_OUT)


@dataclass(frozen=True)
class AddressCounters:
    """Cumulative counters of one tenant address on one instance, within one incarnation.

    ``messages_in`` and ``messages_out`` are what may be billed: they are 0 where an address of this
    type is not billed. ``stored_bytes`` is a gauge.

    ``queues_out`` is filled for topics only: the messages acknowledged on each subscriber's queue.
    Its keys are ``<queue name>#<queue id>``. A queue vanishes with its subscriber, so
    ``messages_out``, the sum over the present queues, may decrease. Metering therefore adds up the
    growth of each queue.

    ``incarnation`` is the incarnation of the address, not of the process: the broker's id of the
    queue or topic. An address that was deleted and recreated counts from zero under another id. It
    is empty for routers, which have no such id.

    ``type`` is filled for filters only (slug of ``address_types``): they have no row that names it.

    ``sizes_in`` and ``sizes_out`` are about the same messages. They are zero for routers, which
    count no bytes, and for brokers that have run since before the plugin counted sizes.
    ``queue_sizes_out`` is to ``sizes_out`` what ``queues_out`` is to ``messages_out``.
    """

    address: str
    messages_in: int
    messages_out: int
    stored_bytes: int = 0
    queues_out: Mapping[str, int] = field(default_factory=dict)
    incarnation: str = ""
    type: str = ""
    sizes_in: Sizes = NO_SIZES
    sizes_out: Sizes = NO_SIZES
    queue_sizes_out: Mapping[str, Sizes] = field(default_factory=dict)

    @property
    def by_meter(self) -> Mapping[str, int]:
        """The counters as {meter: messages, bytes or steps}."""
        return {
            MESSAGES_IN: self.messages_in,
            MESSAGES_OUT: self.messages_out,
            **dict(zip(SIZES_IN, self.sizes_in, strict=True)),
            **dict(zip(SIZES_OUT, self.sizes_out, strict=True)),
        }


@dataclass(frozen=True)
class AddressGauges:
    """The newest values of one address on one instance; None: the instance cannot know the value.

    Metering stores them for people and never bills them.

    * ``arrived``, ``left``: messages in and out within the incarnation. In contrast to
      ``AddressCounters``, a subscription counts what its topic gave it. A router has 0 for an
      address that brokers store.
    * ``depth``: messages stored, those that are being delivered included. ``stored_bytes``: their
      persistent size.
    * ``delivering``: messages sent to a consumer that it has not acknowledged yet.
    * ``oldest_ms``: the age of the oldest stored message, from the creation time that its sender
      set; None if there is no such time.
    * ``expired``, ``dead_lettered``: messages of this incarnation that outlived their time to live,
      and messages that were given up after the last delivery attempt.
    """

    arrived: int
    left: int
    depth: int | None = None
    stored_bytes: int | None = None
    delivering: int | None = None
    consumers: int | None = None
    producers: int | None = None
    oldest_ms: int | None = None
    expired: int | None = None
    dead_lettered: int | None = None


@dataclass(frozen=True)
class ConnectionSeen:
    """One open connection of a client as an instance reports it.

    Connections of workers and routers are never shown as this. ``container`` is the client's AMQP
    container id. The fields after ``remote_host`` are facts for people, which metering does not
    use. What the broker or router does not report is empty or None.

    * ``product``: the client library's name and version, which the client may choose. ``tls``: the
      protocol's version and the cipher; ``NO_TLS`` without encryption.
    * ``sent``, ``received``: messages that the client sent, and that it received. A broker with the
      plugin counts them since the connection was opened, a router or another broker on the links
      that are open now.
    * ``addresses``: those that the connection has links on, sorted.
    """

    id: str
    user: str
    container: str
    remote_host: str
    protocol: str = ""
    product: str = ""
    tls: str = ""
    opened_at: datetime | None = None
    sessions: int | None = None
    links: int = 0
    addresses: Sequence[str] = ()
    sent: int | None = None
    received: int | None = None


def joined(*parts: object) -> str:
    """Return the known ones of ``parts`` with blanks between them, such as a name and a version."""
    return " ".join(str(part) for part in parts if part)


@dataclass(frozen=True)
class EngineHealth:
    """How full or how connected one instance is. None: the engine does not have or know it.

    * ``memory_used``, ``memory_limit``: bytes of a broker's heap for messages. At the limit its
      addresses keep further messages on disk.
    * ``disk_used``, ``disk_limit``: shares of a broker's volume, from 0 to 1. At the limit the
      broker accepts no more messages.
    * ``neighbors``: other routers of the space that a router reaches.
    * ``links``: open links of a router.
    * ``undelivered``: messages that a router holds for links, because the receivers take no more.
    """

    memory_used: int | None = None
    memory_limit: int | None = None
    disk_used: float | None = None
    disk_limit: float | None = None
    neighbors: int | None = None
    links: int | None = None
    undelivered: int | None = None

    def as_json(self) -> dict[str, float]:
        """Return the known values by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class InstanceSnapshot:
    """The counters of one broker or router at one moment, and its open client connections.

    * ``boot_id``: identifies the incarnation of its process.
    * ``addresses``: only tenants' addresses that the instance has; internal ones never.
    * ``connections_opened``: cumulative within the incarnation; client connections only.
    * ``gauges``: the newest values by address; ``health``: those of the instance; never billed.
    """

    boot_id: str
    addresses: Sequence[AddressCounters]
    connections: Sequence[ConnectionSeen]
    connections_opened: int
    gauges: Mapping[str, AddressGauges] = field(default_factory=dict)
    health: EngineHealth = EngineHealth()

    @property
    def by_meter(self) -> Mapping[str, int]:
        """The only counter of the instance as a whole, as {meter: number of connections}."""
        return {CONNECTIONS_OPENED: self.connections_opened}
