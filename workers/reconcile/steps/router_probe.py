"""Ready means it works: a message through each router, over the twin of each shape that changed."""

from workers.messaging.probe import ProbeFailed
from workers.messaging.routers.desired import Shape, probe_address
from workers.reconcile import desired_routers, reaching
from workers.reconcile.doors import Doors
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.work import Work

# The twin that shows the same way: direct, stored behind a waypoint, or link routed.
_TWINS = {
    Shape.ANYCAST: Shape.ANYCAST,
    Shape.MULTICAST: Shape.ANYCAST,
    Shape.QUEUE: Shape.QUEUE,
    Shape.SUBSCRIPTION: Shape.QUEUE,
    Shape.DEADLETTER: Shape.QUEUE,
    Shape.TOPIC: Shape.TOPIC,
}


def ensure(work: Work, doors: Doors) -> Outcome:
    """Probe what changed; a full pass probes every shape in use."""
    rows = work.wanted_addresses if work.full else work.changed_addresses
    shapes = {_TWINS[Shape(each.type)] for each in rows if each.id not in work.problems}
    if not work.addresses:
        shapes = {Shape.ANYCAST}  # a new space must be seen to work before its first address
    for name in desired_routers.list_up(work):
        target = reaching.router(work, doors, name)
        for shape in sorted(shapes):
            try:
                doors.routers.probe(target, probe_address(shape))
            except ProbeFailed as error:
                return Wait(1, f"ProbeFailed: {error}")
    return Done()
