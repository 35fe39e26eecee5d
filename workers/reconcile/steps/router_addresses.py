"""Apply addresses and links to the running routers, and disconnect clients without permission.

An address is deleted in this order:

1. Its entities are deleted, except the one that keeps its counters. So no new link can attach.
2. Connections with a link on it are closed.
3. ``departures`` takes the last sample.
4. ``forget_departed`` deletes the entity that kept the counters.
"""

from collections.abc import Mapping, Sequence

import structlog

from controlplane.core.reasons import Reason
from tenants.models import AddressSpace
from tenants.router_patches import Patch
from workers.messaging.routers.driver import Converged
from workers.reconcile import desired_routers, management_targets, meshing
from workers.reconcile.context import Problem, ReconcileContext
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.ports import Ports

logger = structlog.get_logger(__name__)


def ensure(context: ReconcileContext, ports: Ports) -> Outcome:
    _refuse_clashes(context)
    pending: dict[str, str] = {}
    unjoined: dict[str, Mapping[str, str]] = {}
    patches: list[frozenset[Patch]] = []
    for name in desired_routers.list_up(context):
        converged = _converge(context, ports, name)
        pending |= converged.pending
        unjoined[name] = converged.unjoined
        patches.append(converged.patches)
    if _remember_patches(context, patches):
        return Wait(0, Reason.ROUTERS_IDENTIFIED)  # the patches decide what the routers should hold
    context.unjoined = meshing.find_unjoined(context, unjoined)
    # Before the wait for links, so that clients lose withdrawn permissions without delay.
    waiting = _disconnect_clients(context, ports)
    if pending:
        address, reason = min(pending.items())
        return Wait(0.3, Reason.LINKS_PENDING, f"{address or 'the router'}: {reason}")
    # Only in full passes, because it lists the queues of every broker.
    if context.full:
        _repair_stuck(context, ports)
    return waiting or Done()


def forget_departed(context: ReconcileContext, ports: Ports) -> Outcome:
    """Delete the entities that kept the counters of addresses that are sampled and gone."""
    if not context.gone:
        return Done()
    leaving = context.leaving_addresses
    staying = [
        desired_routers.routed(context, row) for row in leaving if row.id not in context.gone
    ]
    gone = [desired_routers.routed(context, row) for row in leaving if row.id in context.gone]
    for name in desired_routers.list_names(context):
        target = management_targets.router(context, ports, name)
        router = desired_routers.build(context, ports, name)
        if context.partial:
            ports.routers.apply(target, router, leaving=staying, gone=gone)
        else:
            ports.routers.converge(target, router, leaving=staying)
    return Done()


def _remember_patches(context: ReconcileContext, seen: Sequence[frozenset[Patch]]) -> bool:
    """Store the patches that all running routers have; return whether they have changed."""
    common = sorted(frozenset.intersection(*seen)) if seen else context.space.router_patches
    if common == context.space.router_patches:
        return False
    AddressSpace.objects.filter(id=context.space.id).update(router_patches=common)
    context.space.router_patches = common
    return True


def _converge(context: ReconcileContext, ports: Ports, name: str) -> Converged:
    target = management_targets.router(context, ports, name)
    router = desired_routers.build(context, ports, name)
    leaving = desired_routers.list_leaving(context)
    if context.partial:
        return ports.routers.apply(target, router, leaving=leaving)
    # A change of the space may be another number of routers, and one of them may hold anything.
    is_changed = context.space.generation > context.space.observed_generation
    everything = context.full or context.holds_unknown or is_changed
    changed = {
        desired_routers.routed(context, address).address for address in context.changed_addresses
    }
    return ports.routers.converge(
        target,
        router,
        leaving=leaving,
        only=None if everything else changed,
    )


def _repair_stuck(context: ReconcileContext, ports: Ports) -> None:
    """Recreate links that a router shows as active although their broker has no consumer."""
    unread = {
        broker.name: ports.brokers.list_unread(
            management_targets.broker(context, ports, broker.name)
        )
        for broker in context.up_brokers
    }
    for name in desired_routers.list_up(context):
        target, router = (
            management_targets.router(context, ports, name),
            desired_routers.build(context, ports, name),
        )
        repaired = ports.routers.reattach(target, router, unread=unread)
        if repaired:
            logger.warning("stuck_links_recreated", space_id=context.space.id, addresses=repaired)


def _refuse_clashes(context: ReconcileContext) -> None:
    clashes = desired_routers.find_clashes(context)
    for row in context.wanted_addresses:
        name = desired_routers.routed(context, row).address
        if name in clashes:
            context.problems[row.id] = Problem(
                Reason.ADDRESS_NOT_POSSIBLE,
                f"Routers cannot distinguish this address from {clashes[name]!r}, because `.` and "
                "`/` are the same to them: delete it and choose another name.",
                final=True,
            )


def _disconnect_clients(context: ReconcileContext, ports: Ports) -> Wait | None:
    """Close connections without permission; wait until the auth service knows the change."""
    leaving = [address.address for address in desired_routers.list_leaving(context)]
    if not (context.full or leaving or _has_changed_permissions(context)):
        return None
    for name in desired_routers.list_up(context):
        router = desired_routers.build(context, ports, name)
        ports.routers.disconnect_clients(
            management_targets.router(context, ports, name), router, leaving=leaving
        )
    # Until then a client may still get in with its old permissions, so the step runs once more.
    remaining = (desired_routers.settles_at(context) - context.now).total_seconds()
    return Wait(min(remaining, 1.0), Reason.LOGINS_REFRESHING) if remaining > 0 else None


def _has_changed_permissions(context: ReconcileContext) -> bool:
    return context.has_other_logins or any(
        user.generation > user.observed_generation for user in context.users
    )
