"""Begin rollouts of engine releases, and move the fleet of spaces to a release in waves.

A rollout begins when the configured release is new; staff begin another one by a roll-back.

Each call of ``advance`` reads the state of the fleet and takes the next step, if there is one. So
it may be killed anywhere. Moving a space only assigns the release to it. The reconcile passes of
the space then restart its instances one at a time (``workers.reconcile.rolling``).
"""

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import F

from controlplane.core import audit, enqueue, leases, phases
from tenants import rollouts
from tenants.actions import rollouts as actions
from tenants.models import AddressSpace, EngineRelease, Rollout
from workers.infra.base import EngineImages

logger = structlog.get_logger(__name__)

_LEASE_SECONDS = 60
_READY = [{"type": phases.READY, "status": "True"}]  # a condition that every ready space has


@dataclass(frozen=True)
class Policy:
    """The limits of a rollout.

    * ``wave``: the number of spaces that may be changing at once. Spaces that never became ready
      are moved even beyond it.
    * ``patience``: the time after its move in which a space must become ready with the release. If
      it does not, it has failed. A space that the release broke has failed at once
      (``rollouts.broken``).
    * ``budget``: the number of failed spaces at which the rollout stops.
    * ``first_wave``: the wave until one space runs the release. So a release that does not start
      takes down one space and not a whole wave.
    """

    wave: int
    budget: int
    patience: timedelta
    first_wave: int = 1


def policy() -> Policy:
    """Return the limits of rollouts from this installation's settings."""
    patience = timedelta(seconds=settings.ROLLOUT_PATIENCE_SECONDS)
    return Policy(
        settings.ROLLOUT_WAVE, settings.ROLLOUT_BUDGET, patience, settings.ROLLOUT_FIRST_WAVE
    )


def advance(images: EngineImages, policy: Policy, now: datetime) -> None:
    """Begin a rollout if ``images`` is a new release; then take one step of the running rollout.

    Idempotent while the fleet does not change. The call does nothing while another worker takes a
    step, and takes no step of a paused or stopped rollout. While an installation is upgraded,
    workers of two versions run; those with the lower revision do nothing here.
    """
    holder = f"{socket.gethostname()}-{os.getpid()}"
    with leases.held("fleet", holder, _LEASE_SECONDS) as won:
        if not won:
            return
        if rollouts.is_outdated(images.revision):
            logger.warning("rollouts are left to newer workers", revision=images.revision)
            return
        if images.broker:  # empty where engines run as local programs: then there are no releases
            _ensure_configured(images, policy, now)
        with transaction.atomic():
            # The lock keeps a person from pausing the rollout in the middle of this step.
            rollout = (
                Rollout.objects.select_for_update(no_key=True, of=("self",))
                .select_related("release", "former")
                .filter(ended_at__isnull=True)
                .first()
            )
            if rollout is not None and rollout.state == Rollout.State.RUNNING:
                _OpenRollout(rollout, policy, now).advance()


@transaction.atomic
def _ensure_configured(images: EngineImages, policy: Policy, now: datetime) -> None:
    """Ensure that the configured release exists; begin a rollout to it if it is newly configured.

    It is newly configured if the last rollout that the configuration began had another release. A
    roll-back by staff does not count as such a rollout, so it is not undone. Spaces without a
    release get the first one.
    """
    first = EngineRelease.objects.order_by("number").first()
    release, _ = EngineRelease.objects.get_or_create(
        broker_image=images.broker,
        router_image=images.router,
        template_hash=images.template_hash,
        defaults={"number": EngineRelease.objects.count() + 1},
    )
    # Spaces that were created before there were releases run the first one.
    unreleased = AddressSpace.objects.filter(release__isnull=True)
    unreleased.update(release=first or release, observed_release=first or release)
    configured = Rollout.objects.filter(is_configured=True).order_by("id").last()
    if configured is not None and configured.release_id == release.pk:
        # Same release: raise the revision only, so that workers with a lower one become outdated.
        older = Rollout.objects.filter(pk=configured.pk, revision__lt=images.revision)
        older.update(revision=images.revision)
        return
    is_first = rollouts.latest() is None
    # A roll-back goes to the last release that the whole fleet has run.
    proven = Rollout.objects.filter(state=Rollout.State.DONE).exclude(release=release)
    last = proven.select_related("release").order_by("id").last()
    former = last.release if last else None
    begun = actions.begin(
        release=release,
        former=former,
        is_configured=True,
        by=audit.WORKER,
        revision=images.revision,
    )
    if is_first:  # nothing to move: every space has got this release
        _OpenRollout(begun, policy, now).end()


