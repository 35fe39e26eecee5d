"""Apply changes to the instances of one kind, and restart them one at a time.

The steps ``brokers`` and ``routers`` do so by ``Restarter``. Files that an engine reloads reach all
instances at once. A change that needs a restart is applied to one instance, and to the next one
only when none of its kind is down. So a change with which an instance cannot start stops at that
instance: the others keep running as before, and reverting the change repairs the space.

``settled`` and ``explain`` return the wait for instances that are down. ``find_replaced`` stops a
pass by an older version of Waypost.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from controlplane.core.instance_names import InstanceId, Kind
from controlplane.core.reasons import Reason
from tenants import rollouts
from tenants.models import AddressSpace
from workers.infra.base import EngineImages, InstanceSpec, InstanceStatus, Session
from workers.reconcile import waiting
from workers.reconcile.findings import Down, Instances
from workers.reconcile.outcome import Done, StepResult, Wait
from workers.reconcile.ports import Metering
from workers.reconcile.space_rows import SpaceRows

# A start takes seconds. An instance that is not up after this time will not be up soon.
_SOON = timedelta(seconds=60)
_SHORT_SECONDS, _LONG_SECONDS = 0.2, 10.0
# The reasons that ``explain`` gives: those for instances that will not be up soon, and all of them.
_LASTING = {Reason.BROKER_DOWN, Reason.ROUTER_DOWN, Reason.ROLLOUT_STOPPED}
_OF_STARTS = _LASTING | {Reason.BROKER_STARTING, Reason.ROUTER_STARTING, Reason.ROLLING_OUT}
# By the kind of the instance: while it starts, and once it is not expected to come up soon.
_REASONS = {
    Kind.BROKER: (Reason.BROKER_STARTING, Reason.BROKER_DOWN),
    Kind.ROUTER: (Reason.ROUTER_STARTING, Reason.ROUTER_DOWN),
}
_REPLACED = (
    "This space has moved to a newer version of Waypost than this worker's. "
    "Workers of the newer version reconcile it."
)


@dataclass(frozen=True)
class Restarter:
    """Applies the specifications of one space's instances, and restarts them one at a time.

    ``ours``: the engine release that this worker is configured for; None if ``rows`` have no
    release.
    """

    rows: SpaceRows
    session: Session
    metering: Metering
    ours: EngineImages | None

    def ensure(
        self, specs: Sequence[InstanceSpec], answers: Callable[[str], bool], before: Instances
    ) -> StepResult[Instances]:
        """Apply the specs of all instances of one kind; restart at most one of them. Idempotent.

        The outcome is Wait if all instances of ``specs`` are down, or while the sample before a
        restart is pending. Else it is Done: the following steps reach the instances that are up,
        and ``settled`` at the end of the pass waits for the others. A running instance is sampled
        before its restart, because a restart resets its counters. A restart for a new version of
        Waypost alone is left to a rollout.

        ``answers`` returns whether the instance of a name answers. ``before`` are the findings
        about the other kinds, which the result includes.
        """
        rows = self.rows
        seen = {spec.name: self.session.ensure_instance(spec, may_restart=False) for spec in specs}
        deferred = [spec for spec in specs if seen[spec.name].restart_deferred]
        found = replace(
            before,
            boots={**before.boots, **{name: status.boot for name, status in seen.items()}},
            restart_deferred=before.restart_deferred | {spec.name for spec in deferred},
        )
        # The difference may come from a new version of Waypost alone. Then the space restarts only
        # when a rollout moves it (``workers.rollouts.fleet``).
        if deferred and rows.is_settled and has_other_template(rows, self.ours):
            deferred = []
        down = self._find_down(seen, answers, found.rolled_at, ask=bool(deferred))
        chosen = choose([spec.name for spec in deferred], seen, down)
        if chosen is not None:
            if seen[chosen].running and not self.metering.before_restart(rows.space.id, chosen):
                return StepResult(Wait(_SHORT_SECONDS, Reason.LAST_SAMPLE_PENDING), found)
            # Stored before the restart, because ``_is_late`` counts from it.
            AddressSpace.objects.filter(id=rows.space.id).update(rolled_at=rows.now)
            found = replace(found, rolled_at=rows.now)
            self.session.ensure_instance(next(spec for spec in deferred if spec.name == chosen))
            down[chosen] = Down("it restarts to apply a change")
        found = replace(
            found,
            down={**found.down, **down},
            waiting=found.waiting | ({spec.name for spec in deferred} - down.keys()),
        )
        return StepResult(explain(found) if specs and len(down) == len(specs) else Done(), found)

    def _find_down(
        self,
        seen: Mapping[str, InstanceStatus],
        answers: Callable[[str], bool],
        rolled_at: datetime | None,
        *,
        ask: bool,
    ) -> dict[str, Down]:
        """Return {name: why} for the instances that do not run or do not answer.

        Running instances are asked for an answer if one of these is true: ``ask``; the pass is
        full; another instance does not run; the space is not ready; an instance does not answer the
        sampler. Otherwise they count as up, because a request takes a connection.
        """
        late = self._is_late(rolled_at)
        found = {
            name: Down(
                status.trouble or status.message or "starting",
                late or bool(status.trouble),
                status.cause,
            )
            for name, status in seen.items()
            if not status.running
        }
        silent = self.rows.space.silent_since is not None
        if ask or silent or self.rows.full or found or self.rows.unready_since:
            for name in seen.keys() - found.keys():
                if not answers(name):
                    found[name] = Down("it does not answer yet", late)
        return found

    def _is_late(self, rolled_at: datetime | None) -> bool:
        """Return whether the space has waited for an instance for longer than a start takes (60 s).

        False if the last pass did not end with a wait for an instance.
        """
        since, space = self.rows.unready_since, self.rows.space
        waits = waiting.of(space)
        if since is None or waits is None or waits.reason not in _OF_STARTS:
            return False
        if waits.reason not in _LASTING:
            # The space may have been unready for another reason before it waited for a start.
            since = max(since, space.waiting_since or since)
        return self.rows.now - max(since, rolled_at or since) > _SOON


def find_replaced(rows: SpaceRows, ours: EngineImages | None) -> Wait | None:
    """Return a wait if only workers of a newer version may reconcile the space, else None.

    This is so if the release of the space has another template hash than ``ours``, and a
    configuration of a higher revision has been rolled out. Anything that this worker wrote to the
    instances, even live files, would be of the older version.
    """
    if ours is None or not has_other_template(rows, ours):
        return None
    if rollouts.is_outdated(ours.revision):
        return Wait(_LONG_SECONDS, Reason.UPGRADE_UNDER_WAY, _REPLACED)
    return None


def has_other_template(rows: SpaceRows, ours: EngineImages | None) -> bool:
    """Return whether the template hash of ``ours`` differs from that of the space's release.

    If so, a difference between instances and specs may come from the version of Waypost alone.
    False if there is no release.
    """
    if ours is None or rows.release is None:
        return False
    return rows.release.template_hash != ours.template_hash


def choose(
    deferred: Sequence[str], seen: Mapping[str, InstanceStatus], down: Collection[str]
) -> str | None:
    """Return the one instance of ``deferred`` that may restart now, or None.

    ``deferred`` are names of instances with a deferred restart. An instance that does not run may
    restart at once: it loses nothing, and the change may repair it. An instance that runs restarts
    only if no other one of its kind is down.
    """
    stopped = [name for name in deferred if not seen[name].running]
    if stopped:
        return stopped[0]
    # A running instance that does not answer may restart itself: the restart may repair it.
    return next((name for name in deferred if not set(down) - {name}), None)


def settled(instances: Instances) -> StepResult[None]:
    """Return a wait if an instance in ``instances`` is down, else Done.

    The last step of a whole pass: earlier steps have left out the instances that are down.
    """
    return StepResult(explain(instances) if instances.down else Done(), None)


def explain(instances: Instances) -> Wait:
    """Return the wait for the instances that are down; at least one must be.

    The message names one of them, with the reason why it is down. The delay is short while at least
    one of them may be up soon. The worker sleeps through a short delay; a long one is left to
    ``loop.list_due``.
    """
    down, waits = instances.down, instances.waiting
    # Name an instance that will not be up soon before one that is just starting.
    name, first = min(down.items(), key=lambda item: (not item[1].lasting, item[0]))
    words = f"{name} is not ready: {first.words}."
    detail = f"{name} is not ready: {first.reason}." if first.cause else ""
    is_lasting = all(instance.lasting for instance in down.values())
    delay = _LONG_SECONDS if is_lasting else _SHORT_SECONDS
    if not waits:
        starting, lasting = _REASONS[InstanceId.parse(name).kind]
        reason = lasting if first.lasting else starting
        return Wait(delay, reason, words, detail, first.cause)
    reason = Reason.ROLLOUT_STOPPED if first.lasting else Reason.ROLLING_OUT
    rest = " and ".join(sorted(waits))
    keep = "keeps" if len(waits) == 1 else "keep"
    others = f"{rest} {keep} running as before until then."
    detail = detail and f"{detail} {others}"
    return Wait(delay, reason, f"{words} {others}", detail, first.cause)
