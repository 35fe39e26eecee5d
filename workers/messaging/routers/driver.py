"""The router driver: configure a running router, disconnect clients, read its state.

The reconcile steps use this module as their port ``Routers``; metering and the benchmark call it
too. The desired entities are also in the router's own file (``config``), so a restarted router is
complete before this module connects. A change counts as done only after it was read back.

The counters of a direct address must exist as long as the address. A router keeps them while a link
or an autoLink uses the address. So each direct address has an autoLink to a connection that never
exists (``entities.HOLD``). This autoLink, the *hold*, is in the router's file too, so no session of
ours has to stay open (docs/adr/0005).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tenants.router_patches import Patch
from workers.messaging import management
from workers.messaging.brokers.snapshot import MeteredAddress
from workers.messaging.observed import (
    PROBE_PREFIX,
    AddressCounters,
    AddressGauges,
    InstanceSnapshot,
    ManagementTarget,
)
from workers.messaging.routers import client, connections, difference, entities, probing
from workers.messaging.routers.client import Row
from workers.messaging.routers.desired import (
    DesiredRouter,
    RoutedAddress,
    RouterAddressKind,
)
from workers.messaging.routers.entities import Entity
from workers.messaging.routers.tables import RouterTables

_FEW = 200  # up to this number of entities, single READs cost less than one QUERY of everything


@dataclass(frozen=True)
class Converged:
    """The result of ``converge`` and ``apply``.

    * ``pending``: address -> why it does not work yet; the key "" stands for a connector.
    * ``created``, ``deleted``: how many entities the call tried to create and to delete.
    * ``unjoined``: name of a peer router without a working connection -> its host and port, and
      the router's text.
    * ``patches``: which of our patches the router has.
    """

    pending: Mapping[str, str] = field(default_factory=dict)
    created: int = 0
    deleted: int = 0
    unjoined: Mapping[str, str] = field(default_factory=dict)
    patches: frozenset[Patch] = frozenset()


def find_incarnation(target: ManagementTarget, *, timeout_seconds: float = 10) -> str:
    """Return the identity of the router's current incarnation; it changes with each start.

    Raises:
        Unreachable: the router does not answer in time; it may still be starting.
        Refused: the router refused the query.
    """
    with client.connected(
        target, purpose="incarnation", timeout_seconds=timeout_seconds
    ) as router_client:
        return RouterTables(router_client).incarnation()


def converge(
    target: ManagementTarget,
    router: DesiredRouter,
    *,
    leaving: Sequence[RoutedAddress] = (),
    only: Collection[str] | None = None,
) -> Converged:
    """Create and delete entities so that the router has what is desired; report what does not work.

    * ``leaving``: addresses that lose all entities except the hold that keeps their counters.
    * ``only``: names of changed addresses. The call then reads and repairs the entities of these
      addresses, and the shared ones: connectors, all link routes and the entities for probes. It
      then deletes no undesired entities except link routes. None, or any ``leaving`` address, makes
      the call read and repair everything.

    Idempotent.

    Raises:
        Unreachable: no answer in time; the next call finds what was done.
        Refused: the router refused a query.
    """
    wanted: Sequence[Entity] = [*entities.build(router), *entities.build_holds(leaving)]
    complete: Collection[str] = entities.ORDER
    with client.connected(target, purpose="converge") as router_client:
        tables = RouterTables(router_client)
        # Only a full read finds all entities that leaving addresses must lose.
        if only is None or leaving:
            existing = tables.read_all()
        else:
            wanted = _that_may_have_changed(wanted, only)
            existing, complete = tables.read_some(wanted), (entities.LINK_ROUTE,)
        steps = difference.compare(wanted, existing, complete=complete)
        refusals = tables.apply(steps)
        # A 201 proves nothing (see ``difference``): read back what was changed.
        if not steps.is_empty:
            existing = tables.read_all() if len(wanted) > _FEW else tables.read_some(wanted)
    # The text of a refusal explains more than the missing entity, so it takes precedence.
    pending = {**difference.find_problems(wanted, existing), **refusals}
    unjoined = difference.find_unjoined(router.peers, existing)
    return Converged(pending, len(steps.create), len(steps.delete), unjoined, router_client.patches)


def apply(
    target: ManagementTarget,
    router: DesiredRouter,
    *,
    leaving: Sequence[RoutedAddress] = (),
    gone: Sequence[RoutedAddress] = (),
) -> Converged:
    """Bring the entities of ``router.addresses`` to the desired state; leave other addresses alone.

    ``router.addresses`` lists the changed addresses only. ``leaving`` addresses keep only their
    hold, ``gone`` ones nothing. Missing connectors and
    entities for probes are created too. The cost depends on the addresses given here and on the
    number of brokers and peers, not on the other addresses. Idempotent.

    Raises:
        Unreachable: no answer in time; the next call finds what was done.
    """
    wanted: Sequence[Entity] = [*entities.build(router), *entities.build_holds(leaving)]
    touched = [*router.addresses, *leaving, *gone]
    names = {
        **dict.fromkeys((entity.kind, entity.name) for entity in wanted),
        **dict.fromkeys(entities.list_possible(touched, router.brokers)),
    }
    with client.connected(target, purpose="apply") as router_client:
        tables = RouterTables(router_client)
        existing = tables.read(list(names))
        # Everything that was read belongs to these addresses, so what is not wanted is deleted.
        steps = difference.compare(wanted, existing, complete=entities.ORDER)
        refusals = tables.apply(steps)
        if not steps.is_empty:
            existing = tables.read(list(names))
    pending = {**difference.find_problems(wanted, existing), **refusals}
    unjoined = difference.find_unjoined(router.peers, existing)
    return Converged(pending, len(steps.create), len(steps.delete), unjoined, router_client.patches)


def reattach(
    target: ManagementTarget,
    router: DesiredRouter,
    *,
    unread: Mapping[str, Collection[str]],
) -> Sequence[str]:
    """Recreate autoLinks that are active at the router but unknown to the broker.

    ``unread``: name of a broker -> names of its queues without a consumer. Returns the addresses
    of the recreated autoLinks; it does not check whether the broker accepts these.

    A broker that fails in the middle of a large message drops its consumer without closing the
    link. The router shows the link as active, but no client gets the stored messages. Links in any
    other state are left alone: the router attaches them itself.

    Raises:
        Unreachable: no answer in time; the next call finds what was done.
        Refused: the router refused a query.
    """
    suspects = [
        entity
        for entity in entities.build(router)
        if any(entity.reads(broker, queue) for broker, queues in unread.items() for queue in queues)
    ]
    with client.connected(target, purpose="reattach") as router_client:
        tables = RouterTables(router_client)
        existing = tables.read_some(suspects)
        # No problem according to the router, but no consumer at the broker: the link is stuck.
        stuck = [entity for entity in suspects if not difference.find_problem(entity, existing)]
        names = [(entity.kind, entity.name) for entity in stuck]
        tables.apply(difference.Difference(delete=names, create=stuck))
    return [entity.address for entity in stuck]


def disconnect_clients(
    target: ManagementTarget,
    router: DesiredRouter,
    *,
    leaving: Collection[str] = (),
) -> int:
    """Close client connections that are not permitted any more; return how many were closed.

    A connection is closed if one of these is true:

    * its user is not in ``router.allowed``;
    * it was opened before the time that ``router.allowed`` has for its user;
    * it has a link on one of the ``leaving`` addresses.

    Clients are expected to reconnect by themselves.

    Raises:
        Unreachable: no answer in time.
        Refused: the router refused a query.
    """
    now = datetime.now(UTC)
    with client.connected(target, purpose="disconnect") as router_client:
        tables = RouterTables(router_client)
        rows = tables.client_connections()
        on_leaving = tables.connections_on(leaving) if leaving else set()
        unauthorized = [
            row
            for row in rows
            if str(row["identity"]) in on_leaving or not _is_allowed(row, router, now)
        ]
        return sum(router_client.close_connection(str(row["identity"])) for row in unauthorized)


def close_connections(
    target: ManagementTarget, *, boot_id: str | None, ids: Collection[str], user: str | None
) -> int:
    """Close the client connections in ``ids`` and those of ``user``; return how many were open.

    ``boot_id`` is the incarnation from which ``ids`` come. In another incarnation ``ids`` is
    ignored; None means that it is not compared. ``user``: None closes no connection by user.
    Internal connections are never closed. Idempotent.

    Raises:
        Unreachable: no answer in time.
        Refused: the router refused the query.
    """
    with client.connected(target, purpose="close") as router_client:
        if boot_id is not None and RouterTables(router_client).incarnation() != boot_id:
            ids = ()
        return connections.close(router_client, ids, user)


def snapshot(
    target: ManagementTarget,
    *,
    addresses: Sequence[MeteredAddress],
    internal_users: Collection[str] = (),
) -> InstanceSnapshot:
    """Read the router's counters, gauges and open client connections for metering, once.

    There are counters of direct addresses only: stored addresses are metered at their brokers. An
    address that the router does not show is left out. Open connections of ``internal_users`` are
    left out of the list, but ``connections_opened`` counts them; it is exact.

    Raises:
        Unreachable: the router does not answer; its counters are then unknown.
        Refused: the router refused a query.
    """
    with client.connected(
        target, purpose="meter", greeting_seconds=management.GREETING_SECONDS
    ) as router_client:
        tables = RouterTables(router_client)
        incarnation = tables.incarnation()
        rows = router_client.query(
            "router.address", "name", "deliveriesIngress", "deliveriesEgress", "subscriberCount"
        )
        seen = tables.client_connections()
        opened = tables.connections_opened()
        links = connections.read_links(tables, seen)
        described = connections.describe(seen, links)
        health = connections.health(tables, links)
    by_key = {str(row["name"]): row for row in rows}
    return InstanceSnapshot(
        boot_id=incarnation,
        addresses=_direct_counters(addresses, by_key),
        gauges=_gauges(addresses, by_key),
        connections=[
            connection for connection in described if connection.user not in internal_users
        ],
        connections_opened=opened,
        health=health,
    )


def _direct_counters(
    addresses: Sequence[MeteredAddress], by_key: Mapping[str, Row]
) -> list[AddressCounters]:
    """Return the counters of the direct addresses that have a row in the router's table."""
    # An address without a row has no counters yet. In the router's address table the key of an
    # address of clients ("mobile") in phase 0 begins with ``M0``.
    found = [
        (metered.address, by_key.get(f"M0{metered.address}"))
        for metered in addresses
        if RouterAddressKind.of_type(metered.type).is_direct
    ]
    return [
        AddressCounters(name, int(row["deliveriesIngress"]), int(row["deliveriesEgress"]))
        for name, row in found
        if row is not None
    ]