@dataclass(frozen=True)
class _OpenRollout:
    """Takes one step at ``now`` of a rollout that has not ended.

    The caller must have locked the row of the rollout.
    """

    rollout: Rollout
    policy: Policy
    now: datetime

    def advance(self) -> None:
        """Stop after too many failures; end when every space runs the release; else move spaces.

        A space that the release broke stops the rollout at once, if no space runs the release yet.
        """
        progress = rollouts.progress(self.rollout, self.now, self.policy.patience)
        # The first space to run the release decides whether any other gets it.
        failed = progress.failed
        is_broken = failed and not progress.done and rollouts.broken(self.rollout).exists()
        if is_broken or failed >= self.policy.budget:
            self._stop()
        elif not (progress.waiting or progress.changing or progress.failed):
            self.end()
        else:
            # Of small installations with a wave of 5 a bad release would take down every space.
            wave = self.policy.wave if progress.done else self.policy.first_wave
            self._move(min(wave, self.policy.wave) - progress.changing)

    def _move(self, slots: int) -> None:
        """Assign the release to the next spaces. There are three groups.

        1. Spaces that never became ready with the release they had: all of them, at any time,
           because they serve no client that a restart could disturb.
        2. Ready spaces: up to ``slots``, and only in the maintenance windows of their tenants.
        3. Spaces that were down before the rollout began, because the new release may repair them.
           They wait until no space of the other groups is left. They too take slots and wait for
           maintenance windows. They never count as failures of this rollout or of a later one.
        """
        behind = rollouts.fleet().exclude(release=self.rollout.release).order_by("created_at", "id")
        # Skip a space whose row a person is changing: the next call takes it.
        locked = behind.select_for_update(skip_locked=True, no_key=True, of=("self",))
        unready = locked.exclude(conditions__contains=_READY)
        closed = rollouts.list_closed_tenants(self.now)
        # Spaces that this rollout broke and that were taken back are moved once they are ready.
        never_ready = (
            unready.exclude(observed_release=F("release"))
            .exclude(observed_release=self.rollout.release)
            .exclude(rollouts.UPGRADED_WHILE_DOWN)
        )
        ready = locked.filter(conditions__contains=_READY).exclude(tenant_id__in=closed)
        chosen = [*never_ready, *ready[: max(slots, 0)]]
        self._assign(chosen, since=self.now)
        if not (chosen or behind.filter(conditions__contains=_READY).exists()):
            # ``slots`` does not count these spaces, but they use the capacity of the wave too.
            slots -= rollouts.changing(self.rollout).filter(rollouts.UPGRADED_WHILE_DOWN).count()
            down = [
                space for space in unready.exclude(tenant_id__in=closed) if self._was_down(space)
            ]
            self._assign(down[: max(slots, 0)], since=None)

    def _was_down(self, space: AddressSpace) -> bool:
        """Return whether an unready space was unready before the rollout began or was resumed.

        While the cluster does not answer, all spaces look unready. Without this check they would
        be moved as spaces that were down before, and their failures would not count.
        """
        ready = phases.find_condition(space.conditions, phases.READY)
        begun = self.rollout.resumed_at or self.rollout.created_at
        return ready is not None and datetime.fromisoformat(ready["since"]) < begun

    def _assign(self, chosen: Sequence[AddressSpace], *, since: datetime | None) -> None:
        """Assign the release to the spaces in ``chosen``, and make them due for a reconcile pass.

        Call it in a transaction. ``since`` is when the patience for these spaces begins; None means
        that they never count as failed.
        """
        moved = AddressSpace.objects.filter(id__in=[space.pk for space in chosen])
        # Spaces that were taken back and are moved again before they have come up.
        moved.filter(observed_release=self.rollout.release).update(observed_release=F("release"))
        moved.update(
            release=self.rollout.release,
            released_at=since,
            next_attempt_at=self.now,
            waiting_since=None,
        )
        subjects = [
            audit.Subject("address_space", space.pk, space.name, space.tenant_id)
            for space in chosen
        ]
        after = {"release": self.rollout.release.number}
        audit.record_all(audit.WORKER, "address_space.release", subjects, after=after)
        if chosen:
            enqueue.after_commit("workers.reconcile_due")

    def _stop(self) -> None:
        failures = rollouts.list_failed(self.rollout, self.now, self.policy.patience)
        quoted = "; ".join(
            f"{failure.tenant}/{failure.space}: {failure.reason}" for failure in failures[:5]
        )
        self.rollout.state = Rollout.State.STOPPED
        self.rollout.reason = f"{len(failures)} did not become ready: {quoted}"
        self.rollout.save(update_fields=["state", "reason", "updated_at"])
        broken = list(rollouts.broken(self.rollout))
        actions.take_back(self.rollout, broken, by=audit.WORKER)
        audit.record(
            audit.WORKER,
            "rollout.stopped",
            actions.subject(self.rollout),
            reason=self.rollout.reason,
        )
        logger.error("rollout stopped", release=self.rollout.release.number, failed=len(failures))

    def end(self) -> None:
        """Record that the rollout is done. Call it only when every space runs the release."""
        self.rollout.state, self.rollout.ended_at = Rollout.State.DONE, self.now
        self.rollout.save(update_fields=["state", "ended_at", "updated_at"])
        audit.record(audit.WORKER, "rollout.done", actions.subject(self.rollout))
