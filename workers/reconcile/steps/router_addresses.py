"""Apply addresses and links to the running routers, and disconnect clients without permission.

An address is deleted in this order:

1. Its entities are deleted, except the one that keeps its counters. So a router with the patch
   ``closed-address`` accepts no new link on it.
2. Connections with a link on it are closed.
3. The step ``departures`` takes the last sample.
4. ``forget_departed`` deletes the entity that kept the counters.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import structlog

from controlplane.core.reasons import Reason
from tenants.models import AddressSpace
from tenants.router_patches import Patch
from workers.messaging.routers.driver import Converged
from workers.reconcile import desired_routers, meshing
from workers.reconcile.desired_routers import DesiredRouters
from workers.reconcile.findings import (
    BrokerAddresses,
    Departures,
    Instances,
    Problem,
    RouterAddresses,
)
from workers.reconcile.management import ManagedBrokers, ManagedRouters
from workers.reconcile.outcome import Done, Outcome, StepResult, Wait, attempt
from workers.reconcile.space_rows import SpaceRows

logger = structlog.get_logger(__name__)


def ensure(
    routers: ManagedRouters,
    brokers: ManagedBrokers,
    desired: DesiredRouters,
    instances: Instances,
    addresses: BrokerAddresses,
) -> StepResult[RouterAddresses]:
    """Make every router that is up hold what the rows ask for; the outcome is Wait until then.

    Closes connections that are not permitted any more. The outcome is also Wait until the auth
    service knows all changes of logins. ``addresses`` ensures that the brokers have their queues
    before the routers attach links to them.
    """
    rows = desired.rows
    # An address that brokers refuse cannot clash: it never becomes an entity of a router.
    at_brokers = replace(desired, down=instances.down, refused=addresses.problems)
    problems = {**addresses.problems, **_find_clashes(at_brokers)}
    found = RouterAddresses(replace(at_brokers, refused=problems), problems)

    def converge() -> Outcome:
        nonlocal found
        seen = {
            name: _converge(routers, found.desired, instances, name)
            for name in found.desired.list_up()
        }
        if _remember_patches(rows, [converged.patches for converged in seen.values()]):
            return Wait(0, Reason.ROUTERS_IDENTIFIED)  # the patches decide what routers should hold
        unjoined = {name: converged.unjoined for name, converged in seen.items()}
        found = replace(
            found, unjoined=meshing.find_unjoined(rows.router_names, instances.down, unjoined)
        )
        # Before the wait for links, so that clients lose withdrawn permissions without delay.
        waiting = _disconnect_clients(routers, found.desired)
        pending: dict[str, str] = {}
        for converged in seen.values():
            pending |= converged.pending
        if pending:
            address, reason = min(pending.items())
            return Wait(0.3, Reason.LINKS_PENDING, f"{address or 'the router'}: {reason}")
        # Only in full passes, because it lists the queues of every broker.
        if rows.full:
            _repair_stuck(routers, brokers, found.desired, instances)
        return waiting or Done()

    # The findings made so far are kept if a router does not answer.
    outcome = attempt(converge)
    return StepResult(outcome, found)


def forget_departed(
    routers: ManagedRouters, addresses: RouterAddresses, departures: Departures
) -> StepResult[None]:
    """Delete the entities that kept the counters of addresses which no broker holds any more.

    It does so at every router of the space. If one is down, the outcome is Wait.
    """
    if not departures.gone:
        return StepResult(Done(), None)
    desired = addresses.desired
    rows = desired.rows
    leaving = rows.leaving_addresses
    staying = [
        desired_routers.routed(rows, row) for row in leaving if row.id not in departures.gone
    ]
    gone = [desired_routers.routed(rows, row) for row in leaving if row.id in departures.gone]
    for name in rows.router_names:
        target, router = routers.targets.of(name), desired.build(name)
        if rows.partial:
            routers.driver.apply(target, router, leaving=staying, gone=gone)
        else:
            routers.driver.converge(target, router, leaving=staying)
    return StepResult(Done(), None)


def _find_clashes(desired: DesiredRouters) -> Mapping[str, Problem]:
    """Return {address id: problem} for addresses that routers cannot tell from an older one."""
    clashes = desired.find_clashes()
    found: dict[str, Problem] = {}
    for row in desired.rows.wanted_addresses:
        name = desired_routers.routed(desired.rows, row).address
        if name in clashes:
            found[row.id] = Problem(
                Reason.ADDRESS_NOT_POSSIBLE,
                f"Routers cannot distinguish this address from {clashes[name]!r}, because `.` and "
                "`/` are the same to them: delete it and choose another name.",
                final=True,
            )
    return found


def _remember_patches(rows: SpaceRows, seen: Sequence[frozenset[Patch]]) -> bool:
    """Store the patches that every running router has; return whether the stored value has changed.

    ``seen`` has the patches of each router. The row in ``rows`` keeps the old value.
    """
    known = rows.space.router_patches
    common = sorted(frozenset.intersection(*seen)) if seen else known
    if common == known:
        return False
    AddressSpace.objects.filter(id=rows.space.id).update(router_patches=common)
    return True


def _converge(
    routers: ManagedRouters, desired: DesiredRouters, instances: Instances, name: str
) -> Converged:
    rows = desired.rows
    target, router = routers.targets.of(name), desired.build(name)
    leaving = desired_routers.list_leaving(rows)
    if rows.partial:
        return routers.driver.apply(target, router, leaving=leaving)
    # A change of the space may be a plan with another number of routers. Then it is not known what
    # each of them holds.
    is_changed = rows.space.generation > rows.space.observed_generation
    everything = rows.full or instances.holds_unknown(rows) or is_changed
    changed = {desired_routers.routed(rows, address).address for address in rows.changed_addresses}
    return routers.driver.converge(
        target, router, leaving=leaving, only=None if everything else changed
    )


def _repair_stuck(
    routers: ManagedRouters, brokers: ManagedBrokers, desired: DesiredRouters, instances: Instances
) -> None:
    """Recreate links that a router shows as active although their queue has no consumer.

    ``reattach`` of the router driver describes how such links come about.
    """
    unread = {
        broker.name: brokers.driver.list_unread(brokers.targets.of(broker.name))
        for broker in instances.list_up(desired.rows)
    }
    for name in desired.list_up():
        target, router = routers.targets.of(name), desired.build(name)
        repaired = routers.driver.reattach(target, router, unread=unread)
        if repaired:
            logger.warning(
                "stuck_links_recreated", space_id=desired.rows.space.id, addresses=repaired
            )


def _disconnect_clients(routers: ManagedRouters, desired: DesiredRouters) -> Wait | None:
    """Close connections that are not permitted any more, and those with links on leaving addresses.

    Return a wait if the auth service may not know a change of logins yet, else None. Does nothing
    unless the pass is full, a user or all logins have changed, or an address is being deleted.
    """
    rows = desired.rows
    leaving = [address.address for address in desired_routers.list_leaving(rows)]
    is_changed = rows.has_other_logins or any(
        user.generation > user.observed_generation for user in rows.users
    )
    if not (rows.full or leaving or is_changed):
        return None
    for name in desired.list_up():
        routers.driver.disconnect_clients(
            routers.targets.of(name), desired.build(name), leaving=leaving
        )
    # Until then a client may log in with its old permissions, so another pass must look for it.
    remaining = (desired_routers.settles_at(rows) - rows.now).total_seconds()
    return Wait(min(remaining, 1.0), Reason.LOGINS_REFRESHING) if remaining > 0 else None
