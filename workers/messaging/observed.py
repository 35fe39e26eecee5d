"""What the drivers of brokers and routers share: addresses, how to reach an instance, counters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from plans.usage.meters import CONNECTIONS_OPENED, MESSAGES_IN, MESSAGES_OUT

MANAGEMENT_ADDRESS = "activemq.management"  # a broker's; requests are messages to it
# Of the addresses that probes use, on brokers and routers. A tenant's address cannot begin so.
PROBE_PREFIX = "$waypost.probe."


@dataclass(frozen=True)
class ManagementTarget:
    """How to reach one instance's management listener: mutual TLS with the space's own authority.

    ``ca_file``, ``cert_file`` and ``key_file`` are paths that this process can read.
    """

    host: str
    port: int
    ca_file: str
    cert_file: str
    key_file: str


@dataclass(frozen=True)
class AddressCounters:
    """Cumulative counters of one tenant address on one instance, within one incarnation.

    ``stored_bytes`` is a gauge. Internal addresses (probe twins, management) have no counters here.

    ``queues_out`` is filled for topics only: the messages acknowledged on each subscriber's queue.
    Its keys are ``<queue name>#<queue id>``. A queue vanishes with its subscriber, so
    ``messages_out``, the sum over the present queues, may decrease. Metering therefore adds up the
    growth of each queue.

    ``incarnation`` is the incarnation of the address, not of the process: the broker's id of the
    queue or topic. An address that was deleted and recreated counts from zero under another id. It
    is empty for routers, which have no such id.

    ``type`` is filled for filters only (slug of ``address_types``): they have no row that names it.
    """

    address: str
    messages_in: int
    messages_out: int
    stored_bytes: int = 0
    queues_out: Mapping[str, int] = field(default_factory=dict)
    incarnation: str = ""
    type: str = ""

    @property
    def by_meter(self) -> Mapping[str, int]:
        """The message counters, by the meter that each is billed as."""
        return {MESSAGES_IN: self.messages_in, MESSAGES_OUT: self.messages_out}


@dataclass(frozen=True)
class AddressGauges:
    """The values of one address on one instance at one moment. None: the instance cannot know it.

    * ``arrived``, ``left``: messages in and out within the incarnation; nobody bills them. In
      contrast to ``AddressCounters``, a subscription counts what its topic gave it.
    * ``depth``: messages stored, those that are being delivered included. ``stored_bytes``: their
      persistent size.
    * ``delivering``: messages sent to a consumer that it has not acknowledged yet.
    * ``oldest_ms``: the age of the oldest stored message.
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
    """One open connection of a client; connections of workers and routers are left out.

    ``container`` is the client's AMQP container id. Below it are facts for people, which metering
    does not use. What the engine does not report is empty or None. ``sent`` and ``received`` count
    messages of the links that are open now. ``addresses`` are those that it has links on, sorted.
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


@dataclass(frozen=True)
class InstanceSnapshot:
    """The counters of one broker or router at one moment, and its open client connections.

    ``boot_id`` identifies the incarnation of its process. ``connections_opened`` is cumulative
    within the incarnation and counts client connections only. ``gauges`` has the newest values of
    each address; metering bills none of them.
    """

    boot_id: str
    addresses: Sequence[AddressCounters]
    connections: Sequence[ConnectionSeen]
    connections_opened: int
    gauges: Mapping[str, AddressGauges] = field(default_factory=dict)

    @property
    def by_meter(self) -> Mapping[str, int]:
        """The counter of the instance as a whole, by the meter that it is billed as."""
        return {CONNECTIONS_OPENED: self.connections_opened}
