"""The router driver: make a running router hold what is desired, cut off trespassers, read it.

Called by the reconcile steps and by metering. The same entities are in the router's own file
(``config``), so a restarted router is right before this module looks. Nothing counts until it has
been read back.

Counters of direct addresses must not vanish while their address exists: each is held by an autoLink
to a connection that never comes (``entities.HOLD``), which is in the router's file as well. No
session of ours has to stay open for it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tenants.router_patches import Patch
from workers.messaging.brokers.snapshot import MeteredAddress
from workers.messaging.management import Unreachable
from workers.messaging.observed import (
    AddressCounters,
    ConnectionSeen,
    InstanceSnapshot,
    ManagementTarget,
)
from workers.messaging.routers import client, difference, entities, probing
from workers.messaging.routers.client import RouterClient, Row
from workers.messaging.routers.desired import (
    CLIENT_VHOST,
    PROBE_PREFIX,
    DesiredRouter,
    RoutedAddress,
    Shape,
)
from workers.messaging.routers.dialects import DISPATCH, Dialect
from workers.messaging.routers.entities import Entity

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
_CONNECTION_COLUMNS = ("identity", "host", "container", "user", "role", "dir", "sasl", "opened",
                       "uptimeSeconds")  # fmt: skip


_FEW = 200  # up to here single reads cost less than a table


@dataclass(frozen=True)
class Converged:
    """``pending``: address -> why it does not work yet; "" is about the router itself.

    ``unjoined``: mate that it dials and has no connection to -> why, in the router's words.
    ``patches``: which of our patches the router has.
    """

    pending: Mapping[str, str] = field(default_factory=dict)
    created: int = 0
    deleted: int = 0
    unjoined: Mapping[str, str] = field(default_factory=dict)
    patches: frozenset[Patch] = frozenset()


def find_life(target: ManagementTarget, *, dialect: Dialect = DISPATCH) -> str:
    """Return what tells this life of the router from any other. Raises ``Unreachable``."""
    with client.connected(target, dialect, purpose="life") as asking:
        return _life(asking)


def converge(
    target: ManagementTarget,
    router: DesiredRouter,
    *,
    leaving: Sequence[RoutedAddress] = (),
    only: Collection[str] | None = None,
    dialect: Dialect = DISPATCH,
) -> Converged:
    """Make the router hold what is desired, and say what does not work yet.

    ``leaving`` addresses lose everything but what holds their counters. ``only`` names the
    addresses that changed (the short path costs what changed); None reads and repairs everything.
    Idempotent.

    Raises:
        Unreachable: no answer in time; what was done is found at the next call.
    """
    wanted: Sequence[Entity] = [*entities.build(router), *entities.build_holds(leaving)]
    complete: Collection[str] = entities.ORDER
    with client.connected(target, dialect, purpose="converge") as asking:
        if only is None or leaving:
            held = _read_all(asking)
        else:
            wanted = _that_may_have_changed(wanted, only)
            held, complete = _read_some(asking, wanted), (entities.LINK_ROUTE,)
        steps = difference.compare(wanted, held, complete=complete)
        refusals = _apply(asking, steps)
        if not steps.is_empty:
            held = _read_all(asking) if len(wanted) > _FEW else _read_some(asking, wanted)
    pending = {**_pending(wanted, held), **refusals}
    unjoined = difference.find_unjoined(router.mates, held)
    return Converged(pending, len(steps.create), len(steps.delete), unjoined, asking.patches)


def reattach(
    target: ManagementTarget,
    router: DesiredRouter,
    *,
    unread: Mapping[str, Collection[str]],
    dialect: Dialect = DISPATCH,
) -> Sequence[str]:
    """Recreate the links that read one of the queues ``unread`` (by broker); return the addresses.

    Only links that the router calls active: a broker that fails in the middle of a large message
    drops its consumer and says nothing (reference on Dispatch with Artemis, section 1.4), and then
    nobody gets what is stored. A link that is coming up by itself is left alone.

    Raises:
        Unreachable: no answer in time; what was done is found at the next call.
    """
    suspects = [
        each
        for each in entities.build(router)
        if any(each.reads(broker, queue) for broker, queues in unread.items() for queue in queues)
    ]
    with client.connected(target, dialect, purpose="reattach") as asking:
        held = _read_some(asking, suspects)
        stuck = [each for each in suspects if not difference.find_problem(each, held)]
        names = [(each.kind, each.name) for each in stuck]
        _apply(asking, difference.Difference(delete=names, create=stuck))
    return [each.address for each in stuck]


def cut_off(
    target: ManagementTarget,
    router: DesiredRouter,
    *,
    leaving: Collection[str] = (),
    dialect: Dialect = DISPATCH,
) -> int:
    """Close the connections that may not be: of unknown users, older than ``router.allowed`` says,
    or with a link on a ``leaving`` address. Returns how many. Clients come back by themselves.

    Raises:
        Unreachable: no answer in time.
    """
    now = datetime.now(UTC)
    with client.connected(target, dialect, purpose="cut-off") as asking:
        rows = _client_connections(asking)
        on_leaving = _with_links_on(asking, leaving) if leaving else set()
        doomed = [
            row
            for row in rows
            if str(row["identity"]) in on_leaving or not _is_allowed(row, router, now)
        ]
        return sum(asking.close_connection(str(row["identity"])) for row in doomed)


def snapshot(
    target: ManagementTarget,
    *,
    addresses: Sequence[MeteredAddress],
    internal_users: Collection[str] = (),
    dialect: Dialect = DISPATCH,
) -> InstanceSnapshot:
    """Return one cumulative snapshot for metering.

    Counters are of direct addresses only: stored ones are billed at their broker. Connections are
    those of the public listener, whose vhost counts them exactly.

    Raises:
        Unreachable: the router does not answer; that says nothing about its counters.
    """
    direct = [each.address for each in addresses if Shape(each.type).is_direct]
    with client.connected(target, dialect, purpose="meter") as asking:
        life = _life(asking)
        rows = asking.query("router.address", "name", "deliveriesIngress", "deliveriesEgress")
        seen = _client_connections(asking)
        opened = _connections_opened(asking)
    by_key = {str(row["name"]): row for row in rows}
    found = [(address, by_key.get(dialect.counter_key(address))) for address in direct]
    return InstanceSnapshot(
        boot_id=life,
        addresses=[
            AddressCounters(name, int(row["deliveriesIngress"]), int(row["deliveriesEgress"]))
            for name, row in found
            if row is not None
        ],
        connections=[_seen(row) for row in seen if row["user"] not in internal_users],
        connections_opened=opened,
    )


def probe(target: ManagementTarget, address: str, *, timeout_seconds: float = 5) -> float:
    """Send a message through an internal address of the router; see ``probing``."""
    return probing.through_router(target, address, timeout_seconds=timeout_seconds)


def _life(asking: RouterClient) -> str:
    for row in asking.query("router.node", "id", "instance", "nextHop"):
        if row["nextHop"] == "(self)":
            return f"{row['id']}-{row['instance']}"
    raise Unreachable("the router does not show itself")


def _read_all(asking: RouterClient) -> difference.Held:
    """One request for each type."""
    return {kind: _rows(asking, kind) for kind in entities.ORDER}


def _rows(asking: RouterClient, kind: str) -> dict[str, Row]:
    return {str(row["name"]): row for row in asking.query(kind, *_COLUMNS[kind])}


def _that_may_have_changed(wanted: Sequence[Entity], only: Collection[str]) -> Sequence[Entity]:
    """Return what the short path looks at: the named addresses, and what is few and shared.

    All link routes, because a new address below a topic changes the topic's.
    """
    return [
        each
        for each in wanted
        if each.address in only
        or each.kind in (entities.CONNECTOR, entities.LINK_ROUTE)
        or each.address.startswith(PROBE_PREFIX)
    ]


def _read_some(asking: RouterClient, wanted: Sequence[Entity]) -> difference.Held:
    """Read back exactly these, many requests in flight; of link routes all, they are few."""
    single = [each for each in wanted if each.kind != entities.LINK_ROUTE]
    replies = asking.ask([asking.entity_request("READ", each.kind, each.name) for each in single])
    held: dict[str, dict[str, Row]] = {entities.LINK_ROUTE: _rows(asking, entities.LINK_ROUTE)}
    for each, reply in zip(single, replies, strict=True):
        if reply.status == 200:
            held.setdefault(each.kind, {})[each.name] = reply.body
    return held


def _apply(asking: RouterClient, steps: difference.Difference) -> Mapping[str, str]:
    """Delete, then create; return the refusals by address."""
    asking.ask([asking.entity_request("DELETE", kind, name) for kind, name in steps.delete])
    refusals: dict[str, str] = {}
    replies = asking.ask(
        [
            asking.entity_request("CREATE", each.kind, each.name, each.attributes)
            for each in steps.create
        ]
    )
    for each, reply in zip(steps.create, replies, strict=True):
        if reply.status != 201:
            refusals[each.address] = f"{each.name}: {reply.description}"
    return refusals


def _pending(wanted: Sequence[Entity], held: difference.Held) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in wanted:
        problem = difference.find_problem(each, held)
        if problem:
            found.setdefault(each.address, problem)
    return found


def _client_connections(asking: RouterClient) -> Sequence[Row]:
    """Return clients' connections: ours, and those to brokers, log in by certificate."""
    return [
        row
        for row in asking.query("connection", *_CONNECTION_COLUMNS)
        if row["role"] == "normal" and row["dir"] == "in" and row["sasl"] != "EXTERNAL"
    ]


