"""Queries for the progress of a rollout, and for when a tenant's spaces may be restarted.

Nothing here changes a row. Staff use it, and ``workers.rollouts.fleet``, which moves the spaces. To
move a space means to assign the rollout's release to it. A moved space must become ready within
``patience``, a setting of the installation. The actions on rollouts are in
``tenants.actions.rollouts``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from functools import reduce
from operator import or_

from django.db.models import Count, F, Max, Q, QuerySet

from controlplane.core import causes, phases
from tenants.models import AddressSpace, EngineRelease, MaintenanceWindow, Rollout

_WEEK_MINUTES = 7 * 24 * 60  # windows repeat every week
# Selects the spaces that were down when the rollout moved them and have not become ready with the
# release yet. They were down before, so they never count as failures of the release.
UPGRADED_WHILE_DOWN = Q(observed_release__isnull=False, released_at__isnull=True) & ~Q(
    observed_release=F("release")
)

# Selects moved spaces that cannot start, for a cause that the release is likely to have. A space
# with any other cause, such as a lack of free nodes, fails only after ``patience``.
# ``waiting_since`` is null until a pass has run after the move: the condition is older until then.
_BROKEN = Q(released_at__isnull=False, waiting_since__isnull=False) & reduce(
    or_,
    (
        Q(conditions__contains=[{"type": phases.READY, "status": "False", "cause": str(cause)}])
        for cause in causes.OF_RELEASES
    ),
)


@dataclass(frozen=True)
class Window:
    """A weekly maintenance window: it begins at ``starts_at`` (UTC) on ``weekday``, 0 for Monday.

    It lasts ``minutes`` and may end on a later day.
    """

    weekday: int
    starts_at: time
    minutes: int

    def contains(self, now: datetime) -> bool:
        start = self.weekday * 24 * 60 + self.starts_at.hour * 60 + self.starts_at.minute
        passed = now.weekday() * 24 * 60 + now.hour * 60 + now.minute - start
        # Modulo a week, so that a window which runs past Sunday also covers Monday's first hours.
        return passed % _WEEK_MINUTES < self.minutes

    def next_start(self, now: datetime) -> datetime:
        """Return when the window begins next after ``now`` (UTC)."""
        day = (now + timedelta(days=(self.weekday - now.weekday()) % 7)).date()
        start = datetime.combine(day, self.starts_at, now.tzinfo)
        return start if start > now else start + timedelta(days=7)

    def __str__(self) -> str:
        return f"{self.weekday} {self.starts_at:%H:%M} {self.minutes} min"


@dataclass(frozen=True)
class Progress:
    """The numbers of spaces in the fleet by their progress in a rollout.

    * ``done``: they have become ready with the release.
    * ``waiting``: not moved yet, or moved while they were down and not ready since.
    * ``changing``: moved, not ready with the release yet, and within their patience.
    * ``failed``: moved, and not ready within their patience, or broken by the release.
    * ``total``: all spaces that are not being deleted. A space that was created on the release and
      has never been ready is in no other number.
    """

    total: int
    done: int
    waiting: int
    changing: int
    failed: int


@dataclass(frozen=True)
class Failure:
    """A space that counts as failed in a rollout: the slug of its tenant, and its name.

    ``reason`` is the text for staff of its condition Ready; empty if the space is ready now.
    """

    tenant: str
    space: str
    reason: str


def is_open(windows: Sequence[Window], now: datetime) -> bool:
    """Return whether ``now`` (UTC) is in one of the windows; True if there are no windows."""
    return not windows or any(window.contains(now) for window in windows)


def list_failed(rollout: Rollout, now: datetime, patience: timedelta) -> Sequence[Failure]:
    """Return the failed spaces of a rollout with their reasons, in the order of their moves.

    ``failed`` defines which spaces have failed at ``now``.
    """
    rows = failed(rollout, now, patience).select_related("tenant").order_by("released_at", "id")
    found = []
    for space in rows:
        ready = phases.find_condition(space.conditions, phases.READY)
        # A space that has become Ready since has no reason any more.
        reason = phases.of_staff(ready) if ready and ready["status"] != "True" else ""
        found.append(Failure(space.tenant.slug, space.name, reason))
    return found


def list_closed_tenants(now: datetime) -> Sequence[str]:
    """Return the ids of the tenants that have maintenance windows, none of them open at ``now``.

    A rollout moves the spaces of these tenants later. Spaces that never became ready with their
    release are the exception: a rollout moves them at any time.
    """
    windows: dict[str, list[Window]] = {}
    for row in MaintenanceWindow.objects.all():
        window = Window(row.weekday, row.starts_at, row.minutes)
        windows.setdefault(row.tenant_id, []).append(window)
    return [tenant for tenant, own in windows.items() if not is_open(own, now)]


def latest() -> Rollout | None:
    """Return the rollout that began last, in any state; None before the first one."""
    return Rollout.objects.select_related("release", "former").order_by("id").last()


def is_outdated(revision: int) -> bool:
    """Return whether a configuration with a higher revision has requested a rollout.

    Then the worker with ``revision`` is older and must leave rollouts to the newer workers.
    """
    newest = Rollout.objects.filter(is_configured=True).aggregate(newest=Max("revision"))["newest"]
    return newest is not None and revision < newest


def release_of_new_spaces() -> EngineRelease | None:
    """Return the release for a new space; None before the first rollout.

    It is the release of the latest rollout. If that rollout is stopped, it is the rollout's former
    release, if there is one.
    """
    rollout = latest()
    if rollout is None:
        return None
    is_stopped = rollout.state == Rollout.State.STOPPED
    return rollout.former if is_stopped and rollout.former else rollout.release


def fleet() -> QuerySet[AddressSpace, AddressSpace]:
    """Return the spaces of all tenants whose deletion nobody has requested: rollouts move these."""
    return AddressSpace.objects.filter(deletion_requested_at__isnull=True)


def changing(rollout: Rollout) -> QuerySet[AddressSpace, AddressSpace]:
    """Return the spaces that have the rollout's release and have not become ready with it yet.

    Failed ones are among them. A space that has never been ready with any release is new and does
    not count.
    """
    moved = fleet().filter(release=rollout.release, observed_release__isnull=False)
    return moved.exclude(observed_release=rollout.release)


def failed(
    rollout: Rollout, now: datetime, patience: timedelta
) -> QuerySet[AddressSpace, AddressSpace]:
    """Return the spaces of ``changing`` that have failed at ``now``.

    A space has failed if it was moved more than ``patience`` ago, and staff have not resumed the
    rollout since then. A space that the release broke (``broken``) has failed as soon as the
    platform reports that. Spaces that were down when they were moved never count.
    """
    return changing(rollout).filter(_is_late(rollout, now - patience) | _BROKEN)


def broken(rollout: Rollout) -> QuerySet[AddressSpace, AddressSpace]:
    """Return the spaces of ``changing`` in which an instance cannot start, probably by the release.

    In these spaces the platform reports that it cannot load an image, or that an instance ends soon
    after each start. Spaces that were down when they were moved never count.
    """
    return changing(rollout).filter(_BROKEN)


def progress(rollout: Rollout, now: datetime, patience: timedelta) -> Progress:
    """Count the spaces of the fleet by their progress in ``rollout`` at ``now``, in one query."""
    target = rollout.release
    moved = Q(release=target, observed_release__isnull=False) & ~Q(observed_release=target)
    late = _is_late(rollout, now - patience) | _BROKEN
    found = fleet().aggregate(
        total=Count("id"),
        done=Count("id", filter=Q(release=target, observed_release=target)),
        waiting=Count("id", filter=~Q(release=target) | UPGRADED_WHILE_DOWN),
        changing=Count("id", filter=moved & ~late & ~UPGRADED_WHILE_DOWN),
        failed=Count("id", filter=moved & late),
    )
    return Progress(**found)


def _is_late(rollout: Rollout, since: datetime) -> Q:
    """Return a filter for spaces that were up and were moved before ``since``.

    It matches nothing if staff resumed the rollout at ``since`` or later. It never matches a space
    that was down when it was moved: its ``released_at`` is null. The caller checks which release a
    space has.
    """
    if rollout.resumed_at is not None and rollout.resumed_at >= since:
        return Q(pk__in=[])  # matches nothing
    return Q(released_at__lt=since)
