"""Build the rows that QUERY and READ return, by entity type, with Dispatch's attribute names."""

import time
from collections.abc import Callable, Iterable
from typing import Any

from workers.services.devrouter.configured import AutoLink
from workers.services.devrouter.engine import Connection
from workers.services.devrouter.forwarding import Address
from workers.services.devrouter.links import Producer, RouterLink
from workers.services.devrouter.management.entities import Entities
from workers.services.devrouter.network import Connector
from workers.services.devrouter.router import Router

Row = dict[str, Any]


def _router(router: Router, _: Entities) -> Iterable[Row]:
    links = [
        link for connection in router.connections.values() for link in connection.links.values()
    ]
    yield {
        "name": router.id,
        "identity": "1",
        "id": router.id,
        "mode": router.mode,
        "version": "development",
        "uptimeSeconds": int(time.monotonic() - router.started_at),
        "addrCount": len(router.addresses),
        "linkCount": len(links),
        "connectionCount": len(router.connections),
        "autoLinkCount": len(router.configured.auto_links),
        "linkRouteCount": len(router.configured.routes),
        "deliveriesIngress": sum(address.ingress for address in router.addresses.values()),
        "deliveriesEgress": sum(address.egress for address in router.addresses.values()),
    }


def _node(router: Router, _: Entities) -> Iterable[Row]:
    """Yield the router itself; as in Dispatch, a standalone router shows no nodes."""
    if router.mode == "standalone":
        return
    yield {
        "name": f"router.node/{router.id}",
        "identity": f"router.node/{router.id}",
        "id": router.id,
        "address": f"amqp:/_topo/0/{router.id}",
        "nextHop": "(self)",
        "instance": router.boot,  # by this the driver notices a restart
        "cost": None,
    }


def _address_rules(router: Router, _: Entities) -> Iterable[Row]:
    for rule in router.configured.rules.values():
        yield {
            "name": rule.name,
            "identity": rule.identity,
            "prefix": rule.prefix or None,
            "pattern": rule.pattern or None,
            "distribution": rule.distribution,
            "waypoint": rule.waypoint,
            "ingressPhase": rule.ingress_phase,
            "egressPhase": rule.egress_phase,
            "priority": -1,
            "fallback": False,
        }


def _auto_links(router: Router, _: Entities) -> Iterable[Row]:
    return map(_auto_link, router.configured.auto_links.values())


def _auto_link(auto_link: AutoLink) -> Row:
    return {
        "name": auto_link.name,
        "identity": auto_link.identity,
        "address": auto_link.address,
        "direction": auto_link.direction,
        "phase": auto_link.phase,
        "containerId": None,
        "connection": auto_link.connection or None,
        "externalAddress": auto_link.external_address or None,
        "fallback": False,
        "linkRef": auto_link.link.identity if auto_link.link is not None else None,
        "operStatus": auto_link.state,
        "lastError": auto_link.last_error or None,
    }


def _link_routes(router: Router, entities: Entities) -> Iterable[Row]:
    for route in router.configured.routes.values():
        connector = entities.connectors.get(route.connection)
        is_active = connector is not None and connector.status == "SUCCESS"
        yield {
            "name": route.name,
            "identity": route.identity,
            "prefix": route.prefix or None,
            "pattern": route.pattern or None,
            "direction": route.direction,
            "distribution": "linkBalanced",
            "containerId": None,
            "connection": route.connection or None,
            "addExternalPrefix": route.add_prefix or None,
            "delExternalPrefix": route.del_prefix or None,
            "operStatus": "active" if is_active else "inactive",
        }


def _addresses(router: Router, _: Entities) -> Iterable[Row]:
    return map(_address, router.addresses.values())


def _address(address: Address) -> Row:
    containers = sum(consumer.is_container for consumer in address.consumers)
    return {
        "name": address.key,
        "identity": address.key,
        "key": address.key,
        "distribution": address.distribution,
        # The second character of a mobile address's key is its phase.
        "phase": int(address.key[1]) if address.key.startswith("M") else 0,
        "inProcess": 0,
        "subscriberCount": len(address.consumers),
        "remoteCount": 0,
        "containerCount": containers,
        "deliveriesIngress": address.ingress,
        "deliveriesEgress": address.egress,
        "deliveriesTransit": 0,
        "deliveriesToContainer": 0,
        "deliveriesFromContainer": 0,
        "deliveriesIngressRouteContainer": address.ingress_container,
        "deliveriesEgressRouteContainer": address.egress_container,
    }


