"""The broker instances: files in place, processes up, management answering; one at a time."""

from workers.infra.base import Kind
from workers.reconcile import desired_brokers, reaching, rolling
from workers.reconcile.doors import Doors
from workers.reconcile.outcome import Done, Outcome
from workers.reconcile.work import Work


def ensure(work: Work, doors: Doors) -> Outcome:
    def answers(name: str) -> bool:
        return reaching.answers(lambda: doors.brokers.find_life(reaching.broker(work, doors, name)))

    specs = [
        desired_brokers.spec(work, each, doors.infra.place(work.namespace, Kind.BROKER, each.name))
        for each in work.brokers
    ]
    return rolling.ensure(work, doors, specs, answers)


def remove(work: Work, doors: Doors) -> Outcome:
    """Stop and delete every broker; called only after the last sample of an emptied space.

    What is stored goes too, unless the person who deleted the space asked to keep it.
    """
    for instance in doors.infra.list_instances(work.namespace):
        if instance.kind is Kind.BROKER:
            doors.infra.delete_instance(
                work.namespace, instance.name, keep_volume=work.keeps_volumes
            )
    return Done()
