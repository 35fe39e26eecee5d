"""Read and change the entities of a running router, and read its connections and counters.

The driver uses ``RouterTables`` through one management connection. Each of its methods raises
``Unreachable`` if the router does not answer in time. Methods that list a whole table also raise
``Refused`` if the router refuses the query; these are all except ``read`` and ``apply``.
"""

from collections.abc import Collection, Mapping, Sequence

from workers.messaging.management import Unreachable
from workers.messaging.routers import entities
from workers.messaging.routers.client import RouterClient, Row
from workers.messaging.routers.desired import CLIENT_VHOST
from workers.messaging.routers.difference import Difference, Existing
from workers.messaging.routers.entities import Entity

# The columns that the driver reads, by entity type: the attributes that ``difference`` compares,
# and the state of connectors and links.
_COLUMNS: Mapping[str, Sequence[str]] = {
    entities.CONNECTOR: (
        "name", "host", "port", "role", "sslProfile", "saslMechanisms", "verifyHostname",
        "idleTimeoutSeconds", "connectionStatus", "connectionMsg",
    ),
    entities.ADDRESS: ("name", "prefix", "pattern", "distribution", "waypoint"),
    entities.LINK_ROUTE: ("name", "prefix", "pattern", "direction", "connection", "operStatus"),
    entities.AUTO_LINK: (
        "name", "address", "direction", "phase", "connection", "externalAddress", "operStatus",
        "lastError",
    ),
}  # fmt: skip
# What metering and people need to know of a connection.
_CONNECTION_COLUMNS = ("identity", "host", "container", "user", "role", "dir", "sasl", "opened",
                       "uptimeSeconds", "properties", "protocol", "ssl", "sslProto",
                       "sslCipher")  # fmt: skip


class RouterTables:
    """Reads, creates and deletes entities of one router; lists its connections; reads counters."""

    def __init__(self, router_client: RouterClient) -> None:
        self._client = router_client

    def incarnation(self) -> str:
        """Return the identity of the router's current incarnation; it changes with each start.

        Raises:
            Unreachable: also if the router does not list itself yet.
        """
        # ``instance`` changes at each start of the router.
        for row in self._client.query("router.node", "id", "instance", "nextHop"):
            if row["nextHop"] == "(self)":
                return f"{row['id']}-{row['instance']}"
        raise Unreachable("the router does not show itself")

    def read_all(self) -> Existing:
        """Return all entities of the types in ``entities.ORDER`` as kind -> name -> row.

        Entities that Waypost did not create are among them.
        """
        return {kind: self._rows(kind) for kind in entities.ORDER}

    def _rows(self, kind: str) -> dict[str, Row]:
        return {str(row["name"]): row for row in self._client.query(kind, *_COLUMNS[kind])}

    def read_some(self, wanted: Sequence[Entity]) -> Existing:
        """Return those of ``wanted`` that the router has, and its link routes, as ``read`` does.

        Link routes are few, so one QUERY lists them. Each other entity needs a READ.
        """
        single = [
            (entity.kind, entity.name) for entity in wanted if entity.kind != entities.LINK_ROUTE
        ]
        return {**self.read(single), entities.LINK_ROUTE: self._rows(entities.LINK_ROUTE)}

    def read(self, names: Sequence[tuple[str, str]]) -> Existing:
        """Return those of the entities (kind, name) that exist, as kind -> name -> row."""
        replies = self._client.ask(
            [self._client.entity_request("READ", kind, name) for kind, name in names]
        )
        existing: dict[str, dict[str, Row]] = {}
        for (kind, name), reply in zip(names, replies, strict=True):
            if reply.status == 200:
                existing.setdefault(kind, {})[name] = reply.body
        return existing

    def apply(self, steps: Difference) -> Mapping[str, str]:
        """Delete entities, then create others; return the refused creations: address -> reason.

        The key "" stands for connectors. A refused deletion is ignored here: the caller finds the
        entity when it reads again.
        """
        self._client.ask(
            [self._client.entity_request("DELETE", kind, name) for kind, name in steps.delete]
        )
        refusals: dict[str, str] = {}
        replies = self._client.ask(
            [
                self._client.entity_request("CREATE", entity.kind, entity.name, entity.attributes)
                for entity in steps.create
            ]
        )
        for entity, reply in zip(steps.create, replies, strict=True):
            if reply.status != 201:
                refusals[entity.address] = f"{entity.name}: {reply.description}"
        return refusals

    def client_connections(self) -> Sequence[Row]:
        """Return the open connections of clients, as rows of the router's connection table.

        Connections of workers, to brokers and between routers are left out. Such a connection has a
        certificate as identity (EXTERNAL), another role or another direction.
        """
        return [
            row
            for row in self._client.query("connection", *_CONNECTION_COLUMNS)
            if row["role"] == "normal" and row["dir"] == "in" and row["sasl"] != "EXTERNAL"
        ]

    def connections_on(self, addresses: Collection[str]) -> set[str]:
        """Return the identities of all connections with a link on one of ``addresses``.

        The connections of brokers and workers are among them.
        """
        rows = self._client.query("router.link", "owningAddr", "connectionId")
        return {
            str(row["connectionId"]) for row in rows if bare_address(row["owningAddr"]) in addresses
        }

    def links(self) -> Sequence[Row]:
        """Return all open links, those of workers, brokers and other routers included."""
        return self._client.query(
            "router.link",
            "owningAddr",
            "connectionId",
            "linkDir",
            "linkType",
            "deliveryCount",
            "undeliveredCount",
        )

    def link_count(self) -> int:
        """Return the number of all open links. Unlike ``links``, this reads one row."""
        return sum(int(row["linkCount"] or 0) for row in self._client.query("router", "linkCount"))

    def neighbors(self) -> int:
        """Return how many other routers this one reaches, directly or through others."""
        # Without a next hop, the other router is connected directly.
        nodes = self._client.query("router.node", "id", "nextHop")
        return sum(row["nextHop"] != "(self)" for row in nodes)

    def connections_opened(self) -> int:
        """Return how many client connections the router has accepted in this incarnation.

        Connections that failed to log in, or exceeded a limit, do not count.
        """
        rows = self._client.query("vhostStats", "hostname", "connectionsApproved")
        return sum(
            int(row["connectionsApproved"]) for row in rows if row["hostname"] == CLIENT_VHOST
        )


def client_links(rows: Sequence[Row]) -> Mapping[str, Sequence[Row]]:
    """Return those of the links ``rows`` that belong to clients, by their connection's identity.

    Links without an address, such as those of management, are left out.
    """
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row["linkType"] == "endpoint" and row["owningAddr"]:
            found.setdefault(str(row["connectionId"]), []).append(row)
    return found


def bare_address(key: object) -> str:
    """Return the address in a key of the router's address table, such as ``M0orders``."""
    text = str(key or "")
    # A key begins with a class. Only the class ``M`` is followed by one more character, the phase.
    return text[2:] if text.startswith("M") else text[1:]
