"""The broker instances: files in place, processes up, management answering."""

from controlplane.core.phases import Phase
from workers.infra.base import Kind
from workers.messaging.management import Unreachable
from workers.reconcile import desired_brokers, reaching
from workers.reconcile.doors import Doors
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.work import Work


def ensure(work: Work, doors: Doors) -> Outcome:
    for broker in work.brokers:
        layout = doors.infra.place(work.namespace, Kind.BROKER, broker.name)
        doors.infra.ensure_instance(desired_brokers.spec(work, broker, layout))
    if work.space.phase == Phase.ACTIVE and not work.full:
        return Done()  # the steps that follow find out soon enough if one is away
    for broker in work.brokers:
        try:
            doors.brokers.find_life(reaching.broker(work, doors, broker.name))
        except Unreachable:
            return Wait(0.3, "BrokerStarting")
    return Done()


def remove(work: Work, doors: Doors) -> Outcome:
    """Stop and delete every broker; called only after the last sample of an emptied space."""
    for instance in doors.infra.list_instances(work.namespace):
        if instance.kind is Kind.BROKER:
            doors.infra.delete_instance(work.namespace, instance.name)
    return Done()