def probe(target: ManagementTarget, address: str, *, timeout_seconds: float = 5) -> float:
    """Send a message through the internal ``address`` and read it back; return the seconds it took.

    ``address`` is one of ``desired.probe_twins``.

    Raises:
        ProbeFailed: the router refused a link, or the message did not come back in time.
        Unreachable: no connection to the router can be opened.
    """
    return probing.through_router(target, address, timeout_seconds=timeout_seconds)


def _gauges(
    addresses: Sequence[MeteredAddress], by_key: Mapping[str, Row]
) -> Mapping[str, AddressGauges]:
    """Return {address: gauges} from the router's address table, without topics and unknown ones.

    A direct address has its messages and receivers. A stored one has receivers only: clients
    receive from it in phase 1, and phase 0 leads to its brokers. ``by_key`` are the rows of the
    table.
    """
    # Routers know a subscription as <topic>::<name>.
    phase_1 = {key[2:].rpartition("::")[2]: row for key, row in by_key.items() if key[:2] == "M1"}
    found: dict[str, AddressGauges] = {}
    for metered in addresses:
        name, kind = metered.address, RouterAddressKind.of_type(metered.type)
        row = by_key.get(f"M0{name}") if kind.is_direct else phase_1.get(name)
        if row is None or kind is RouterAddressKind.TOPIC:
            continue
        direct = (int(row["deliveriesIngress"]), int(row["deliveriesEgress"]))
        arrived, left = direct if kind.is_direct else (0, 0)
        found[name] = AddressGauges(arrived, left, consumers=int(row["subscriberCount"]))
    return found


def _that_may_have_changed(wanted: Sequence[Entity], only: Collection[str]) -> Sequence[Entity]:
    """Return those of ``wanted`` that ``converge`` checks if only some addresses changed.

    These are the entities of the addresses ``only``, connectors, all link routes, and the entities
    for probes. All link routes, because a new address below a topic changes the topic's route.
    """
    return [
        entity
        for entity in wanted
        if entity.address in only
        or entity.kind in (entities.CONNECTOR, entities.LINK_ROUTE)
        or entity.address.startswith(PROBE_PREFIX)
    ]


def _is_allowed(row: Row, router: DesiredRouter, now: datetime) -> bool:
    since = router.allowed.get(str(row["user"]))
    if since is None:
        return False
    age = float(row["uptimeSeconds"] or 0)
    # The router counts the uptime in ticks of one second. So the computed time of opening is up to
    # one second too early or too late.
    return now.timestamp() - age >= since.timestamp()
