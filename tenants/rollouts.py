"""Progress of a rollout, and the times at which a tenant's spaces may be restarted.

Reads and pure rules for staff pages and for ``workers.rollouts.fleet``, which moves the spaces. The
actions on rollouts are in ``tenants.actions.rollouts``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from django.db.models import Count, F, Max, Q, QuerySet

from tenants.models import AddressSpace, EngineRelease, MaintenanceWindow, Rollout

_WEEK_MINUTES = 7 * 24 * 60
# Spaces that were down when the rollout moved them. Whether they come up says nothing about the
# release, so they never count as its failures.
UPGRADED_WHILE_DOWN = Q(observed_release__isnull=False, released_at__isnull=True) & ~Q(
    observed_release=F("release")
)


@dataclass(frozen=True)
class Window:
    """A weekly window in UTC. Weekday 0 is Monday; the window may end on a later day."""

    weekday: int
    starts_at: time
    minutes: int

    def contains(self, now: datetime) -> bool:
        start = self.weekday * 24 * 60 + self.starts_at.hour * 60 + self.starts_at.minute
        passed = now.weekday() * 24 * 60 + now.hour * 60 + now.minute - start
        # Modulo a week, so that a window which runs past Sunday also covers Monday's first hours.
        return passed % _WEEK_MINUTES < self.minutes

    def __str__(self) -> str:
        return f"{self.weekday} {self.starts_at:%H:%M} {self.minutes} min"


@dataclass(frozen=True)
class Progress:
    """The number of spaces of a rollout by their progress.

    ``waiting``: not moved yet, or moved while down and not up yet. ``total`` also counts spaces
    that were created on the release and are not up yet; no other number counts them.
    """

    total: int
    done: int
    waiting: int
    changing: int
    failed: int


@dataclass(frozen=True)
class Failure:
    """A space that did not become ready on a release, with the message of its Ready condition."""

    tenant: str
    space: str
    reason: str


def is_open(windows: Sequence[Window], now: datetime) -> bool:
    """Return whether ``now`` (UTC) is in one of the windows. Without windows it always is."""
    return not windows or any(window.contains(now) for window in windows)


def list_failed(rollout: Rollout, now: datetime, patience: timedelta) -> Sequence[Failure]:
    """Return the failed spaces with their reasons, in the order they were moved (one query)."""
    rows = failed(rollout, now, patience).select_related("tenant").order_by("released_at", "id")
    found = []
    for space in rows:
        ready = next((row for row in space.conditions if row["type"] == "Ready"), None)
        # A space that is Ready again since runs the release; it has no reason any more.
        reason = ready["message"] if ready and ready["status"] != "True" else ""
        found.append(Failure(space.tenant.slug, space.name, reason))
    return found


def list_closed_tenants(now: datetime) -> Sequence[str]:
    """Return the ids of tenants whose spaces no rollout may restart now (one query)."""
    windows: dict[str, list[Window]] = {}
    for row in MaintenanceWindow.objects.all():
        window = Window(row.weekday, row.starts_at, row.minutes)
        windows.setdefault(row.tenant_id, []).append(window)
    return [tenant for tenant, own in windows.items() if not is_open(own, now)]


def latest() -> Rollout | None:
    """Return the rollout that began last, whose release the fleet should run; None if none did."""
    return Rollout.objects.select_related("release", "former").order_by("id").last()


def is_outdated(revision: int) -> bool:
    """Return whether the installation has rolled out a configuration of a higher revision."""
    newest = Rollout.objects.filter(is_configured=True).aggregate(newest=Max("revision"))["newest"]
    return newest is not None and revision < newest


def release_of_new_spaces() -> EngineRelease | None:
    """Return the release for a new space; None before the first rollout.

    It is the latest rollout's release, or the former one if that rollout was stopped.
    """
    rollout = latest()
    if rollout is None:
        return None
    is_stopped = rollout.state == Rollout.State.STOPPED
    return rollout.former if is_stopped and rollout.former else rollout.release


def fleet() -> QuerySet[AddressSpace, AddressSpace]:
    """Return the spaces that rollouts move: all that are not being deleted."""
    return AddressSpace.objects.filter(deletion_requested_at__isnull=True)


def changing(rollout: Rollout) -> QuerySet[AddressSpace, AddressSpace]:
    """Return the spaces that were moved to the release and do not run it yet.

    A space that has run no release yet is new and does not count.
    """
    moved = fleet().filter(release=rollout.release, observed_release__isnull=False)
    return moved.exclude(observed_release=rollout.release)


def failed(
    rollout: Rollout, now: datetime, patience: timedelta
) -> QuerySet[AddressSpace, AddressSpace]:
    """Return the spaces of ``changing`` whose patience is over."""
    return changing(rollout).filter(_is_late(rollout, now - patience))


def progress(rollout: Rollout, now: datetime, patience: timedelta) -> Progress:
    """Count the fleet in one query."""
    target = rollout.release
    moved = Q(release=target, observed_release__isnull=False) & ~Q(observed_release=target)
    late = _is_late(rollout, now - patience)
    found = fleet().aggregate(
        total=Count("id"),
        done=Count("id", filter=Q(release=target, observed_release=target)),
        waiting=Count("id", filter=~Q(release=target) | UPGRADED_WHILE_DOWN),
        changing=Count("id", filter=moved & ~late & ~UPGRADED_WHILE_DOWN),
        failed=Count("id", filter=moved & late),
    )
    return Progress(**found)


def _is_late(rollout: Rollout, since: datetime) -> Q:
    """Return the condition that both the move and the last resume were before ``since``."""
    if rollout.resumed_at is not None and rollout.resumed_at >= since:
        return Q(pk__in=[])  # matches nothing
    return Q(released_at__lt=since)
