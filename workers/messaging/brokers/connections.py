"""List the client connections of a broker and find those without permission."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from workers.messaging.brokers import permissions
from workers.messaging.brokers.desired import DesiredAddress, DesiredBroker, DesiredUser
from workers.messaging.management import ManagementClient, Request

_MANY = 1_000_000  # page size of list operations: one page that holds everything
_INTERNAL_USER = "CN="  # users with a certificate; the name of a messaging user has no "="
# The broker reports creation times in whole seconds.
_CLOCK_GRAIN = timedelta(seconds=1)


@dataclass(frozen=True)
class OpenConnection:
    """One connection as the broker lists it. ``user`` is empty before its first session."""

    id: str
    user: str
    container: str
    remote_host: str
    listener: str
    opened_at: datetime

    @property
    def is_internal(self) -> bool:
        return self.user.startswith(_INTERNAL_USER)


@dataclass(frozen=True)
class _Link:
    session: str
    user: str
    address: str
    operation: str


def list_clients(client: ManagementClient) -> Sequence[OpenConnection]:
    """Return the open client connections: all except those to the internal listener."""
    answer = client.call("broker", "listConnections", "", 1, _MANY)
    found = [_connection(row) for row in _rows(answer)]
    # Our own connection is in the list, so its local address tells which listener is internal.
    internal = {connection.listener for connection in found if connection.is_internal}
    return [
        connection
        for connection in found
        if connection.listener not in internal and not connection.is_internal
    ]


def find_unauthorized(client: ManagementClient, broker: DesiredBroker) -> set[str]:
    """Return the ids of client connections that are no longer permitted.

    A connection is not permitted if one of these is true:

    * its user does not exist any more;
    * it is older than its user, so it belongs to an earlier user of the same name;
    * it has a consumer or producer on an address that is gone or not permitted.
    """
    clients = {connection.id: connection for connection in list_clients(client)}
    users = {user.name: user for user in broker.users}
    unauthorized = {
        connection.id for connection in clients.values() if _is_unknown(connection, users)
    }
    addresses = {address.address: address for address in broker.addresses}
    sessions = _sessions(client)
    for link in _links(client):
        connection = sessions.get(link.session, "")
        if connection in clients and not _is_permitted(link, users, addresses):
            unauthorized.add(connection)
    return unauthorized


def find_on(client: ManagementClient, addresses: Collection[str]) -> set[str]:
    """Return the ids of client connections with a consumer or producer on one of ``addresses``."""
    clients = {connection.id for connection in list_clients(client)}
    sessions = _sessions(client)
    found = {sessions.get(link.session, "") for link in _links(client) if link.address in addresses}
    return found & clients


def _is_unknown(connection: OpenConnection, users: Mapping[str, DesiredUser]) -> bool:
    if connection.user == "":
        return False  # no session yet, so it has no links
    user = users.get(connection.user)
    return user is None or connection.opened_at + _CLOCK_GRAIN < user.since


def _is_permitted(
    link: _Link, users: Mapping[str, DesiredUser], addresses: Mapping[str, DesiredAddress]
) -> bool:
    user, address = users.get(link.user), addresses.get(link.address)
    if user is None:
        return False
    if address is None:
        # Clients may use desired addresses only; temporary ones are not permitted.
        return False
    # While sending is withdrawn, the broker refuses each message. The connection itself stays, so
    # that it can go on receiving.
    return permissions.may(user, link.operation, address, withdrawn=False)


def _links(client: ManagementClient) -> Sequence[_Link]:
    producers, consumers = client.ask(
        [
            Request("broker", "listProducers", ["", 1, _MANY]),
            Request("broker", "listConsumers", ["", 1, _MANY]),
        ]
    )
    return [
        _Link(row["session"], row["validatedUser"], row["address"], operation)
        for rows, operation in ((producers, "send"), (consumers, "recv"))
        for row in _rows(rows)
        # An anonymous sender names an address in each message; the broker checks each of them.
        if row["address"]
    ]


def _sessions(client: ManagementClient) -> Mapping[str, str]:
    answer = client.call("broker", "listSessions", "", 1, _MANY)
    return {row["id"]: row["connectionID"] for row in _rows(answer)}


def _rows(answer: Any) -> Sequence[Mapping[str, Any]]:
    document = json.loads(answer) if isinstance(answer, str) else answer
    rows: Sequence[Mapping[str, Any]] = document["data"]
    return rows


def _connection(row: Mapping[str, Any]) -> OpenConnection:
    return OpenConnection(
        id=row["connectionID"],
        user=str(row["users"]).split(",")[0] if row["users"] else "",
        container=str(row["clientID"] or ""),
        remote_host=str(row["remoteAddress"]),
        listener=str(row["localAddress"]),
        opened_at=_time(str(row["creationTime"])),
    )


def _time(text: str) -> datetime:
    # java.util.Date.toString() uses the time zone of the process; our brokers run in UTC.
    return datetime.strptime(text, "%a %b %d %H:%M:%S UTC %Y").replace(tzinfo=UTC)
