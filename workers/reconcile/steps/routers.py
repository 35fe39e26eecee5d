"""The router instances: files in place, processes up, management answering; and their end.

The rendered file holds every entity that the next step keeps live, so a router that restarts by
itself serves as before with nothing of ours alive.
"""

from workers.infra.base import InstanceSpec, Kind
from workers.reconcile import desired_routers, reaching, rolling
from workers.reconcile.doors import Doors
from workers.reconcile.outcome import Done, Outcome
from workers.reconcile.steps.emptying import close_all
from workers.reconcile.work import Work


def ensure(work: Work, doors: Doors) -> Outcome:
    def answers(name: str) -> bool:
        return reaching.answers(lambda: doors.routers.find_life(reaching.router(work, doors, name)))

    specs = [_spec(work, doors, name, emptied=False) for name in desired_routers.list_names(work)]
    return rolling.ensure(work, doors, specs, answers)


def empty(work: Work, doors: Doors) -> Outcome:
    """Take the space from its clients: no addresses, nobody connected, counters still there.

    The auth service lets nobody in any more as soon as the deletion is asked for.
    """
    running = {each.name for each in doors.infra.list_instances(work.namespace)}
    names = [each for each in desired_routers.list_names(work) if each in running]
    return close_all(work, names, lambda name: close(work, doors, name)) or Done()


def remove(work: Work, doors: Doors) -> Outcome:
    """Stop and delete every router; called only after the last sample."""
    for instance in doors.infra.list_instances(work.namespace):
        if instance.kind is Kind.ROUTER:
            doors.infra.delete_instance(work.namespace, instance.name)
    return Done()


def _spec(work: Work, doors: Doors, name: str, *, emptied: bool) -> InstanceSpec:
    layout = doors.infra.place(work.namespace, Kind.ROUTER, name)
    router = desired_routers.build(work, doors, name, emptied=emptied)
    return desired_routers.spec(work, router, layout, doors.routing.engine)


def close(work: Work, doors: Doors, name: str) -> None:
    """Take one router from its clients, its counters still there.

    Raises:
        Unreachable, Refused, InfraError: it, or its place, cannot be asked or says no.
    """
    # A restart now would lose what is counted since the last sample.
    doors.infra.ensure_instance(_spec(work, doors, name, emptied=True), may_restart=False)
    target = reaching.router(work, doors, name)
    router = desired_routers.build(work, doors, name, emptied=True)
    everything = [desired_routers.routed(work, each) for each in work.addresses]
    doors.routers.converge(target, router, leaving=everything)
    doors.routers.cut_off(target, router)
