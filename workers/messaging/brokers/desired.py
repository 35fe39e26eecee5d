"""The desired state of one broker, as plain values, and the names of its internal addresses.

``reconcile.desired_brokers`` builds a ``DesiredBroker`` from rows. ``rollouts.release``,
``workers.broker_archive`` and the benchmark build one without tenants' data.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum

from controlplane.core.address_types import AddressSettings
from workers.messaging.certificates import KeyPair
from workers.messaging.observed import PROBE_PREFIX

# The roles of Waypost's workers and of routers.
INTERNAL_ROLE = "waypost-internal"
ROUTER_ROLE = "waypost-router"
# The role of all messaging users of a brokered space. A broker with the plugin lets it create
# temporary queues for replies.
REPLIES_ROLE = "waypost-replies"
# The common names of their client certificates. Logins with other certificates are refused.
CONTROL_NAME = "waypost-control"
ROUTER_NAME = "waypost-router"

# A tenant's address cannot begin with ``$``, so internal names never collide with one.
CONNECTIONS_QUEUE = "$waypost.connections.opened"
REFUSALS_QUEUE = "$waypost.connections.refused"
NOTIFICATIONS_ADDRESS = "activemq.notifications"

# Holds one message with the number of messages that each queue restored from the journal at start.
# The queue is not durable, so it ends with the incarnation that it describes (see ``restored``).
RESTORED_QUEUE = "$waypost.restored"

# The match of an address setting whose expiry delay is ``users_revision``: by reading it back we
# know that the broker has loaded the file with these users. No address has this name.
USERS_MATCH = "$waypost.users"
# Likewise: its expiry delay is the percentage of their limits that clients have. The broker plugin
# reads it, because its own properties never change while the broker runs. Without a throttle the
# file has no such match.
THROTTLE_MATCH = "$waypost.throttle"

# XML 1.0, production [2] Char: anything else cannot be written in a configuration file.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class BrokerAddressKind(StrEnum):
    """The form that a tenant's address of any type has on a broker: a queue or a topic."""

    QUEUE = "queue"  # one anycast queue of the same name
    TOPIC = "topic"  # a multicast address; each subscriber has its own queue


@dataclass(frozen=True)
class DesiredAddress:
    """An address as one broker should have it.

    * ``limits``: the effective settings; a field that is None sets no limit.
    * ``subscriptions``: the names of a topic's durable queues. Empty for a queue.
    * ``subscription_limits``: {subscription: settings}, for those that have settings of their own.
    """

    address: str
    address_kind: BrokerAddressKind
    limits: AddressSettings = field(default_factory=AddressSettings)
    subscriptions: Sequence[str] = ()
    subscription_limits: Mapping[str, AddressSettings] = field(default_factory=dict)
    in_memory: bool = False  # its broker does not persist
    read_only: bool = False  # a dead-letter address: clients may not send to it

    @property
    def queues(self) -> Sequence[str]:
        """The names of the address's durable queues: a queue has one, a topic its subscriptions."""
        if self.address_kind is BrokerAddressKind.QUEUE:
            return [self.address]
        return list(self.subscriptions)

    def limits_of(self, queue: str) -> AddressSettings:
        """Return the settings of one of ``queues``; empty settings if it has none of its own."""
        if self.address_kind is BrokerAddressKind.QUEUE:
            return self.limits
        return self.subscription_limits.get(queue, AddressSettings())

    @property
    def routing_type(self) -> str:
        """Artemis's name for how messages reach the address's queues."""
        return "ANYCAST" if self.address_kind is BrokerAddressKind.QUEUE else "MULTICAST"


@dataclass(frozen=True)
class Permission:
    """Says which ``operations`` (``send``, ``recv``) are permitted on which address patterns.

    ``patterns`` explains the patterns in ``addresses``.
    """

    addresses: Sequence[str]
    operations: Sequence[str]


@dataclass(frozen=True)
class DesiredUser:
    """A messaging user as a broker should know it.

    ``verifiers``: format -> what the password is checked against. Brokers use ``artemis``; without
    it the user cannot log in at a broker. ``since``: connections that were opened before this time
    belong to an earlier user of the same name.
    """

    name: str
    verifiers: Mapping[str, object]
    permissions: Sequence[Permission]
    since: datetime


@dataclass(frozen=True)
class EngineLayout:
    """The folders, host and ports that a broker's own process uses.

    On Kubernetes these are paths and addresses inside the broker's container.
    """

    config_dir: str
    data_dir: str
    bind_host: str
    public_port: int
    internal_port: int


