"""From desired addresses to router entities. Pure; used by the driver and by the rendered file.

Every name begins with ``wp-``: what is named otherwise belongs to somebody else and is left alone.
Addresses are exact patterns, so that a name nobody made is refused, not taken for a part of one.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workers.messaging.routers.desired import (
    BrokerAt,
    DesiredRouter,
    MateAt,
    RoutedAddress,
    Shape,
    probe_twins,
    router_name,
)

PREFIX = "wp-"
CONNECTOR = "connector"
ADDRESS = "router.config.address"
AUTO_LINK = "router.config.autoLink"
LINK_ROUTE = "router.config.linkRoute"
# What refers comes after what it refers to; deletion goes backwards.
ORDER = (CONNECTOR, ADDRESS, LINK_ROUTE, AUTO_LINK)
BROKER_PROFILE = "wp-brokers"
# A router that is busy with many logins reads late what a broker says: its connection to the broker
# must outlast that.
IDLE_SECONDS = 30
# No connection has this name: an autoLink to it never attaches, and holds its address's row (with
# the counters that are billed) from the router's start to the address's end.
HOLD = "wp-hold"


@dataclass(frozen=True)
class Entity:
    """One entity: its type without the dialect's prefix, its name, and what it should say."""

    kind: str
    name: str
    attributes: Mapping[str, Any]
    address: str = ""  # whose it is; empty for connectors

    @property
    def is_hold(self) -> bool:
        """Whether this only keeps an address's counters alive; it never attaches."""
        return self.attributes.get("connection") == HOLD

    def reads(self, broker: str, queue: str) -> bool:
        """Return whether this is the link that reads ``queue`` of ``broker``."""
        reading = self.kind == AUTO_LINK and self.attributes["direction"] == "in"
        at_broker = self.attributes.get("connection") == connector_name(broker)
        return reading and at_broker and self.address.rpartition("::")[2] == queue


def build(router: DesiredRouter) -> Sequence[Entity]:
    """Return every entity of ours that ``router`` should hold, in the order to make them."""
    wanted = [*router.addresses, *probe_twins(router.brokers)]
    clashes = find_clashes(router.addresses)
    below = _Below(wanted)
    made = [entity for broker in router.brokers for entity in _connectors(broker, router.leads)]
    made += [_mesh_connector(each) for each in router.mates]
    for address in wanted:
        if address.address in clashes:
            continue
        if address.shape is not Shape.TOPIC:
            made += _message_routed(address)
        elif router.leads:
            made += _link_routed(address, exact=below.has_other(address))
    return sorted(made, key=lambda entity: ORDER.index(entity.kind))


def build_holds(addresses: Sequence[RoutedAddress]) -> Sequence[Entity]:
    """Return what keeps the counters of leaving direct addresses until they were sampled."""
    return [_auto_link(each, "in", HOLD, phase=0) for each in addresses if each.shape.is_direct]


def find_clashes(addresses: Sequence[RoutedAddress]) -> Mapping[str, str]:
    """Return the addresses that a router takes for another one: {address: the one it keeps}.

    Routers end a token at ``.`` and at ``/`` alike and drop leading ones, so ``a.b`` is ``a/b``.
    The first in the given order keeps the name.
    """
    kept: dict[tuple[str, ...], str] = {}
    clashes: dict[str, str] = {}
    for each in addresses:
        first = kept.setdefault(_tokens(each.address), each.address)
        if first != each.address:
            clashes[each.address] = first
    return clashes


def address_name(address: str) -> str:
    """Return the name of an address's rule: none of ours for other types, whatever the address."""
    return f"{PREFIX}address:{address}"


def connector_name(broker: str) -> str:
    return f"{PREFIX}{broker}"


def link_route_connector_name(broker: str) -> str:
    """A connection of its own: a client can break it, and queues must go on working then.

    A router with the patch ``container-id`` announces what follows the ``@`` to the broker, which
    keys durable subscriptions by it. It is the first router's id: that finds again what the first
    router of an unpatched mesh made.
    """
    return f"{PREFIX}lr-{broker}@{router_name(0)}"


def mesh_connector_name(mate: str) -> str:
    return f"{PREFIX}mesh-{mate}"


def _connectors(broker: BrokerAt, leads: bool) -> Sequence[Entity]:
    names = [connector_name(broker.name)]
    if leads:
        names.append(link_route_connector_name(broker.name))
    attributes = _dialed(broker.host, broker.port, "route-container")
    return [Entity(CONNECTOR, name, attributes) for name in names]


def _mesh_connector(mate: MateAt) -> Entity:
    """Return what joins two routers (Qpid Dispatch manual, "Connecting routers")."""
    attributes = _dialed(mate.host, mate.port, "inter-router")
    return Entity(CONNECTOR, mesh_connector_name(mate.name), attributes)


def _dialed(host: str, port: int, role: str) -> Mapping[str, Any]:
    """Return a connection that we open: mutual TLS, with the routers' certificate."""
    return {
        "host": host,
        "port": str(port),
        "role": role,
        "sslProfile": BROKER_PROFILE,
        "saslMechanisms": "EXTERNAL",
        "verifyHostname": True,
        "idleTimeoutSeconds": IDLE_SECONDS,
    }


def _message_routed(address: RoutedAddress) -> Sequence[Entity]:
    name, shape = address.address, address.shape
    distribution = "multicast" if shape is Shape.MULTICAST else "balanced"
    rule = {"pattern": name, "distribution": distribution, "waypoint": not shape.is_direct}
    made = [Entity(ADDRESS, address_name(name), rule, name)]
    if shape.is_direct:
        return [*made, _auto_link(address, "in", HOLD, phase=0)]
    for partition in address.partitions:
        connection = connector_name(partition.broker)
        made.append(_auto_link(address, "in", connection, phase=1))
        if shape is Shape.QUEUE and not partition.draining:
            made.append(_auto_link(address, "out", connection, phase=0))
    return made


def _auto_link(address: RoutedAddress, direction: str, connection: str, phase: int) -> Entity:
    name = address.address
    attributes: dict[str, Any] = {
        "address": name,
        "direction": direction,
        "phase": phase,
        "connection": connection,
    }
    if address.shape is Shape.SUBSCRIPTION:
        attributes["externalAddress"] = name
    return Entity(AUTO_LINK, f"{PREFIX}{direction}:{connection}:{name}", attributes, name)


def _link_routed(address: RoutedAddress, *, exact: bool) -> Sequence[Entity]:
    """Return the two routes of a topic: with all below it (wildcards), or of that name alone."""
    field = "pattern" if exact else "prefix"
    name = address.address
    return [
        Entity(
            LINK_ROUTE,
            f"{PREFIX}{direction}:{field}:{name}",
            {
                field: name,
                "direction": direction,
                "connection": link_route_connector_name(partition.broker),
            },
            name,
        )
        for partition in address.partitions[:1]
        for direction in ("in", "out")
    ]


class _Below:
    """Which topics have addresses of other shapes below them: a route's prefix would take those."""

    def __init__(self, addresses: Sequence[RoutedAddress]) -> None:
        self._above = {
            tokens[:size]
            for tokens in (_tokens(e.address) for e in addresses if e.shape is not Shape.TOPIC)
            for size in range(len(tokens))
        }

    def has_other(self, topic: RoutedAddress) -> bool:
        return _tokens(topic.address) in self._above


def _tokens(address: str) -> tuple[str, ...]:
    return tuple(re.split(r"[./]", address.lstrip("./")))
