"""Restart what must be restarted one at a time, each behind the readiness of all others.

Called by the steps ``brokers`` and ``routers``, for the instances of one kind. Everything that an
engine reloads reaches all of them at once; what needs a restart is given to one, and to the next
only when none is down. So a change that an instance cannot start with stops at that instance, the
others go on as they were, and taking the change back repairs it.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import timedelta

from tenants import rollouts
from tenants.models import AddressSpace
from workers.infra.base import EngineImages, InstanceSpec, InstanceStatus
from workers.reconcile import configured
from workers.reconcile.doors import Doors
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.work import Down, Work

# A start takes seconds; what is not up after this while will not be up at once.
_SOON = timedelta(seconds=60)
_SHORT_SECONDS, _LONG_SECONDS = 0.2, 10.0
# What ``explain`` says of a start, and of one that took too long.
_LASTING = {"BrokerDown", "RouterDown", "RolloutStopped"}
_OF_STARTS = _LASTING | {"BrokerStarting", "RouterStarting", "RollingOut"}
_REPLACED = (
    "UpgradeUnderWay: this space has moved to a newer version of Waypost, and the worker that "
    "looked is of the older one. Workers of the newer one go on with it."
)


def ensure(
    work: Work, doors: Doors, specs: Sequence[InstanceSpec], answers: Callable[[str], bool]
) -> Outcome:
    """Bring the instances of one kind to their specs; those that are down go to ``work.down``.

    Done while at least one serves, for the steps that follow are of use to it; ``settled`` at the
    end of the pass waits for the others. Idempotent: at most one restart a pass, and before it the
    last sample of what runs, for a restart forgets the counters.
    """
    infra = doors.infra
    seen = {spec.name: infra.ensure_instance(spec, may_restart=False) for spec in specs}
    held = [spec for spec in specs if seen[spec.name].held_back]
    work.held_back |= {spec.name for spec in held}
    if held and work.is_settled and _is_of_another_shape(work, configured.release(doors)):
        held = []
    down = _find_down(work, seen, answers, ask=bool(held))
    chosen = choose([spec.name for spec in held], seen, down)
    if chosen is not None:
        if seen[chosen].running and not doors.metering.before_restart(work.space.id, chosen):
            return Wait(_SHORT_SECONDS, "LastSamplePending")
        _remember(work)
        infra.ensure_instance(next(spec for spec in held if spec.name == chosen))
        down[chosen] = Down("it restarts with what changed")
    work.down |= down
    work.waiting |= {spec.name for spec in held} - down.keys()
    return explain(work) if specs and len(down) == len(specs) else Done()


def find_replaced(work: Work, doors: Doors) -> Wait | None:
    """Return the wait for newer workers when the space is theirs alone, None when it is ours too.

    A space of another shape than ours, after a newer version was rolled out: whatever we wrote to
    it, files that engines reload included, would be of the older version.
    """
    if work.release is None:
        return None
    ours = configured.release(doors)
    if _is_of_another_shape(work, ours) and rollouts.is_outdated(ours.revision):
        return Wait(_LONG_SECONDS, _REPLACED)
    return None


def _is_of_another_shape(work: Work, ours: EngineImages) -> bool:
    """Return whether we make instances in another way than the space was given.

    Then what differs is no change of a settled space: it waits for its wave of the rollout.
    """
    return work.release is not None and work.release.shape != ours.shape


def choose(
    held: Sequence[str], seen: dict[str, InstanceStatus], down: Collection[str]
) -> str | None:
    """Return which of the held-back instances may restart now, None for none of them.

    One that does not run loses nothing, and the change may be what repairs it. One that runs
    restarts only if no other is down.
    """
    stopped = [name for name in held if not seen[name].running]
    if stopped:
        return stopped[0]
    return next((name for name in held if not set(down) - {name}), None)


def settled(work: Work, _doors: Doors) -> Outcome:
    """Wait for the instances that an earlier step of this pass found down."""
    return explain(work) if work.down else Done()


def explain(work: Work) -> Wait:
    """Return the wait for what is down, with its reason in the words of the place."""
    name, first = min(work.down.items(), key=lambda each: (not each[1].lasting, each[0]))
    told = f"{name} is not ready: {first.words}."
    if not work.waiting:
        kind = name.partition("-")[0].title()
        state = "Down" if first.lasting else "Starting"
        return Wait(_delay(work), f"{kind}{state}: {told}")
    reason = "RolloutStopped" if first.lasting else "RollingOut"
    rest = " and ".join(sorted(work.waiting))
    keep = "keeps" if len(work.waiting) == 1 else "keep"
    return Wait(_delay(work), f"{reason}: {told} {rest} {keep} what ran before until then.")


def _find_down(
    work: Work,
    seen: dict[str, InstanceStatus],
    answers: Callable[[str], bool],
    *,
    ask: bool,
) -> dict[str, Down]:
    """Return who is down; who runs is asked only if it matters (each costs a connection)."""
    late = _is_late(work)
    found = {
        name: Down(each.trouble or each.message or "starting", late or bool(each.trouble))
        for name, each in seen.items()
        if not each.running
    }
    if ask or work.full or found or work.unready_since:
        for name in seen.keys() - found.keys():
            if not answers(name):
                found[name] = Down("it does not answer yet", late)
    return found


def _delay(work: Work) -> float:
    """A worker sleeps through a short wait; one for something that lasts is left to the beat.

    One that may be up soon is looked at soon, whatever else is down.
    """
    is_hopeless = all(each.lasting for each in work.down.values())
    return _LONG_SECONDS if is_hopeless else _SHORT_SECONDS


def _is_late(work: Work) -> bool:
    """Return whether the space has been waiting for longer than starts take.

    It may have been unready for long before a pass came as far as a start: for an address, a right.
    """
    since, space = work.unready_since, work.space
    told = space.waiting_for.split()
    if since is None or not _OF_STARTS.intersection(told):
        return False
    if not _LASTING.intersection(told):
        since = max(since, space.waiting_since or since)
    return work.now - max(since, space.rolled_at or since) > _SOON


def _remember(work: Work) -> None:
    """Write down that a restart is due now: patience with it begins here."""
    AddressSpace.objects.filter(id=work.space.id).update(rolled_at=work.now)
    work.space.rolled_at = work.now