def _with_links_on(asking: RouterClient, addresses: Collection[str]) -> set[str]:
    """Return the connections that have a link on one of the addresses, whatever its kind."""
    rows = asking.query("router.link", "owningAddr", "connectionId")
    return {str(row["connectionId"]) for row in rows if _bare(row["owningAddr"]) in addresses}


def _bare(key: object) -> str:
    """Return an address without the letters that the address table puts in front."""
    text = str(key or "")
    return text[2:] if text.startswith("M") else text[1:]


def _is_allowed(row: Row, router: DesiredRouter, now: datetime) -> bool:
    since = router.allowed.get(str(row["user"]))
    if since is None:
        return False
    age = float(row["uptimeSeconds"] or 0)
    # The router shows whole seconds: a connection may be up to one second older than it says.
    return now.timestamp() - age >= since.timestamp()


def _connections_opened(asking: RouterClient) -> int:
    rows = asking.query("vhostStats", "hostname", "connectionsApproved")
    return sum(int(row["connectionsApproved"]) for row in rows if row["hostname"] == CLIENT_VHOST)


def _seen(row: Row) -> ConnectionSeen:
    return ConnectionSeen(
        id=str(row["identity"]),
        user=str(row["user"]),
        container=str(row["container"]),
        remote_host=str(row["host"]),
    )
