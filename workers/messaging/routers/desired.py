"""What one router should hold, as plain values; built by the reconcile steps from rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from workers.messaging.certificates import KeyPair


class Shape(StrEnum):
    """What an address is to a router (design of the messaging plane, section 2)."""

    ANYCAST = "anycast"
    MULTICAST = "multicast"
    QUEUE = "queue"
    TOPIC = "topic"
    SUBSCRIPTION = "subscription"
    DEADLETTER = "deadletter"

    @property
    def is_direct(self) -> bool:
        """Whether no broker is involved, so that the router's counters are what is billed."""
        return self in (Shape.ANYCAST, Shape.MULTICAST)


@dataclass(frozen=True)
class OnBroker:
    """One partition of an address. ``draining``: it gives and takes nothing any more."""

    broker: str
    draining: bool = False


@dataclass(frozen=True)
class RoutedAddress:
    """One address as clients name it (a subscription: ``<topic>::<name>``), and where it lies."""

    address: str
    shape: Shape
    partitions: Sequence[OnBroker] = ()


@dataclass(frozen=True)
class BrokerAt:
    """A broker's internal listener as routers reach it."""

    name: str
    host: str
    port: int


@dataclass(frozen=True)
class MateAt:
    """Another router of the space, at its mesh listener."""

    name: str
    host: str
    port: int


@dataclass(frozen=True)
class Place:
    """Where a router reads its files and listens, as it sees it itself.

    ``mesh_port``: where its mates reach it; None for a router that is alone by its making.
    """

    config_dir: str
    bind_host: str
    public_port: int
    internal_port: int
    mesh_port: int | None = None


@dataclass(frozen=True)
class AuthServiceAt:
    """Where logins are relayed to, whom to trust there, and who we are: the realm's certificate."""

    host: str
    port: int
    authority_pem: str
    client: KeyPair


@dataclass(frozen=True)
class DesiredRouter:
    """Everything one router should hold.

    ``leads``: this one alone holds the link routes, because brokers key durable subscriptions by
    router. ``mates``: the routers that it dials to be one with them; each pair is joined once.
    ``allowed``: user -> connections opened before that moment are to be closed.
    ``presented``: what clients are shown instead of ``server``, from files of its own.
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
    mates: Sequence[MateAt] = ()
    max_connections: int | None = None
    allowed: Mapping[str, datetime] = field(default_factory=dict)
    presented: KeyPair | None = None


def router_name(ordinal: int) -> str:
    """Return the name of a space's router; to the other routers it is its id in the mesh."""
    return f"router-{ordinal}"


PROBE_PREFIX = "$waypost.probe."
# Vhosts under which the two listeners count their connections.
CLIENT_VHOST = "wp-clients"
INTERNAL_VHOST = "wp-internal"


def probe_address(shape: Shape) -> str:
    """Return the internal twin through which addresses of this shape are probed."""
    return f"{PROBE_PREFIX}{shape.value}"


def probe_twins(brokers: Sequence[BrokerAt]) -> Sequence[RoutedAddress]:
    """Return the twins that every router carries; a broker's own twins have the same names."""
    direct = RoutedAddress(probe_address(Shape.ANYCAST), Shape.ANYCAST)
    everywhere = [OnBroker(each.name) for each in brokers]
    if not everywhere:
        return [direct]
    return [
        direct,
        RoutedAddress(probe_address(Shape.QUEUE), Shape.QUEUE, everywhere),
        RoutedAddress(probe_address(Shape.TOPIC), Shape.TOPIC, everywhere[:1]),
    ]