@dataclass(frozen=True)
class BrokerSizes:
    """The sizes and kinds of storage that a space plan gives each broker.

    * ``message_memory_mb``: memory that messages of all addresses together may fill.
    * ``journal``: ``nio`` or ``asyncio``.
    * ``persistent``: False means that messages are in memory only.
    """

    message_memory_mb: int = 48
    journal: str = "nio"
    persistent: bool = True


@dataclass(frozen=True)
class ClientLimits:
    """What a space plan allows clients of a brokered space; None is no limit.

    The broker plugin enforces it: each field is one of its properties, with ``-`` for ``_``.

    * ``message_bytes``: the largest message.
    * ``user_connections``: the connections of one user.
    * ``sessions``, ``senders``, ``receivers``: of one connection.
    * ``connection_rate``, ``user_rate``: messages that one connection, and all connections of one
      user, may send in a second.
    """

    message_bytes: int | None = None
    user_connections: int | None = None
    sessions: int | None = None
    senders: int | None = None
    receivers: int | None = None
    connection_rate: int | None = None
    user_rate: int | None = None

    @property
    def credits(self) -> tuple[int, int]:
        """The messages that a sender may have on their way, and how few make the broker add more.

        If there is a rate, one second of messages at most: a sender that is too fast uses up its
        credit before the broker can slow it down.
        """
        rates = [rate for rate in (self.connection_rate, self.user_rate) if rate is not None]
        most = max(10, min([1000, *rates]))
        return most, most * 3 // 10

    def properties(self) -> Mapping[str, str]:
        """Return the properties of the plugin for the limits that there are."""
        return {
            name.replace("_", "-"): str(value)
            for name, value in asdict(self).items()
            if value is not None
        }


@dataclass(frozen=True)
class DesiredBroker:
    """The desired state of one broker: the files and requests are made from it.

    * ``public``: clients connect to the broker itself (brokered space).
    * ``addresses``: those of tenants; internal ones are added by whoever renders or compares.
    * ``users``: all messaging users of the space.
    * ``send_withdrawn``: no user may send now (quota).
    * ``throttle_percent``: the part of ``max_connections``, ``client_limits.user_connections`` and
      the rates that clients have now (quota); None: all. A running broker applies it.
    * ``server``: the key pair of its listeners; ``authority_pem``: the authority that signed it.
    * ``public_certificate``: presented to clients instead of ``server``, from files of its own.
    """

    public: bool
    addresses: Sequence[DesiredAddress]
    users: Sequence[DesiredUser]
    send_withdrawn: bool
    server: KeyPair
    authority_pem: str
    max_connections: int = -1  # concurrent, from clients; -1 is no limit
    sizes: BrokerSizes = BrokerSizes()
    client_limits: ClientLimits = ClientLimits()
    public_certificate: KeyPair | None = None
    throttle_percent: int | None = None


def probe_address(address_kind: BrokerAddressKind) -> str:
    """Return the name of the internal address that probes of this kind of address use."""
    return f"{PROBE_PREFIX}{address_kind.value}"


def probe_twins() -> Sequence[DesiredAddress]:
    """Return the internal addresses for probes, which every broker has: one for each kind."""
    return [DesiredAddress(probe_address(kind), kind) for kind in BrokerAddressKind]


def topics(broker: DesiredBroker) -> Sequence[DesiredAddress]:
    """Return the topics among ``broker.addresses``, after the internal topic for probes."""
    return [
        address
        for address in (*probe_twins(), *broker.addresses)
        if address.address_kind is BrokerAddressKind.TOPIC
    ]


def users_revision(broker: DesiredBroker) -> int:
    """Return a hash of ``broker.users`` and ``send_withdrawn``, below 2**48.

    It covers names, times of creation, password verifiers and permissions, whatever the order of
    the users.
    """
    users = sorted(
        (
            user.name,
            user.since.isoformat(),  # another user of the same name
            json.dumps(user.verifiers, sort_keys=True, default=str),
            json.dumps([(p.addresses, p.operations) for p in user.permissions], default=list),
        )
        for user in broker.users
    )
    text = json.dumps([users, broker.send_withdrawn])
    # 48 bits: the broker reads it as a 64-bit integer, and JSON as a double.
    return int(hashlib.sha256(text.encode()).hexdigest()[:12], 16)


def is_possible(address: str) -> bool:
    """Return whether a tenant's address may have the name ``address`` on a broker.

    False in four cases. Names that begin with ``$`` or ``activemq.`` are internal. The broker
    replaces ``${…}`` by a system property wherever it reads a name. ``::`` separates address and
    queue in Artemis's fully qualified names. Some control characters cannot be written in XML.
    """
    reserved = address.startswith(("$", "activemq."))
    harmful = "::" in address or "${" in address or _NOT_XML.search(address)
    return not reserved and not harmful
