"""Move the fleet of spaces to the newest release of the engines, a wave at a time.

Level-triggered: each call reads where every space stands and does the next thing, if there is one.
It may be killed anywhere. A space that is moved is only told which images it shall run; its own
reconcile pass takes them on, one instance at a time (``workers.reconcile.rolling``).
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

from controlplane.core import audit, leases, nudge, phases
from tenants import rollouts
from tenants.actions import rollouts as actions
from tenants.models import AddressSpace, EngineRelease, Rollout
from workers.infra.base import EngineImages

logger = structlog.get_logger(__name__)

_LEASE_SECONDS = 60
_READY = [{"type": "Ready", "status": "True"}]


@dataclass(frozen=True)
class Policy:
    """At most ``wave`` spaces change at once; ``budget`` failures stop a rollout by itself.

    A space has failed that is not ready ``patience`` after it was moved.
    """

    wave: int
    budget: int
    patience: timedelta


def policy() -> Policy:
    """Return what this installation is configured with."""
    patience = timedelta(seconds=settings.ROLLOUT_PATIENCE_SECONDS)
    return Policy(settings.ROLLOUT_WAVE, settings.ROLLOUT_BUDGET, patience)


def advance(images: EngineImages, policy: Policy, now: datetime) -> None:
    """Take the next step of the rollout that is open, if any; begin one for new images.

    Two versions of the worker run while an installation is upgraded: the one with the lower
    revision leaves the fleet alone.
    """
    holder = f"{socket.gethostname()}-{os.getpid()}"
    with leases.held("fleet", holder, _LEASE_SECONDS) as won:
        if not won:
            return
        if rollouts.is_outdated(images.revision):
            logger.warning("rollouts are left to newer workers", revision=images.revision)
            return
        if images.broker:
            _ensure_configured(images, now)
        with transaction.atomic():
            rollout = (
                Rollout.objects.select_for_update(no_key=True, of=("self",))
                .select_related("release", "former")
                .filter(ended_at__isnull=True)
                .first()
            )
            if rollout is not None and rollout.state == Rollout.State.RUNNING:
                _advance(rollout, policy, now)


@transaction.atomic
def _ensure_configured(images: EngineImages, now: datetime) -> None:
    """Have a release of these images, and a rollout to it if they are new to the installation."""
    first = EngineRelease.objects.order_by("number").first()
    release, _ = EngineRelease.objects.get_or_create(
        broker_image=images.broker,
        router_image=images.router,
        shape=images.shape,
        defaults={"number": EngineRelease.objects.count() + 1},
    )
    _adopt(first or release)
    configured = Rollout.objects.filter(is_configured=True).order_by("id").last()
    if configured is not None and configured.release_id == release.pk:
        older = Rollout.objects.filter(pk=configured.pk, revision__lt=images.revision)
        older.update(revision=images.revision)
        return
    is_first = rollouts.latest() is None
    # What a roll-back goes to: the last release that the whole fleet was seen to run.
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
    if is_first:
        _end(begun, now)


def _adopt(first: EngineRelease) -> None:
    """Say of spaces from before there were releases that they run the first one."""
    AddressSpace.objects.filter(release__isnull=True).update(release=first, observed_release=first)


def _advance(rollout: Rollout, policy: Policy, now: datetime) -> None:
    standing = rollouts.progress(rollout, now, policy.patience)
    if standing.failed >= policy.budget:
        _stop(rollout, policy, now)
    elif not (standing.waiting or standing.changing or standing.failed):
        _end(rollout, now)
    else:
        _move(rollout, policy.wave - standing.changing, now)


def _move(rollout: Rollout, room: int, now: datetime) -> None:
    """Tell up to ``room`` spaces to change: ready ones, in their tenant's window.

    Those that never came up with the release they were given have nothing to lose: all of them are
    told, at any time. Those that were down before it began come last, for the release may be what
    mends them; they never count as its failures, nor as those of the next ones.
    """
    behind = rollouts.fleet().exclude(release=rollout.release).order_by("created_at", "id")
    # A space that is being changed by a person is left to the next call.
    locked = behind.select_for_update(skip_locked=True, no_key=True, of=("self",))
    unready = locked.exclude(conditions__contains=_READY)
    closed = rollouts.list_closed_tenants(now)
    given = unready.exclude(observed_release=F("release")).exclude(rollouts.TOLD_LAST)
    ready = locked.filter(conditions__contains=_READY).exclude(tenant_id__in=closed)
    chosen = [*given, *ready[: max(room, 0)]]
    _tell(rollout, chosen, now, since=now)
    if not (chosen or behind.filter(conditions__contains=_READY).exists()):
        room -= rollouts.changing(rollout).filter(rollouts.TOLD_LAST).count()
        down = [each for each in unready.exclude(tenant_id__in=closed) if _was_down(each, rollout)]
        _tell(rollout, down[: max(room, 0)], now, since=None)


def _was_down(space: AddressSpace, rollout: Rollout) -> bool:
    """Return whether an unready space was so before the rollout began, or a person resumed it.

    All spaces look unready while the cluster does not answer: that must not move the whole fleet
    past its waves, nor spare it from being the release's failures.
    """
    ready = phases.find_condition(space.conditions, "Ready")
    begun = rollout.resumed_at or rollout.created_at
    return ready is not None and datetime.fromisoformat(ready["since"]) < begun


def _tell(
    rollout: Rollout, chosen: Sequence[AddressSpace], now: datetime, *, since: datetime | None
) -> None:
    """Give the spaces the release; ``since``: from when on their patience counts, if it does."""
    AddressSpace.objects.filter(id__in=[each.pk for each in chosen]).update(
        release=rollout.release, released_at=since, next_attempt_at=now, waiting_since=None
    )
    subjects = [
        audit.Subject("address_space", each.pk, each.name, each.tenant_id) for each in chosen
    ]
    after = {"release": rollout.release.number}
    audit.record_all(audit.WORKER, "address_space.release", subjects, after=after)
    if chosen:
        nudge.after_commit("workers.reconcile_due")


def _stop(rollout: Rollout, policy: Policy, now: datetime) -> None:
    failures = rollouts.list_failed(rollout, now, policy.patience)
    told = "; ".join(f"{each.tenant}/{each.space}: {each.reason}" for each in failures[:5])
    rollout.state = Rollout.State.STOPPED
    rollout.reason = f"{len(failures)} did not become ready in time: {told}"
    rollout.save(update_fields=["state", "reason", "updated_at"])
    audit.record(audit.WORKER, "rollout.stopped", actions.subject(rollout), reason=rollout.reason)
    logger.error("rollout stopped", release=rollout.release.number, failed=len(failures))


def _end(rollout: Rollout, now: datetime) -> None:
    rollout.state, rollout.ended_at = Rollout.State.DONE, now
    rollout.save(update_fields=["state", "ended_at", "updated_at"])
    audit.record(audit.WORKER, "rollout.done", actions.subject(rollout))
