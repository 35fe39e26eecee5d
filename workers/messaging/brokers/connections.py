"""Who is connected to a broker, what they hold open, and who of them may not stay."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from workers.messaging.brokers import permissions
from workers.messaging.brokers.desired import DesiredAddress, DesiredBroker, DesiredUser
from workers.messaging.management import ManagementClient, Request

_MANY = 1_000_000
_INTERNAL_USER = "CN="  # identities by certificate; a tenant's user name has no "="
# The broker tells creation times in whole seconds.
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
    """Return the open client connections: all but those that came to the internal listener."""
    answer = client.call("broker", "listConnections", "", 1, _MANY)
    everyone = [_connection(row) for row in _rows(answer)]
    # Ours is among them, so the internal listener is known by its address.
    internal = {each.listener for each in everyone if each.is_internal}
    return [each for each in everyone if each.listener not in internal and not each.is_internal]


def find_trespassers(client: ManagementClient, broker: DesiredBroker) -> set[str]:
    """Return the ids of client connections that hold what their user may not have now.

    That is: the user is gone; the connection is older than the user (a former bearer of the
    name); a consumer or producer is open on an address that is gone or not permitted.
    """
    clients = {each.id: each for each in list_clients(client)}
    users = {user.name: user for user in broker.users}
    guilty = {each.id for each in clients.values() if _is_stranger(each, users)}
    addresses = {each.address: each for each in broker.addresses}
    sessions = _sessions(client)
    for link in _links(client):
        connection = sessions.get(link.session, "")
        if connection in clients and not _is_permitted(link, users, addresses):
            guilty.add(connection)
    return guilty


def _is_stranger(connection: OpenConnection, users: Mapping[str, DesiredUser]) -> bool:
    if connection.user == "":
        return False  # logged in but without a session: it holds nothing
    user = users.get(connection.user)
    return user is None or connection.opened_at + _CLOCK_GRAIN < user.since


def _is_permitted(
    link: _Link, users: Mapping[str, DesiredUser], addresses: Mapping[str, DesiredAddress]
) -> bool:
    user, address = users.get(link.user), addresses.get(link.address)
    if user is None:
        return False
    if address is None:
        # Temporary addresses belong to the one who made them; nothing else is ever open.
        return False
    # While sending is withdrawn each message is refused; the connection may go on receiving.
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
        # A sender without an address of its own names one in each message, checked each time.
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
    # java.util.Date.toString(), whose zone is the process's: ours run in UTC.
    return datetime.strptime(text, "%a %b %d %H:%M:%S UTC %Y").replace(tzinfo=UTC)
