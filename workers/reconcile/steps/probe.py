"""Ready means it works: a message through the twin of each kind of address on each broker."""

from workers.messaging.brokers import desired
from workers.messaging.brokers.desired import Holds
from workers.messaging.probe import ProbeFailed
from workers.reconcile import desired_brokers, reaching
from workers.reconcile.doors import Doors
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.work import Work


def ensure(work: Work, doors: Doors) -> Outcome:
    """Probe what changed; a full pass probes every kind in use. Routers' probe is their step's."""
    changed = {each.address for each in work.changed_addresses}
    for broker in work.up_brokers:
        kinds = {
            each.holds
            for each in desired_brokers.list_addresses(work, broker)
            if work.full or each.address in changed
        }
        if not work.addresses:
            kinds = {Holds.QUEUE}  # a new space must be seen to work before its first address
        target = reaching.broker(work, doors, broker.name)
        for kind in sorted(kinds):
            try:
                doors.brokers.probe(target, desired.probe_address(kind))
            except ProbeFailed as error:
                return Wait(1, f"ProbeFailed: {error}")
    work.probed = True
    return Done()
