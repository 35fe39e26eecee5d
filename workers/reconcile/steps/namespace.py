"""The namespace of the space, its isolation, and the room it has there."""

from plans import catalog
from workers.infra.base import Room
from workers.reconcile.doors import Doors
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.work import Work


def ensure(work: Work, doors: Doors) -> Outcome:
    doors.infra.ensure_namespace(work.namespace, _room(work))
    return Done()


def remove(work: Work, doors: Doors) -> Outcome:
    if work.keeps_volumes:
        return Done("volumes are kept")
    gone = doors.infra.delete_namespace(work.namespace)
    return Done() if gone else Wait(1, "NamespaceEnding")


def _room(work: Work) -> Room:
    plan = catalog.space_plan_definition(work.space.space_plan)
    # Brokers that a smaller plan no longer allows stay until they are drained.
    brokers = max(plan.max_brokers, len(work.brokers))
    return Room(brokers, plan.broker_memory_mb, plan.routers)
