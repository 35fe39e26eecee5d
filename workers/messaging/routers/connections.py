"""Describe and close the connections of a router's clients. Called by ``driver``."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from workers.messaging.management import Refused
from workers.messaging.observed import ConnectionSeen
from workers.messaging.routers.client import RouterClient, Row
from workers.messaging.routers.tables import RouterTables, bare_address


def describe(tables: RouterTables, rows: Sequence[Row]) -> Sequence[ConnectionSeen]:
    """Read the router's links; return the client connections ``rows`` with links and counters.

    ``rows`` come from ``RouterTables.client_connections``; without rows nothing is read. If the
    router refuses to list links, the connections are returned without any.

    Raises:
        Unreachable: no answer in time.
    """
    if not rows:
        return ()
    links: Mapping[str, Sequence[Row]] = {}
    with suppress(Refused):  # metering must not depend on what only people look at
        links = tables.client_links()
    now = datetime.now(UTC)
    return [_seen(row, links.get(str(row["identity"]), ()), now) for row in rows]


def close(router_client: RouterClient, ids: Collection[str], user: str | None) -> int:
    """Close the client connections that are in ``ids`` or belong to ``user``; return how many.

    ``user``: None stands for no user. An internal connection stays open, even if it is in ``ids``.
    Connections that end meanwhile do not count. Idempotent.

    Raises:
        Unreachable: no answer in time.
        Refused: the router refused the query.
    """
    chosen = [
        str(row["identity"])
        for row in RouterTables(router_client).client_connections()
        if str(row["identity"]) in ids or (user is not None and str(row["user"]) == user)
    ]
    return sum(router_client.close_connection(identity) for identity in chosen)


def _seen(row: Row, links: Sequence[Row], now: datetime) -> ConnectionSeen:
    uptime = row["uptimeSeconds"]
    return ConnectionSeen(
        id=str(row["identity"]),
        user=str(row["user"]),
        container=str(row["container"]),
        remote_host=str(row["host"]),
        protocol=str(row["protocol"] or "").upper(),
        product=_product(row["properties"]),
        tls=" ".join(str(row[name]) for name in ("sslProto", "sslCipher") if row[name]),
        opened_at=None if uptime is None else now - timedelta(seconds=int(uptime)),
        links=len(links),
        addresses=sorted({bare_address(link["owningAddr"]) for link in links}),
        # The router names directions from its own point of view.
        sent=_deliveries(links, "in"),
        received=_deliveries(links, "out"),
    )


def _deliveries(links: Sequence[Row], direction: str) -> int:
    return sum(int(link["deliveryCount"] or 0) for link in links if link["linkDir"] == direction)


def _product(properties: Any) -> str:
    if not isinstance(properties, Mapping):
        return ""
    found = (properties.get("product"), properties.get("version"))
    return " ".join(str(value) for value in found if value)
