"""The router driver: configure a running router, disconnect clients, read its state.

Called by the reconcile steps and by metering. The same entities are in the router's own file
(``config``), so a restarted router is complete before this module connects. A change counts only
after it was read back.

The counters of a direct address must exist as long as the address. A router keeps them while a link
uses the address. So each direct address has an autoLink to a connection that never exists
(``entities.HOLD``). It is in the router's file too, and no session of ours has to stay open.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tenants.router_patches import Patch
from workers.messaging.brokers.snapshot import MeteredAddress
from workers.messaging.observed import (
    AddressCounters,
    ConnectionSeen,
    InstanceSnapshot,
    ManagementTarget,
)
from workers.messaging.routers import client, difference, entities, probing
from workers.messaging.routers.client import Row
from workers.messaging.routers.desired import (
    PROBE_PREFIX,
    DesiredRouter,
    RoutedAddress,
    RouterAddressKind,
)
from workers.messaging.routers.entities import Entity
from workers.messaging.routers.tables import RouterTables

_FEW = 200  # up to this number of entities, single READs cost less than one QUERY of everything


@dataclass(frozen=True)
class Converged:
    """Result of ``converge``.

    ``pending``: address -> why it does not work yet; the key "" stands for the router itself.
    ``unjoined``: peer without a connection -> the router's text.
    ``patches``: which of our patches the router has.
    """

    pending: Mapping[str, str] = field(default_factory=dict)
    created: int = 0
    deleted: int = 0
    unjoined: Mapping[str, str] = field(default_factory=dict)
    patches: frozenset[Patch] = frozenset()


def find_incarnation(target: ManagementTarget) -> str:
    """Return the identity of the router's current incarnation. Raises ``Unreachable``."""
    with client.connected(target, purpose="incarnation") as router_client:
        return RouterTables(router_client).incarnation()


def converge(
    target: ManagementTarget,
    router: DesiredRouter,
    *,
    leaving: Sequence[RoutedAddress] = (),
    only: Collection[str] | None = None,
) -> Converged:
    """Create and delete entities until the router has what is desired; report what fails.

    ``leaving`` addresses lose all entities except the hold that keeps their counters.
    ``only`` names the addresses that changed: the cost of this short path depends on the change
    alone. None reads and repairs everything.
    Idempotent.

    Raises:
        Unreachable: no answer in time; the next call finds what was done.
    """
    wanted: Sequence[Entity] = [*entities.build(router), *entities.build_holds(leaving)]
    complete: Collection[str] = entities.ORDER
    with client.connected(target, purpose="converge") as router_client:
        tables = RouterTables(router_client)
        # Leaving addresses lose entities, and only a full read finds those.
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
    """Bring the entities of ``router.addresses`` to the desired state; leave all others alone.

    ``leaving`` addresses keep only their hold, ``gone`` ones nothing. The cost depends on these
    addresses and on the number of brokers, not on the other addresses. Idempotent.

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
    """Recreate the autoLinks that read the queues ``unread`` (by broker); return their addresses.

    A broker that fails in the middle of a large message drops its consumer without closing the
    link. The router shows the link as active, but no client gets the stored messages. Links in any
    other state are left alone: the router attaches them itself.

    Raises:
        Unreachable: no answer in time; the next call finds what was done.
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

    These are connections of unknown users, connections opened before the user's moment in
    ``router.allowed``, and connections with a link on a ``leaving`` address. Clients reconnect by
    themselves.

    Raises:
        Unreachable: no answer in time.
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


def snapshot(
    target: ManagementTarget,
    *,
    addresses: Sequence[MeteredAddress],
    internal_users: Collection[str] = (),
) -> InstanceSnapshot:
    """Return one cumulative snapshot for metering.

    It has counters of direct addresses only: stored addresses are metered at their broker.
    Connections are those to the public listener; the listener's vhost counts them exactly.

    Raises:
        Unreachable: the router does not answer; its counters are then unknown.
    """
    direct = [
        metered.address
        for metered in addresses
        if RouterAddressKind.of_type(metered.type).is_direct
    ]
    with client.connected(target, purpose="meter") as router_client:
        tables = RouterTables(router_client)
        incarnation = tables.incarnation()
        rows = router_client.query(
            "router.address", "name", "deliveriesIngress", "deliveriesEgress"
        )
        seen = tables.client_connections()
        opened = tables.connections_opened()
    # An address without a row has no counters yet and is left out. The key of a mobile address in
    # phase 0 begins with ``M0``.
    by_key = {str(row["name"]): row for row in rows}
    found = [(address, by_key.get(f"M0{address}")) for address in direct]
    return InstanceSnapshot(
        boot_id=incarnation,
        addresses=[
            AddressCounters(name, int(row["deliveriesIngress"]), int(row["deliveriesEgress"]))
            for name, row in found
            if row is not None
        ],
        connections=[
            ConnectionSeen(
                id=str(row["identity"]),
                user=str(row["user"]),
                container=str(row["container"]),
                remote_host=str(row["host"]),
            )
            for row in seen
            if row["user"] not in internal_users
        ],
        connections_opened=opened,
    )


def probe(target: ManagementTarget, address: str, *, timeout_seconds: float = 5) -> float:
    """Send a message through an internal address of the router; see ``probing``."""
    return probing.through_router(target, address, timeout_seconds=timeout_seconds)


def _that_may_have_changed(wanted: Sequence[Entity], only: Collection[str]) -> Sequence[Entity]:
    """Return the entities for the short path: those of ``only``, and the few shared ones.

    All link routes are included, because a new address below a topic changes the topic's route.
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
    # The router shows whole seconds: a connection may be up to one second older than shown.
    return now.timestamp() - age >= since.timestamp()
