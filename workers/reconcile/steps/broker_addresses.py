"""What the running brokers hold: addresses, limits, users and permissions, read back.

The files of the step before say all of it; here the broker is asked to load them, what is missing
is created, everything is read back, and clients that hold what they may not have are cut off.
Addresses on their way out are the business of ``departures``.
"""

from tenants.models import Broker
from workers.messaging.brokers import desired
from workers.messaging.brokers.desired import DesiredBroker
from workers.messaging.management import Refused
from workers.messaging.observed import ManagementTarget
from workers.reconcile import desired_brokers, reaching
from workers.reconcile.doors import Doors
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.work import Problem, Work

_IMPOSSIBLE = Problem(
    "AddressNotPossible",
    "No broker can carry an address of this name: delete it and choose one without control "
    "characters, `${` or a reserved beginning.",
    final=True,
)


def ensure(work: Work, doors: Doors) -> Outcome:
    for address in work.wanted_addresses:
        if not desired.is_possible(address.address):
            work.problems[address.id] = _IMPOSSIBLE
    pending: dict[str, str] = {}
    for broker in work.up_brokers:
        pending |= _converge(work, doors, broker)
    if pending:
        name, reason = min(pending.items())
        return Wait(0.3, f"SettingsPending: {name}: {reason}")
    return Done()


def _converge(work: Work, doors: Doors, broker: Broker) -> dict[str, str]:
    target = reaching.broker(work, doors, broker.name)
    wanted = desired_brokers.build(work, broker)
    everything = work.full or _has_changed_permissions(work)
    # A subscription is a queue of its topic, so the topic is what has changed on the broker.
    changed = {(each.topic or each).address for each in work.changed_addresses}
    try:
        only = None if everything else changed
        pending = doors.brokers.converge(target, wanted, only=only).pending
    except Refused as error:
        pending = {broker.name: str(error)}  # who may hold nothing is cut off all the same
    if everything:
        doors.brokers.cut_off(target, wanted)
    if work.full:
        _remove_strays(work, doors, target, wanted)
    return pending


def _remove_strays(
    work: Work, doors: Doors, target: ManagementTarget, wanted: DesiredBroker
) -> None:
    """Delete what nobody desires, but for addresses on their way out (they go after sampling)."""
    leaving = {each.address for each in work.leaving_addresses}
    strays = set(doors.brokers.list_strays(target, wanted)) - leaving
    if strays:
        doors.brokers.remove(target, strays)


def _has_changed_permissions(work: Work) -> bool:
    """Users have changed, or the space itself (sending withdrawn or restored)."""
    return work.space.generation > work.space.observed_generation or any(
        user.generation > user.observed_generation for user in work.users
    )
