"""Ready means it works: a message through the twin of each kind of address on each broker.

And where brokers serve clients themselves, their listener is open.
"""

from collections.abc import Collection

from tenants.models import Broker
from workers.infra.base import Kind
from workers.messaging.brokers import desired
from workers.messaging.brokers.desired import Holds
from workers.messaging.probe import ProbeFailed
from workers.reconcile import desired_brokers, reaching
from workers.reconcile.doors import Doors
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.work import Work


def ensure(work: Work, doors: Doors) -> Outcome:
    """Probe what changed; a full pass probes every kind in use. Routers' probe is their step's."""
    for broker in work.up_brokers:
        try:
            _probe(work, doors, broker)
        except ProbeFailed as error:
            return Wait(1, f"ProbeFailed: {error}")
    work.probed = True
    return Done()


def _probe(work: Work, doors: Doors, broker: Broker) -> None:
    target = reaching.broker(work, doors, broker.name)
    for kind in sorted(_kinds(work, broker)):
        doors.brokers.probe(target, desired.probe_address(kind))
    is_new = work.space.generation > work.space.observed_generation
    if work.is_brokered and (work.full or is_new):
        layout = doors.infra.place(work.namespace, Kind.BROKER, broker.name)
        doors.brokers.probe_listener(target, layout.ports["amqps"])


def _kinds(work: Work, broker: Broker) -> Collection[Holds]:
    if not work.addresses:
        return {Holds.QUEUE}  # a new space must be seen to work before its first address
    changed = {each.address for each in work.changed_addresses}
    return {
        each.holds
        for each in desired_brokers.list_addresses(work, broker)
        if work.full or each.address in changed
    }
