"""Build the rows that the agent returns, by entity type, with Dispatch's attribute names.

Columns without a counterpart in this router have a constant value.
"""

import time
from collections.abc import Callable, Iterable
from typing import Any

from workers.services.devrouter.links import Producer
from workers.services.devrouter.management.entities import Entities
from workers.services.devrouter.router import Router

Row = dict[str, Any]


class Rows:
    """Builds the rows of one router as it is now; ``BUILDERS`` maps entity types to its methods."""

    def __init__(self, router: Router, entities: Entities) -> None:
        self._router = router
        self._entities = entities

    def router(self) -> Iterable[Row]:
        links = [
            link
            for connection in self._router.connections.values()
            for link in connection.links.values()
        ]
        yield {
            "name": self._router.id,
            "identity": "1",
            "id": self._router.id,
            "mode": self._router.mode,
            "version": "development",
            "uptimeSeconds": int(time.monotonic() - self._router.started_at),
            "addrCount": len(self._router.addresses),
            "linkCount": len(links),
            "connectionCount": len(self._router.connections),
            "autoLinkCount": len(self._router.configured.auto_links),
            "linkRouteCount": len(self._router.configured.routes),
            "deliveriesIngress": sum(
                address.ingress for address in self._router.addresses.values()
            ),
            "deliveriesEgress": sum(address.egress for address in self._router.addresses.values()),
        }

    def node(self) -> Iterable[Row]:
        """Yield the router itself as the only node; none in mode "standalone", as in Dispatch."""
        if self._router.mode == "standalone":
            return
        yield {
            "name": f"router.node/{self._router.id}",
            "identity": f"router.node/{self._router.id}",
            "id": self._router.id,
            "address": f"amqp:/_topo/0/{self._router.id}",
            "nextHop": "(self)",
            "instance": self._router.boot,  # by this the driver notices a restart
            "cost": None,
        }

    def address_rules(self) -> Iterable[Row]:
        for rule in self._router.configured.rules.values():
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

    def auto_links(self) -> Iterable[Row]:
        for auto_link in self._router.configured.auto_links.values():
            yield {
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

    def link_routes(self) -> Iterable[Row]:
        for route in self._router.configured.routes.values():
            connector = self._entities.connectors.get(route.connection)
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

    def addresses(self) -> Iterable[Row]:
        for address in self._router.addresses.values():
            containers = sum(consumer.is_container for consumer in address.consumers)
            yield {
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

    def links(self) -> Iterable[Row]:
        connections = self._router.connections.values()
        links = (link for connection in connections for link in connection.links.values())
        for link in links:
            is_in = isinstance(link, Producer)
            yield {
                "name": f"router.link/{link.identity}",
                "identity": link.identity,
                "linkName": link.name,
                "linkType": "endpoint",
                # From the point of view of the router: the link of a client that sends is "in".
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

    def connections(self) -> Iterable[Row]:
        now = time.monotonic()
        for connection in self._router.connections.values():
            last = connection.last_delivery_at
            cipher, version, _ = connection.wire.extra("cipher") or (None, None, 0)
            yield {
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
                "sslProto": version,
                "sslCipher": cipher,
                "properties": connection.remote_properties,
            }

    def connectors(self) -> Iterable[Row]:
        for connector in self._entities.connectors.values():
            spec = connector.spec
            yield {
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

    def vhost_stats(self) -> Iterable[Row]:
        vhosts = {*self._router.approved, *self._router.denied, *self._router.max_connections}
        for vhost in sorted(vhosts):
            yield {
                "name": f"vhostStats/{vhost}",
                "identity": f"vhostStats/{vhost}",
                "id": vhost,
                "hostname": vhost,
                "connectionsApproved": self._router.approved[vhost],
                "connectionsDenied": self._router.denied[vhost],
                "connectionsCurrent": self._router.current(vhost),
                "perUserState": self._per_user(vhost),
            }

    def _per_user(self, vhost: str) -> dict[str, list[str]]:
        hosts: dict[str, list[str]] = {}
        for connection in self._router.connections.values():
            if connection.is_approved and connection.settings.vhost == vhost:
                hosts.setdefault(connection.peer.user, []).append(connection.settings.host)
        return hosts


BUILDERS: dict[str, Callable[[Rows], Iterable[Row]]] = {
    "router": Rows.router,
    "router.node": Rows.node,
    "router.config.address": Rows.address_rules,
    "router.config.autoLink": Rows.auto_links,
    "router.config.linkRoute": Rows.link_routes,
    "router.address": Rows.addresses,
    "router.link": Rows.links,
    "connection": Rows.connections,
    "connector": Rows.connectors,
    "vhostStats": Rows.vhost_stats,
}
