"""Where the fleet stands on its way to a release; and when a tenant's spaces may be touched.

Reads and pure rules for staff and for the worker that moves spaces (``workers.fleet``); what people
do to a rollout is in ``tenants.actions.rollouts``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from django.db.models import Count, F, Max, Q, QuerySet

from tenants.models import AddressSpace, EngineRelease, MaintenanceWindow, Rollout

_WEEK_MINUTES = 7 * 24 * 60
# Spaces that were down already when they were moved, which tells nothing of the release.
TOLD_LAST = Q(observed_release__isnull=False, released_at__isnull=True) & ~Q(
    observed_release=F("release")
)


@dataclass(frozen=True)
class Window:
    """A weekly window in UTC; weekday 0 is Monday, and it may run into the days after."""

    weekday: int
    starts_at: time
    minutes: int


@dataclass(frozen=True)
class Progress:
    """How many spaces there are for a rollout, and how far they are; the rest are just new.

    ``waiting``: to be moved, or, where they were down already, to come up.
    """

    total: int
    done: int
    waiting: int
    changing: int
    failed: int


@dataclass(frozen=True)
class Failure:
    """A space that did not become ready on a release, and what it says."""

    tenant: str
    space: str
    reason: str


def is_open(windows: Sequence[Window], now: datetime) -> bool:
    """Return whether ``now`` (UTC) lies in one of the windows; without any, always."""
    return not windows or any(_holds(each, now) for each in windows)


def list_failed(rollout: Rollout, now: datetime, patience: timedelta) -> Sequence[Failure]:
    """Return the failed spaces with the reason of each, the oldest first (one query)."""
    rows = failed(rollout, now, patience).select_related("tenant").order_by("released_at", "id")
    return [Failure(each.tenant.slug, each.name, _why(each)) for each in rows]


def list_closed_tenants(now: datetime) -> Sequence[str]:
    """Return the ids of tenants whose spaces may not be touched now (one query)."""
    windows: dict[str, list[Window]] = {}
    for row in MaintenanceWindow.objects.all():
        window = Window(row.weekday, row.starts_at, row.minutes)
        windows.setdefault(row.tenant_id, []).append(window)
    return [tenant for tenant, own in windows.items() if not is_open(own, now)]


def latest() -> Rollout | None:
    """Return the rollout that says where the fleet shall be: the last one that began."""
    return Rollout.objects.select_related("release", "former").order_by("id").last()


def is_outdated(revision: int) -> bool:
    """Return whether a configuration of a higher revision was rolled out: ours is replaced."""
    newest = Rollout.objects.filter(is_configured=True).aggregate(newest=Max("revision"))["newest"]
    return newest is not None and revision < newest


def release_of_new_spaces() -> EngineRelease | None:
    """Return what a new space runs: the newest release, unless it was just seen to fail."""
    rollout = latest()
    if rollout is None:
        return None
    is_stopped = rollout.state == Rollout.State.STOPPED
    return rollout.former if is_stopped and rollout.former else rollout.release


def fleet() -> QuerySet[AddressSpace, AddressSpace]:
    """Return the spaces that rollouts are about."""
    return AddressSpace.objects.filter(deletion_requested_at__isnull=True)


def changing(rollout: Rollout) -> QuerySet[AddressSpace, AddressSpace]:
    """Return the spaces that were moved to the release and do not run it yet.

    A space that never ran another one is new, and tells nothing of a rollout.
    """
    moved = fleet().filter(release=rollout.release, observed_release__isnull=False)
    return moved.exclude(observed_release=rollout.release)


def failed(
    rollout: Rollout, now: datetime, patience: timedelta
) -> QuerySet[AddressSpace, AddressSpace]:
    """Return those of ``changing`` that have had enough time."""
    return changing(rollout).filter(_is_late(rollout, now - patience))


def progress(rollout: Rollout, now: datetime, patience: timedelta) -> Progress:
    """Count the fleet in one query."""
    target = rollout.release
    moved = Q(release=target, observed_release__isnull=False) & ~Q(observed_release=target)
    late = _is_late(rollout, now - patience)
    found = fleet().aggregate(
        total=Count("id"),
        done=Count("id", filter=Q(release=target, observed_release=target)),
        waiting=Count("id", filter=~Q(release=target) | TOLD_LAST),
        changing=Count("id", filter=moved & ~late & ~TOLD_LAST),
        failed=Count("id", filter=moved & late),
    )
    return Progress(**found)


def _is_late(rollout: Rollout, since: datetime) -> Q:
    """Return the condition of having been asked to change, or been given time anew, before."""
    if rollout.resumed_at is not None and rollout.resumed_at >= since:
        return Q(pk__in=[])
    return Q(released_at__lt=since)


def _why(space: AddressSpace) -> str:
    ready = next((each for each in space.conditions if each["type"] == "Ready"), None)
    return ready["message"] if ready and ready["status"] != "True" else ""


def _holds(window: Window, now: datetime) -> bool:
    start = window.weekday * 24 * 60 + window.starts_at.hour * 60 + window.starts_at.minute
    passed = now.weekday() * 24 * 60 + now.hour * 60 + now.minute - start
    return passed % _WEEK_MINUTES < window.minutes
