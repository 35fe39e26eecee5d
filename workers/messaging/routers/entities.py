"""Turn the desired state of a router into router entities, and name the entities. Pure.

The driver creates the entities in a running router, and ``config`` writes them to the router's
file. The names of our entities begin with ``wp-``; entities with other names are left alone. Rules
of addresses are exact patterns, so that a router refuses a name that merely begins like an address.
Only link routes of topics may match by prefix.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from controlplane.core.instance_names import InstanceId, Kind
from workers.messaging.routers.desired import (
    BrokerAt,
    DesiredRouter,
    PeerAt,
    RoutedAddress,
    RouterAddressKind,
    probe_twins,
)

PREFIX = "wp-"
CONNECTOR = "connector"
ADDRESS = "router.config.address"
AUTO_LINK = "router.config.autoLink"
LINK_ROUTE = "router.config.linkRoute"
# Order of creation: an entity comes after those that it refers to. Deletion uses the reverse order.
ORDER = (CONNECTOR, ADDRESS, LINK_ROUTE, AUTO_LINK)
BROKER_PROFILE = "wp-brokers"
# A router that is busy with many logins reads a broker's frames late. The idle timeout must be
# longer than that, or the router closes its connection to the broker.
IDLE_SECONDS = 30
# No connection has this name, so an autoLink to it never attaches. It keeps the address's row, with
# the billed counters, from the router's start until the address is deleted.
HOLD = "wp-hold"


@dataclass(frozen=True)
class Entity:
    """One entity that a router's configuration should have.

    ``kind`` is its type without ``org.apache.qpid.dispatch.``, such as ``connector``.
    """

    kind: str
    name: str
    attributes: Mapping[str, Any]
    address: str = ""  # the address that it belongs to; empty for connectors

    @classmethod
    def connector(cls, name: str, peer: BrokerAt | PeerAt, role: str) -> Self:
        """Return the connector to the broker or router ``peer``.

        The router presents its client certificate and verifies the name of ``peer``.
        """
        attributes = {
            "host": peer.host,
            "port": str(peer.port),
            "role": role,
            "sslProfile": BROKER_PROFILE,
            "saslMechanisms": "EXTERNAL",
            "verifyHostname": True,
            "idleTimeoutSeconds": IDLE_SECONDS,
        }
        return cls(CONNECTOR, name, attributes)

    @property
    def is_hold(self) -> bool:
        """Whether this is an autoLink to ``HOLD``, which only keeps an address's counters."""
        return self.attributes.get("connection") == HOLD

    def reads(self, broker: str, queue: str) -> bool:
        """Return whether this is the autoLink by which the router reads ``queue`` of ``broker``."""
        reading = self.kind == AUTO_LINK and self.attributes["direction"] == "in"
        at_broker = self.attributes.get("connection") == connector_name(broker)
        return reading and at_broker and self.address.rpartition("::")[2] == queue


def build(router: DesiredRouter) -> Sequence[Entity]:
    """Return all entities that ``router`` should have, in the order of creation.

    Those for probes are among them. An address that clashes with an earlier one gets no entity
    (``find_clashes``). A topic gets link routes only on a router that leads.
    """
    wanted = [*router.addresses, *probe_twins(router.brokers)]
    clashes = find_clashes(router.addresses)
    below = _Below(wanted)
    made: list[Entity] = []
    for broker in router.brokers:
        names = [connector_name(broker.name)]
        if router.leads:
            names.append(link_route_connector_name(broker.name))
        made += [Entity.connector(name, broker, "route-container") for name in names]
    # Routers connect to each other in this role (Qpid Dispatch manual, "Connecting routers").
    made += [
        Entity.connector(mesh_connector_name(peer.name), peer, "inter-router")
        for peer in router.peers
    ]
    for address in wanted:
        if address.address in clashes:
            continue
        if address.address_kind is not RouterAddressKind.TOPIC:
            made += _AddressEntities(address).list_message_routed()
        elif router.leads:
            exact = address.has_below or below.has_other(address)
            made += _AddressEntities(address).list_link_routed(exact=exact)
    return sorted(made, key=lambda entity: ORDER.index(entity.kind))


def build_holds(addresses: Sequence[RoutedAddress]) -> Sequence[Entity]:
    """Return the holds (autoLinks to ``HOLD``) of the direct addresses among ``addresses``.

    A hold keeps the router's counters of an address that is being deleted until the last sample.
    """
    return [
        _AddressEntities(address).auto_link("in", HOLD, phase=0)
        for address in addresses
        if address.address_kind.is_direct
    ]


def list_possible(
    addresses: Sequence[RoutedAddress], brokers: Sequence[BrokerAt]
) -> Sequence[tuple[str, str]]:
    """Return (kind, name) of every entity that a router may have for ``addresses``.

    The entities need not exist. ``brokers``: all brokers that may hold one of the addresses.
    """
    connections = [HOLD, *(connector_name(broker.name) for broker in brokers)]
    return [
        possible
        for address in addresses
        for possible in _AddressEntities(address).list_possible(connections)
    ]


