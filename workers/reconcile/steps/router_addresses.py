"""What the running routers hold: addresses and links, read back; and who may be connected.

An address on its way out goes in this order: its entities are deleted, so nobody attaches any more,
but for the one that keeps its counters; connections with a link on it are closed; ``departures``
takes the last sample; ``forget_departed`` deletes the rest.
"""

from collections.abc import Mapping, Sequence

import structlog

from tenants.models import AddressSpace
from tenants.router_patches import Patch
from workers.messaging.routers.driver import Converged
from workers.reconcile import desired_routers, meshing, reaching
from workers.reconcile.doors import Doors
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.work import Problem, Work

logger = structlog.get_logger(__name__)


def ensure(work: Work, doors: Doors) -> Outcome:
    _refuse_clashes(work)
    pending: dict[str, str] = {}
    unjoined: dict[str, Mapping[str, str]] = {}
    patches: list[frozenset[Patch]] = []
    for name in desired_routers.list_up(work):
        converged = _converge(work, doors, name)
        pending |= converged.pending
        unjoined[name] = converged.unjoined
        patches.append(converged.patches)
    if _remember_patches(work, patches):
        return Wait(0, "RoutersIdentified")  # what they should hold follows from what they can do
    work.unjoined = meshing.find_unjoined(work, unjoined)
    waiting = _cut_off(work, doors)
    if pending:
        address, reason = min(pending.items())
        return Wait(0.3, f"LinksPending: {address or 'the router'}: {reason}")
    if work.full:
        _repair_stuck(work, doors)
    return waiting or Done()


def forget_departed(work: Work, doors: Doors) -> Outcome:
    """Delete what still kept the counters of addresses whose last sample is taken."""
    if not work.gone:
        return Done()
    for name in desired_routers.list_names(work):
        target = reaching.router(work, doors, name)
        staying = [
            desired_routers.routed(work, each)
            for each in work.leaving_addresses
            if each.id not in work.gone
        ]
        doors.routers.converge(target, desired_routers.build(work, doors, name), leaving=staying)
    return Done()


def _remember_patches(work: Work, seen: Sequence[frozenset[Patch]]) -> bool:
    """Write down what all routers that are up can do; return whether that is news."""
    common = sorted(frozenset.intersection(*seen)) if seen else work.space.router_patches
    if common == work.space.router_patches:
        return False
    AddressSpace.objects.filter(id=work.space.id).update(router_patches=common)
    work.space.router_patches = common
    return True


def _converge(work: Work, doors: Doors, name: str) -> Converged:
    # A router that came with this change, or was on its way out before it, may hold anything.
    everything = work.full or work.space.generation > work.space.observed_generation
    changed = {desired_routers.routed(work, each).address for each in work.changed_addresses}
    return doors.routers.converge(
        reaching.router(work, doors, name),
        desired_routers.build(work, doors, name),
        leaving=desired_routers.list_leaving(work),
        only=None if everything else changed,
    )


def _repair_stuck(work: Work, doors: Doors) -> None:
    """Recreate links that a router calls active while their broker knows no consumer."""
    unread = {
        broker.name: doors.brokers.list_unread(reaching.broker(work, doors, broker.name))
        for broker in work.up_brokers
    }
    for name in desired_routers.list_up(work):
        target, router = (
            reaching.router(work, doors, name),
            desired_routers.build(work, doors, name),
        )
        repaired = doors.routers.reattach(target, router, unread=unread)
        if repaired:
            logger.warning("stuck_links_recreated", space_id=work.space.id, addresses=repaired)


def _refuse_clashes(work: Work) -> None:
    clashes = desired_routers.find_clashes(work)
    for each in work.wanted_addresses:
        name = desired_routers.routed(work, each).address
        if name in clashes:
            work.problems[each.id] = Problem(
                "AddressNotPossible",
                f"Routers cannot tell this address from {clashes[name]!r}, because `.` and `/` are "
                "the same to them: delete it and choose another name.",
                final=True,
            )


def _cut_off(work: Work, doors: Doors) -> Wait | None:
    """Close connections that may not be; once more when every login surely knows the change."""
    leaving = [each.address for each in desired_routers.list_leaving(work)]
    if not (work.full or leaving or _has_changed_permissions(work)):
        return None
    for name in desired_routers.list_up(work):
        router = desired_routers.build(work, doors, name)
        doors.routers.cut_off(reaching.router(work, doors, name), router, leaving=leaving)
    early = (desired_routers.settles_at(work) - work.now).total_seconds()
    return Wait(min(early, 1.0), "LoginsRefreshing") if early > 0 else None


def _has_changed_permissions(work: Work) -> bool:
    return work.has_other_logins or any(
        user.generation > user.observed_generation for user in work.users
    )