def _links(router: Router, _: Entities) -> Iterable[Row]:
    for connection in router.connections.values():
        for link in connection.links.values():
            yield _link(link)


def _link(link: RouterLink) -> Row:
    is_in = isinstance(link, Producer)
    return {
        "name": f"router.link/{link.identity}",
        "identity": link.identity,
        "linkName": link.name,
        "linkType": "endpoint",
        "linkDir": "in" if is_in else "out",
        "owningAddr": link.address_key or None,
        "connectionId": link.connection.identity,
        "capacity": link.connection.settings.capacity,
        "creditAvailable": link.credit,
        "unsettledCount": len(link.unsettled),
        "undeliveredCount": 0,
        "deliveryCount": link.counts["deliveries"],
        "presettledCount": link.counts["presettled"],
        "droppedPresettledCount": link.counts["dropped"],
        "acceptedCount": link.counts["accepted"],
        "rejectedCount": link.counts["rejected"],
        "releasedCount": link.counts["released"],
        "modifiedCount": link.counts["modified"],
        "operStatus": "up",
        "adminStatus": "enabled",
    }


def _connections(router: Router, _: Entities) -> Iterable[Row]:
    return map(_connection, router.connections.values())


def _connection(connection: Connection) -> Row:
    now = time.monotonic()
    last = connection.last_delivery_at
    return {
        "name": f"connection/{connection.settings.host}",
        "identity": connection.identity,
        "container": connection.remote_container,
        "host": connection.settings.host,
        "role": connection.settings.role,
        "dir": connection.settings.direction,
        "user": connection.peer.user,
        "sasl": connection.peer.mechanism,
        "isAuthenticated": True,
        "isEncrypted": True,
        "ssl": True,
        "opened": connection.is_approved or connection.settings.direction == "out",
        "operStatus": "up",
        "adminStatus": "enabled",
        "uptimeSeconds": int(now - connection.opened_at),
        "lastDlvSeconds": int(now - last) if last is not None else None,
        "protocol": "amqp",
        "tenant": None,
        "properties": {},
    }


def _connectors(_: Router, entities: Entities) -> Iterable[Row]:
    return (_connector(connector) for connector in entities.connectors.values())


def _connector(connector: Connector) -> Row:
    spec = connector.spec
    return {
        "name": spec.name,
        "identity": f"connector/{spec.host}:{spec.port}:{spec.name}",
        "host": spec.host,
        "port": str(spec.port),
        "role": spec.role,
        "sslProfile": spec.profile.name,
        "saslMechanisms": "EXTERNAL",
        "verifyHostname": spec.verifies_name,
        "idleTimeoutSeconds": int(spec.idle_seconds),
        "connectionStatus": connector.status,
        "connectionMsg": connector.message,
    }


def _vhost_stats(router: Router, _: Entities) -> Iterable[Row]:
    vhosts = {*router.approved, *router.denied, *router.max_connections}
    for vhost in sorted(vhosts):
        yield {
            "name": f"vhostStats/{vhost}",
            "identity": f"vhostStats/{vhost}",
            "id": vhost,
            "hostname": vhost,
            "connectionsApproved": router.approved[vhost],
            "connectionsDenied": router.denied[vhost],
            "connectionsCurrent": router.current(vhost),
            "perUserState": _per_user(router, vhost),
        }


def _per_user(router: Router, vhost: str) -> dict[str, list[str]]:
    hosts: dict[str, list[str]] = {}
    for connection in router.connections.values():
        if connection.is_approved and connection.settings.vhost == vhost:
            hosts.setdefault(connection.peer.user, []).append(connection.settings.host)
    return hosts


BUILDERS: dict[str, Callable[[Router, Entities], Iterable[Row]]] = {
    "router": _router,
    "router.node": _node,
    "router.config.address": _address_rules,
    "router.config.autoLink": _auto_links,
    "router.config.linkRoute": _link_routes,
    "router.address": _addresses,
    "router.link": _links,
    "connection": _connections,
    "connector": _connectors,
    "vhostStats": _vhost_stats,
}