def find_clashes(addresses: Sequence[RoutedAddress]) -> Mapping[str, str]:
    """Return the addresses that a router takes for an earlier one: {address: the earlier one}.

    Routers separate tokens by ``.`` and by ``/`` and ignore leading separators, so ``a.b`` and
    ``a/b`` are the same to them. The first of such addresses, in the given order, is no clash.
    """
    kept: dict[tuple[str, ...], str] = {}
    clashes: dict[str, str] = {}
    for address in addresses:
        first = kept.setdefault(_tokens(address.address), address.address)
        if first != address.address:
            clashes[address.address] = first
    return clashes


def address_name(address: str) -> str:
    """Return the name of the address's rule: the entity that says how messages are distributed.

    Entities of our other types never have this name.
    """
    return f"{PREFIX}address:{address}"


def connector_name(broker: str) -> str:
    return f"{PREFIX}{broker}"


def link_route_connector_name(broker: str) -> str:
    """Return the name of the connector to ``broker`` for link routes.

    Link routes have a connection of their own, because a client can break that connection;
    message-routed queues must go on working then.

    A router with the patch ``container-id`` announces the part after the ``@`` to the broker as its
    container id. The broker identifies durable subscriptions by it. All routers announce the id of
    the first router. So the broker still finds subscriptions that the first router made before the
    routers had the patch.
    """
    return f"{PREFIX}lr-{broker}@{InstanceId(Kind.ROUTER, 0).name}"


def mesh_connector_name(peer: str) -> str:
    return f"{PREFIX}mesh-{peer}"


@dataclass(frozen=True)
class _AddressEntities:
    """Builds and names the entities of one address.

    ``build`` calls ``list_link_routed`` for a topic and ``list_message_routed`` for other kinds.
    """

    routed: RoutedAddress

    def list_message_routed(self) -> Sequence[Entity]:
        """Return the rule of an address that is no topic, and its autoLinks.

        A stored address has autoLinks to and from its brokers. A direct address has only its hold.
        """
        name, address_kind = self.routed.address, self.routed.address_kind
        distribution = "multicast" if address_kind is RouterAddressKind.MULTICAST else "balanced"
        is_stored = not address_kind.is_direct
        rule = {"pattern": name, "distribution": distribution, "waypoint": is_stored}
        made = [Entity(ADDRESS, address_name(name), rule, name)]
        if address_kind.is_direct:
            return [*made, self.auto_link("in", HOLD, phase=0)]
        # Phase 0 leads from clients to the broker, phase 1 from the broker to clients.
        for partition in self.routed.partitions:
            connection = connector_name(partition.broker)
            made.append(self.auto_link("in", connection, phase=1))
            # Clients send to queues only: a subscription gets the messages of its topic, a
            # dead-letter address those that the broker moves.
            if address_kind is RouterAddressKind.QUEUE and not partition.draining:
                made.append(self.auto_link("out", connection, phase=0))
        return made

    def list_link_routed(self, *, exact: bool) -> Sequence[Entity]:
        """Return the two link routes of a topic, one for each direction.

        With ``exact`` they match the topic alone; otherwise also everything below the topic, which
        clients need for wildcards. Both lead to the topic's only broker. Empty without a broker.
        """
        field = "pattern" if exact else "prefix"
        name = self.routed.address
        return [
            Entity(
                LINK_ROUTE,
                self._link_route_name(direction, field),
                {
                    field: name,
                    "direction": direction,
                    "connection": link_route_connector_name(partition.broker),
                },
                name,
            )
            for partition in self.routed.partitions[:1]
            for direction in ("in", "out")
        ]

    def auto_link(self, direction: str, connection: str, phase: int) -> Entity:
        name = self.routed.address
        attributes: dict[str, Any] = {
            "address": name,
            "direction": direction,
            "phase": phase,
            "connection": connection,
        }
        if self.routed.address_kind is RouterAddressKind.SUBSCRIPTION:
            attributes["externalAddress"] = name
        return Entity(AUTO_LINK, self._auto_link_name(direction, connection), attributes, name)

    def list_possible(self, connections: Sequence[str]) -> Sequence[tuple[str, str]]:
        """Return (kind, name) of every entity that the address may have on a router.

        ``connections``: the names of the connections that its autoLinks may use.
        """
        found = [(ADDRESS, address_name(self.routed.address))]
        for direction in ("in", "out"):
            found += [
                (AUTO_LINK, self._auto_link_name(direction, connection))
                for connection in connections
            ]
            found += [
                (LINK_ROUTE, self._link_route_name(direction, field))
                for field in ("pattern", "prefix")
            ]
        return found

    def _auto_link_name(self, direction: str, connection: str) -> str:
        return f"{PREFIX}{direction}:{connection}:{self.routed.address}"

    def _link_route_name(self, direction: str, field: str) -> str:
        return f"{PREFIX}{direction}:{field}:{self.routed.address}"


class _Below:
    """Finds topics that have addresses of other kinds below them (``a`` has ``a/b`` below it).

    A link route by prefix would take the links to those addresses too.
    """

    def __init__(self, addresses: Sequence[RoutedAddress]) -> None:
        self._above = {
            tokens[:size]
            for tokens in (
                _tokens(address.address)
                for address in addresses
                if address.address_kind is not RouterAddressKind.TOPIC
            )
            for size in range(len(tokens))
        }

    def has_other(self, topic: RoutedAddress) -> bool:
        return _tokens(topic.address) in self._above


def _tokens(address: str) -> tuple[str, ...]:
    return tuple(re.split(r"[./]", address.lstrip("./")))
