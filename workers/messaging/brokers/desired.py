"""What one broker should hold, as plain values; built by the reconcile steps from rows."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from workers.messaging.certificates import KeyPair

INTERNAL_ROLE = "waypost-internal"
ROUTER_ROLE = "waypost-router"
# Common names of the certificates that the internal listener accepts, and their roles.
CONTROL_NAME = "waypost-control"
ROUTER_NAME = "waypost-router"

# ``$`` cannot begin a tenant's address, so nothing internal ever collides with one.
PROBE_PREFIX = "$waypost.probe."
CONNECTIONS_QUEUE = "$waypost.connections.opened"
REFUSALS_QUEUE = "$waypost.connections.refused"
NOTIFICATIONS_ADDRESS = "activemq.notifications"
MANAGEMENT_ADDRESS = "activemq.management"

# What one life of the broker restored from its journal; kept in the broker, gone with its life.
RESTORED_QUEUE = "$waypost.restored"

# XML 1.0, production [2] Char: anything else cannot be written in a configuration file.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Holds(StrEnum):
    """What a broker makes of an address."""

    QUEUE = "queue"  # one anycast queue of the same name
    TOPIC = "topic"  # a multicast address; subscribers bring their queues


@dataclass(frozen=True)
class Limits:
    """Effective settings of one address (plan met with address). None means no such limit."""

    message_ttl_ms: int | None = None
    max_delivery_attempts: int | None = None
    redelivery_delay_ms: int = 0
    max_bytes: int | None = None
    dead_letter: str = ""


@dataclass(frozen=True)
class DesiredAddress:
    """One address on this broker. ``subscriptions`` are durable queues of a topic, by name."""

    address: str
    holds: Holds
    limits: Limits = field(default_factory=Limits)
    subscriptions: Sequence[str] = ()
    read_only: bool = False  # a dead-letter target: nobody sends to it


@dataclass(frozen=True)
class Permission:
    """Patterns and what they open: ``operations`` out of ``send`` and ``recv``."""

    addresses: Sequence[str]
    operations: Sequence[str]


@dataclass(frozen=True)
class DesiredUser:
    """A client identity. Connections older than ``since`` are of an earlier bearer of the name."""

    name: str
    verifiers: Mapping[str, object]
    permissions: Sequence[Permission]
    since: datetime


@dataclass(frozen=True)
class Place:
    """Where a broker reads, stores and listens, as it sees it itself."""

    config_dir: str
    data_dir: str
    bind_host: str
    public_port: int
    internal_port: int


@dataclass(frozen=True)
class DesiredBroker:
    """Everything one broker should hold. ``public``: clients reach it themselves (brokered).

    ``presented``: what clients are shown instead of ``server``, from files of its own.
    """

    public: bool
    addresses: Sequence[DesiredAddress]
    users: Sequence[DesiredUser]
    send_withdrawn: bool
    server: KeyPair
    authority_pem: str
    max_connections: int = -1  # at once, from clients; -1 is no limit
    presented: KeyPair | None = None


def probe_address(holds: Holds) -> str:
    """Return the internal twin through which addresses that hold this are probed."""
    return f"{PROBE_PREFIX}{holds.value}"


def probe_twins() -> Sequence[DesiredAddress]:
    """Return the twins that every broker carries."""
    return [DesiredAddress(probe_address(each), each) for each in Holds]


def is_possible(address: str) -> bool:
    """Return whether a broker can carry a tenant's address of this name without harm.

    ``${`` would be replaced by a system property of the broker's process, wherever it is written.
    """
    reserved = address.startswith(("$", "activemq."))
    harmful = "::" in address or "${" in address or _NOT_XML.search(address)
    return not reserved and not harmful
