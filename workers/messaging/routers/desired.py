"""The desired state of one router, as plain values, and the names of its internal addresses.

``reconcile.desired_routers`` builds a ``DesiredRouter`` from rows. ``rollouts.release`` and the
benchmark build one without tenants' data.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from controlplane.core import address_types
from controlplane.core.address_types import BrokerForm
from workers.messaging.certificates import KeyPair
from workers.messaging.observed import PROBE_PREFIX


class RouterAddressKind(StrEnum):
    """How a router implements an address (docs/messaging.md)."""

    ANYCAST = "anycast"
    MULTICAST = "multicast"
    QUEUE = "queue"
    TOPIC = "topic"
    SUBSCRIPTION = "subscription"
    DEADLETTER = "deadletter"

    @classmethod
    def of_type(cls, address_type: str) -> "RouterAddressKind":
        """Return how a router implements an address type, given as a slug of ``address_types``.

        Raises:
            KeyError: the registry of address types does not have it.
        """
        row = address_types.BY_SLUG[address_type]
        match row.broker_form:
            case BrokerForm.QUEUE:
                # Clients cannot send to a read-only address, like the one of dead letters.
                return cls.DEADLETTER if row.is_read_only else cls.QUEUE
            case BrokerForm.TOPIC:
                return cls.TOPIC
            case BrokerForm.QUEUE_OF_TOPIC:
                return cls.SUBSCRIPTION
            case BrokerForm.ABSENT:
                # For clients of JMS an address is a Topic if each receiver gets a copy.
                return cls.MULTICAST if row.is_jms_topic else cls.ANYCAST

    @property
    def is_direct(self) -> bool:
        """Whether no broker stores its messages; the router's own counters are billed then."""
        return self in (RouterAddressKind.ANYCAST, RouterAddressKind.MULTICAST)


@dataclass(frozen=True)
class OnBroker:
    """Names a broker that holds an address, or a part of it.

    Routers send no new messages of the address to a ``draining`` broker, and still read from it.
    """

    broker: str
    draining: bool = False


@dataclass(frozen=True)
class RoutedAddress:
    """One address that a router should serve, and the brokers that hold it.

    * ``address``: as clients name it (a subscription: ``<topic>::<name>``).
    * ``partitions``: the brokers that hold it; none for a direct address.
    * ``has_below``: the space has addresses of other kinds below this topic. It matters where
      ``DesiredRouter.addresses`` does not list all addresses.
    """

    address: str
    address_kind: RouterAddressKind
    partitions: Sequence[OnBroker] = ()
    has_below: bool = False


@dataclass(frozen=True)
class BrokerAt:
    """The name of a broker, and the host and port of its listener for routers."""

    name: str
    host: str
    port: int


@dataclass(frozen=True)
class PeerAt:
    """The name of another router, and the host and port of its mesh listener."""

    name: str
    host: str
    port: int


@dataclass(frozen=True)
class EngineLayout:
    """The folder, host and ports that a router's own process uses.

    ``mesh_port``: where its peers connect; None for a router that cannot have peers.
    ``health_port``: where it answers probes over HTTP; None for a router that no cluster probes.
    """

    config_dir: str
    bind_host: str
    public_port: int
    internal_port: int
    mesh_port: int | None = None
    health_port: int | None = None


@dataclass(frozen=True)
class AuthServiceAt:
    """Says how a router reaches the auth service, which checks logins.

    ``authority_pem`` signed the service's certificate. ``client`` is the certificate that the
    router presents to the service; its common name is the space id.
    """

    host: str
    port: int
    authority_pem: str
    client: KeyPair


@dataclass(frozen=True)
class ClientLimits:
    """Limits of clients at one router; None means no limit.

    ``user_connections``: of one user; each router of a space counts for itself.
    ``source_connections``: from one network address, likewise. ``sessions``, ``senders``,
    ``receivers``: of one connection. ``message_bytes``: of one message.
    """

    user_connections: int | None = None
    source_connections: int | None = None
    sessions: int | None = None
    senders: int | None = None
    receivers: int | None = None
    message_bytes: int | None = None


@dataclass(frozen=True)
class DesiredRouter:
    """The desired state of one router: its files and entities are made from it.

    * ``leads``: the router holds the link routes of topics. One router of a space leads, because
      brokers identify a durable subscription by the router that made it. With the patch
      ``container-id`` all routers lead.
    * ``client``: the key pair that the router presents to brokers and peers.
    * ``server``: the key pair of its listeners.
    * ``authority_pem``: the authority that signed both, and the certificates of brokers and peers.
    * ``max_connections``: of clients at this router; None is no limit.
    * ``peers``: the routers that this router connects to; each pair has one connection.
    * ``allowed``: {user: time}. Connections of the user that were opened before the time must be
      closed, and so must all connections of users who are not in the mapping.
    * ``public_certificate``: presented to clients instead of ``server``, from files of its own.
    """

    name: str
    space_id: str
    leads: bool
    brokers: Sequence[BrokerAt]
    addresses: Sequence[RoutedAddress]
    server: KeyPair
    client: KeyPair
    authority_pem: str
    auth: AuthServiceAt
    peers: Sequence[PeerAt] = ()
    max_connections: int | None = None
    limits: ClientLimits = ClientLimits()
    allowed: Mapping[str, datetime] = field(default_factory=dict)
    public_certificate: KeyPair | None = None


# The vhosts of the public and of the internal listener. The router counts connections by vhost.
CLIENT_VHOST = "wp-clients"
INTERNAL_VHOST = "wp-internal"


def probe_address(address_kind: RouterAddressKind) -> str:
    """Return the name of the internal address that probes of this kind of address use."""
    return f"{PROBE_PREFIX}{address_kind.value}"


def probe_twins(brokers: Sequence[BrokerAt]) -> Sequence[RoutedAddress]:
    """Return a router's internal addresses for probes: one anycast, one queue and one topic.

    The queue is on all ``brokers``, the topic on the first. Without brokers there is only the
    anycast one. The internal addresses of brokers have the same names.
    """
    direct = RoutedAddress(probe_address(RouterAddressKind.ANYCAST), RouterAddressKind.ANYCAST)
    everywhere = [OnBroker(broker.name) for broker in brokers]
    if not everywhere:
        return [direct]
    return [
        direct,
        RoutedAddress(probe_address(RouterAddressKind.QUEUE), RouterAddressKind.QUEUE, everywhere),
        RoutedAddress(
            probe_address(RouterAddressKind.TOPIC), RouterAddressKind.TOPIC, everywhere[:1]
        ),
    ]
