"""List the client connections of a broker; find those without permission or on given addresses."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from workers.messaging import patterns
from workers.messaging.brokers import permissions
from workers.messaging.brokers.desired import DesiredAddress, DesiredBroker, DesiredUser
from workers.messaging.brokers.tables import BrokerTables
from workers.messaging.management import ManagementClient, Refused, Request
from workers.messaging.observed import ConnectionSeen, joined

_INTERNAL_USER = "CN="  # users with a certificate; the name of a messaging user has no "="
# The broker reports creation times in whole seconds, so a connection may be this much younger.
_CLOCK_GRAIN = timedelta(seconds=1)
# How the broker lists the address of a sender that has none (seen with Artemis 2.56).
_ANONYMOUS = "ANONYMOUS"
# The plugin's description of all client connections; the name of the resource is in Guard.java.
_DESCRIBED = Request("waypost.clients", "described")

Row = Mapping[str, Any]


@dataclass(frozen=True)
class OpenConnection:
    """One connection as the broker lists it, of a client or an internal one.

    ``user`` is empty before the first session. ``listener`` is the local address that the peer
    connected to. ``sessions``: None if the broker does not list their number.
    """

    id: str
    user: str
    container: str
    remote_host: str
    listener: str
    opened_at: datetime
    protocol: str = ""
    sessions: int | None = None

    @classmethod
    def of_row(cls, row: Row) -> Self:
        """Return the connection that a row of ``listConnections`` describes."""
        # java.util.Date.toString() uses the time zone of the process; our brokers run in UTC.
        opened_at = datetime.strptime(str(row["creationTime"]), "%a %b %d %H:%M:%S UTC %Y").replace(
            tzinfo=UTC
        )
        return cls(
            id=row["connectionID"],
            user=str(row["users"]).split(",")[0] if row["users"] else "",
            container=str(row["clientID"] or ""),
            remote_host=str(row["remoteAddress"]),
            listener=str(row["localAddress"]),
            opened_at=opened_at,
            protocol=str(row.get("protocol") or ""),
            sessions=int(row["sessionCount"]) if row.get("sessionCount") else None,
        )

    @property
    def is_internal(self) -> bool:
        return self.user.startswith(_INTERNAL_USER)

    def is_unknown(self, users: Mapping[str, DesiredUser]) -> bool:
        """Return whether the connection is of no desired user.

        So it is if no user has the name, or if the user was created after the connection was
        opened. ``users`` are the desired users by name. False before the first session.
        """
        if self.user == "":
            return False  # no session yet, so it has no links
        user = users.get(self.user)
        return user is None or self.opened_at + _CLOCK_GRAIN < user.since


@dataclass(frozen=True)
class _Link:
    """A producer (``operation`` is ``send``) or consumer (``recv``) in the session with this id.

    ``messages``: how many a producer has sent, or a consumer has acknowledged.
    """

    session: str
    user: str
    address: str
    operation: str
    messages: int = 0

    @property
    def is_anonymous(self) -> bool:
        """Whether this is a sender without an address: each of its messages names its own.

        The broker checks the permission for each message.
        """
        return self.operation == "send" and self.address in ("", _ANONYMOUS)

    def is_permitted(
        self,
        users: Mapping[str, DesiredUser],
        addresses: Mapping[str, DesiredAddress],
        temporary: Collection[str],
    ) -> bool:
        user, address = users.get(self.user), addresses.get(self.address)
        if user is None:
            return False
        if self.is_anonymous:
            return True
        if address is None and patterns.is_filter(self.address):
            return self.operation == "recv" and permissions.may_subscribe(user, self.address)
        if address is None:
            # Else desired addresses only. The broker plugin checks who may read a temporary one.
            return self.address in temporary
        # While sending is withdrawn, the broker refuses each message. The connection itself stays,
        # so that it can go on receiving.
        return permissions.may(user, self.operation, address, withdrawn=False)


class _Lists:
    """Reads a broker's whole lists of connections, sessions, producers and consumers.

    Each method reads again. Each raises ``Unreachable`` if the broker stops answering, and
    ``Refused`` if it refuses a list.
    """

    def __init__(self, client: ManagementClient) -> None:
        self._tables = BrokerTables(client)

    def clients(self) -> Sequence[OpenConnection]:
        found = [OpenConnection.of_row(row) for row in self._tables.rows("listConnections")]
        # Our own connection is in the list, so its local address tells which listener is internal.
        internal = {connection.listener for connection in found if connection.is_internal}
        return [
            connection
            for connection in found
            if connection.listener not in internal and not connection.is_internal
        ]

    def sessions(self) -> Mapping[str, str]:
        """Return {id of a session: id of its connection}."""
        return {row["id"]: row["connectionID"] for row in self._tables.rows("listSessions")}

    def temporary(self, names: Collection[str]) -> Collection[str]:
        """Return those of ``names`` that are temporary addresses on the broker now.

        Without names it sends no request.
        """
        found = self._tables.find("listAddresses", names) if names else {}
        return {name for name, row in found.items() if row["temporary"] == "true"}

    def links(self) -> Sequence[_Link]:
        return _links(*self._tables.rows_of("listProducers", "listConsumers"))

    def sessions_links_and_described(
        self,
    ) -> tuple[Mapping[str, str], Sequence[_Link], Mapping[str, Row]]:
        """Return ``sessions()``, ``links()``, and what the plugin describes; one batch of requests.

        The last is {id of a connection: row of ``Clients.described``}. It is empty for a broker
        without the plugin, or with an older one.
        """
        (sessions, producers, consumers), (answer,) = self._tables.rows_with(
            ("listSessions", "listProducers", "listConsumers"), _DESCRIBED
        )
        described = {} if isinstance(answer, Refused) else answer
        return (
            {row["id"]: row["connectionID"] for row in sessions},
            _links(producers, consumers),
            json.loads(described) if isinstance(described, str) else described,
        )


def _links(producers: Sequence[Row], consumers: Sequence[Row]) -> Sequence[_Link]:
    return [
        _Link(
            row["session"],
            row["validatedUser"],
            row["address"],
            operation,
            int(row.get(counter) or 0),
        )
        for rows, operation, counter in (
            (producers, "send", "msgSent"),
            (consumers, "recv", "messagesAcknowledged"),
        )
        for row in rows
    ]


def list_clients(client: ManagementClient) -> Sequence[OpenConnection]:
    """Return the open client connections: those of workers and routers are left out.

    Raises:
        Unreachable: the broker stopped answering.
        Refused: the broker refused to list something; a retry may succeed.
    """
    return _Lists(client).clients()


def find_unauthorized(client: ManagementClient, broker: DesiredBroker) -> set[str]:
    """Return the ids of open client connections that ``broker`` does not permit.

    A connection is not permitted if one of these is true:

    * its user does not exist any more;
    * it is older than its user, so it belongs to an earlier user of the same name;
    * it has a consumer or producer on an address that is not desired or not permitted to its user,
      and is neither a temporary queue nor a filter;
    * it has a consumer on a filter that none of its user's patterns covers.

    Withdrawn sending (quota) does not count: the broker then refuses each message instead.

    Raises:
        Unreachable: the broker stopped answering.
        Refused: the broker refused to list something; a retry may succeed.
    """
    lists = _Lists(client)
    clients = {connection.id: connection for connection in lists.clients()}
    users = {user.name: user for user in broker.users}
    unauthorized = {
        connection.id for connection in clients.values() if connection.is_unknown(users)
    }
    addresses = {address.address: address for address in broker.addresses}
    sessions = lists.sessions()
    links = [link for link in lists.links() if sessions.get(link.session, "") in clients]
    named = {link.address for link in links if not link.is_anonymous}
    temporary = lists.temporary(named - addresses.keys())
    for link in links:
        connection = sessions[link.session]
        if not link.is_permitted(users, addresses, temporary):
            unauthorized.add(connection)
    return unauthorized


def find_on(client: ManagementClient, addresses: Collection[str]) -> set[str]:
    """Return the ids of client connections with a consumer or producer on one of ``addresses``.

    Raises:
        Unreachable: the broker stopped answering.
        Refused: the broker refused to list something; a retry may succeed.
    """
    lists = _Lists(client)
    clients = {connection.id for connection in lists.clients()}
    sessions = lists.sessions()
    found = {sessions.get(link.session, "") for link in lists.links() if link.address in addresses}
    return found & clients


def find_of(client: ManagementClient, ids: Collection[str], user: str | None) -> set[str]:
    """Return the ids of open client connections that are in ``ids`` or belong to ``user``.

    ``user``: None stands for no user. An internal connection is never returned, even if it is in
    ``ids``.

    Raises:
        Unreachable: the broker stopped answering.
        Refused: the broker refused to list something; a retry may succeed.
    """
    return {
        connection.id
        for connection in _Lists(client).clients()
        if connection.id in ids or (user is not None and connection.user == user)
    }


def describe(
    client: ManagementClient, clients: Sequence[OpenConnection]
) -> Sequence[ConnectionSeen]:
    """Read the links of ``clients`` from the broker; return each client with links and counters.

    Sends no request if there are no clients, as on each broker of a standard space. Otherwise it
    sends one batch, whose size does not depend on the number of clients.

    Product, TLS and the counters of a whole connection come from the broker plugin. Without it,
    product and TLS are empty, and the counters are those of the links that are open now.

    Raises:
        Unreachable: the broker stopped answering.
        Refused: the broker refused to list something; a retry may succeed.
    """
    if not clients:
        return ()
    sessions, listed, described = _Lists(client).sessions_links_and_described()
    links: dict[str, list[_Link]] = {}
    for link in listed:
        links.setdefault(sessions.get(link.session, ""), []).append(link)
    return [
        _seen(connection, links.get(connection.id, ()), described.get(connection.id))
        for connection in clients
    ]


def _seen(
    connection: OpenConnection, links: Sequence[_Link], described: Row | None
) -> ConnectionSeen:
    if described is None:
        product = tls = ""
        sent = sum(link.messages for link in links if link.operation == "send")
        received = sum(link.messages for link in links if link.operation == "recv")
    else:
        product = joined(described["product"], described["version"])
        tls = joined(described["tlsProtocol"], described["tlsCipher"])
        sent, received = int(described["sent"]), int(described["received"])
    return ConnectionSeen(
        id=connection.id,
        user=connection.user,
        container=connection.container,
        remote_host=connection.remote_host,
        protocol=connection.protocol,
        product=product,
        tls=tls,
        opened_at=connection.opened_at,
        sessions=connection.sessions,
        links=len(links),
        addresses=sorted({link.address for link in links if not link.is_anonymous}),
        sent=sent,
        received=received,
    )
