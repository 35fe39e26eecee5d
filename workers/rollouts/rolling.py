"""Apply changes to the instances of one kind, and restart them one at a time.

Called by the steps ``brokers`` and ``routers``. Files that an engine reloads reach all instances at
once. A change that needs a restart is applied to one instance, and to the next one only when none
is down. So a change with which an instance cannot start stops at that instance: the others keep
running as before, and reverting the change repairs the space.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import timedelta

from controlplane.core.instance_names import InstanceId, Kind
from controlplane.core.reasons import Reason
from tenants import rollouts
from tenants.models import AddressSpace
from workers.infra.base import EngineImages, InfraError, InstanceSpec, InstanceStatus
from workers.reconcile import desired_routers, waiting
from workers.reconcile.context import Down, ReconcileContext
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.ports import Ports
from workers.rollouts import release

# A start takes seconds. An instance that is not up after this time will not be up soon.
_SOON = timedelta(seconds=60)
_SHORT_SECONDS, _LONG_SECONDS = 0.2, 10.0
# Reasons of ``explain``: for a start that takes too long or fails, and for any start.
_LASTING = {Reason.BROKER_DOWN, Reason.ROUTER_DOWN, Reason.ROLLOUT_STOPPED}
_OF_STARTS = _LASTING | {Reason.BROKER_STARTING, Reason.ROUTER_STARTING, Reason.ROLLING_OUT}
# By the kind of the instance: while it starts, and once it is down for longer.
_REASONS = {
    Kind.BROKER: (Reason.BROKER_STARTING, Reason.BROKER_DOWN),
    Kind.ROUTER: (Reason.ROUTER_STARTING, Reason.ROUTER_DOWN),
}
_REPLACED = (
    "This space has moved to a newer version of Waypost than this worker's. "
    "Workers of the newer version reconcile it."
)


def ensure(
    context: ReconcileContext,
    ports: Ports,
    specs: Sequence[InstanceSpec],
    answers: Callable[[str], bool],
) -> Outcome:
    """Apply the specs of one kind, with at most one restart in a pass. Idempotent.

    Done if at least one instance serves, so that the following steps reach it. Instances that are
    down are noted in ``context.down``; ``settled`` at the end of the pass waits for them. Before a
    restart the instance is sampled a last time, because a restart resets its counters.
    """
    infra = ports.session
    seen = {spec.name: infra.ensure_instance(spec, may_restart=False) for spec in specs}
    context.boots |= {name: status.boot for name, status in seen.items()}
    deferred = [spec for spec in specs if seen[spec.name].restart_deferred]
    context.restart_deferred |= {spec.name for spec in deferred}
    # A new version of Waypost alone restarts nothing here: a settled space waits for its wave.
    if deferred and context.is_settled and _has_other_template(context, release.configured(ports)):
        deferred = []
    down = _find_down(context, seen, answers, ask=bool(deferred))
    chosen = choose([spec.name for spec in deferred], seen, down)
    if chosen is not None:
        if seen[chosen].running and not ports.metering.before_restart(context.space.id, chosen):
            return Wait(_SHORT_SECONDS, Reason.LAST_SAMPLE_PENDING)
        _remember(context)
        infra.ensure_instance(next(spec for spec in deferred if spec.name == chosen))
        down[chosen] = Down("it restarts to apply a change")
    context.down |= down
    context.waiting |= {spec.name for spec in deferred} - down.keys()
    return explain(context) if specs and len(down) == len(specs) else Done()


def are_as_known(context: ReconcileContext, ports: Ports) -> bool:
    """Return whether all instances run in the incarnations that complete files were written for.

    Otherwise an instance is down, or may have started from files that lack a change.
    """
    try:
        with ports.infra.open(context.namespace) as session:
            found = session.list_instances()
    except InfraError:
        return False  # the whole pass meets the same error and reports it
    running = {instance.name: instance.boot for instance in found if instance.running}
    wanted = {broker.name for broker in context.brokers} | set(desired_routers.list_names(context))
    return bool({name: running.get(name) for name in wanted} == context.space.known_boots)


def find_replaced(context: ReconcileContext, ports: Ports) -> Wait | None:
    """Return a wait if only workers of a newer version may reconcile the space, else None.

    This is so if the space has another template hash than ours and a newer version has been rolled
    out. Anything that we wrote to its instances, even live files, would be of the older version.
    """
    if context.release is None:
        return None
    ours = release.configured(ports)
    if _has_other_template(context, ours) and rollouts.is_outdated(ours.revision):
        return Wait(_LONG_SECONDS, Reason.UPGRADE_UNDER_WAY, _REPLACED)
    return None


def _has_other_template(context: ReconcileContext, ours: EngineImages) -> bool:
    """Return whether our template hash differs from that of the space's release.

    If so, a difference between instances and specs may come from the version of Waypost alone.
    """
    return context.release is not None and context.release.template_hash != ours.template_hash


def choose(
    deferred: Sequence[str], seen: dict[str, InstanceStatus], down: Collection[str]
) -> str | None:
    """Return the instance that may restart now, out of those with a deferred restart, or None.

    An instance that does not run may restart at once: it loses nothing, and the change may repair
    it. An instance that runs restarts only if no other one is down.
    """
    stopped = [name for name in deferred if not seen[name].running]
    if stopped:
        return stopped[0]
    # A running instance that does not answer may restart itself: the restart may repair it.
    return next((name for name in deferred if not set(down) - {name}), None)


def settled(context: ReconcileContext, _ports: Ports) -> Outcome:
    """Wait for the instances that earlier steps of this pass found down."""
    return explain(context) if context.down else Done()


def explain(context: ReconcileContext) -> Wait:
    """Return the wait for the instances that are down, with the reason that the platform gives."""
    # Name an instance that is down for long before one that is just starting.
    name, first = min(context.down.items(), key=lambda item: (not item[1].lasting, item[0]))
    cause = f"{name} is not ready: {first.reason}."
    if not context.waiting:
        starting, lasting = _REASONS[InstanceId.parse(name).kind]
        return Wait(_delay(context), lasting if first.lasting else starting, cause)
    reason = Reason.ROLLOUT_STOPPED if first.lasting else Reason.ROLLING_OUT
    rest = " and ".join(sorted(context.waiting))
    keep = "keeps" if len(context.waiting) == 1 else "keep"
    message = f"{cause} {rest} {keep} running as before until then."
    return Wait(_delay(context), reason, message)


def _find_down(
    context: ReconcileContext,
    seen: dict[str, InstanceStatus],
    answers: Callable[[str], bool],
    *,
    ask: bool,
) -> dict[str, Down]:
    """Return the instances that do not run or do not answer.

    A running instance is contacted only if it matters, because that takes a connection.
    """
    late = _is_late(context)
    found = {
        name: Down(status.trouble or status.message or "starting", late or bool(status.trouble))
        for name, status in seen.items()
        if not status.running
    }
    if ask or context.full or found or context.unready_since:
        for name in seen.keys() - found.keys():
            if not answers(name):
                found[name] = Down("it does not answer yet", late)
    return found


def _delay(context: ReconcileContext) -> float:
    """Return a short delay while at least one instance may be up soon, else a long one.

    The worker sleeps through a short delay; a long one is left to ``loop.list_due``.
    """
    is_lasting = all(instance.lasting for instance in context.down.values())
    return _LONG_SECONDS if is_lasting else _SHORT_SECONDS


def _is_late(context: ReconcileContext) -> bool:
    """Return whether the space has been waiting for an instance for longer than a start takes."""
    since, space = context.unready_since, context.space
    waits = waiting.of(space)
    if since is None or waits is None or waits.reason not in _OF_STARTS:
        return False
    if waits.reason not in _LASTING:
        # Before the wait for a start the space may have been unready long, for another reason.
        since = max(since, space.waiting_since or since)
    return context.now - max(since, space.rolled_at or since) > _SOON


def _remember(context: ReconcileContext) -> None:
    """Store the time of the restart: ``_is_late`` counts from it."""
    AddressSpace.objects.filter(id=context.space.id).update(rolled_at=context.now)
    context.space.rolled_at = context.now
