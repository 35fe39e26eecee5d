"""Describe and close the connections of a router's clients. Called by ``driver``."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from workers.messaging.management import Refused
from workers.messaging.observed import NO_TLS, ConnectionSeen, EngineHealth, joined
from workers.messaging.routers.client import RouterClient, Row
from workers.messaging.routers.tables import RouterTables, bare_address, client_links


def read_links(tables: RouterTables, rows: Sequence[Row]) -> Sequence[Row]:
    """Return all links of the router, those of workers and brokers included.

    ``rows`` are the client connections. Without any, this sends no request and returns no links.
    It also returns none if the router refuses the query.

    Raises:
        Unreachable: no answer in time.
    """
    if rows:
        with suppress(Refused):  # metering must not depend on what only people look at
            return tables.links()
    return ()


def describe(rows: Sequence[Row], links: Sequence[Row]) -> Sequence[ConnectionSeen]:
    """Return the client connections in ``rows``, with counters and their links in ``links``."""
    by_connection = client_links(links)
    now = datetime.now(UTC)
    return [_seen(row, by_connection.get(str(row["identity"]), ()), now) for row in rows]


def health(tables: RouterTables, links: Sequence[Row]) -> EngineHealth:
    """Return how connected the router is; ``links`` are those that ``read_links`` returned.

    Raises:
        Unreachable: no answer in time.
    """
    try:
        neighbors, count = tables.neighbors(), tables.link_count()
    except Refused:
        return EngineHealth()
    undelivered = sum(int(link["undeliveredCount"] or 0) for link in links)
    return EngineHealth(neighbors=neighbors, links=count, undelivered=undelivered)


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
    # A client need not send properties when it opens its connection (AMQP part 2 section 2.7.1).
    properties = row["properties"] if isinstance(row["properties"], Mapping) else {}
    return ConnectionSeen(
        id=str(row["identity"]),
        user=str(row["user"]),
        container=str(row["container"]),
        remote_host=str(row["host"]),
        protocol=str(row["protocol"] or "").upper(),
        product=joined(properties.get("product"), properties.get("version")),
        tls=NO_TLS if row["ssl"] is False else joined(row["sslProto"], row["sslCipher"]),
        opened_at=None if uptime is None else now - timedelta(seconds=int(uptime)),
        links=len(links),
        addresses=sorted({bare_address(link["owningAddr"]) for link in links}),
        # The router names directions from its own point of view.
        sent=_deliveries(links, "in"),
        received=_deliveries(links, "out"),
    )


def _deliveries(links: Sequence[Row], direction: str) -> int:
    return sum(int(link["deliveryCount"] or 0) for link in links if link["linkDir"] == direction)
