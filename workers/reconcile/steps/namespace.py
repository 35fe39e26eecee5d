"""The namespace of the space and its isolation."""

from workers.reconcile.doors import Doors
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.work import Work


def ensure(work: Work, doors: Doors) -> Outcome:
    doors.infra.ensure_namespace(work.namespace)
    return Done()


def remove(work: Work, doors: Doors) -> Outcome:
    gone = doors.infra.delete_namespace(work.namespace)
    return Done() if gone else Wait(1, "NamespaceEnding")
