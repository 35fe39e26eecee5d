"""Begin, pause, resume and roll back rollouts; replace a tenant's maintenance windows.

``workers.rollouts.fleet`` begins a rollout when the configured release is new. Staff pause, resume
and roll back; members of a tenant set its windows.
"""

from collections.abc import Sequence
from dataclasses import asdict

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from controlplane.core import audit, enqueue
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Invalid
from tenants import rollouts
from tenants.models import AddressSpace, EngineRelease, MaintenanceWindow, Rollout, Tenant
from tenants.rollouts import Window

_OPEN = {"ended_at__isnull": True}
_MOST_WINDOWS = 28  # of one tenant


class NothingToSteer(Conflict):
    """No rollout has begun, or the last one's state or former release does not allow the change."""

    code = "rollout.not_possible"


@transaction.atomic
def begin(
    *,
    release: EngineRelease,
    former: EngineRelease | None,
    is_configured: bool,
    by: Actor,
    revision: int = 0,
) -> Rollout:
    """Store a new running rollout to ``release``; an open rollout ends as Superseded.

    No space is moved here: ``workers.rollouts.fleet`` moves them in waves. ``former`` is the
    release that a roll-back would go to; None if there is none. ``is_configured`` and ``revision``
    are columns of ``Rollout``. Spaces that the superseded rollout has moved stay on its release
    until this rollout moves them.
    """
    # First, because the constraint rollout_one_open allows only one open rollout.
    Rollout.objects.filter(**_OPEN).update(state=Rollout.State.SUPERSEDED, ended_at=timezone.now())
    made = Rollout.objects.create(
        release=release, former=former, is_configured=is_configured, revision=revision
    )
    audit.record(
        by,
        "rollout.begin",
        subject(made),
        after={"broker": release.broker_image, "router": release.router_image},
    )
    return made


def pause(*, by: Actor, reason: str = "") -> Rollout:
    """Pause the running rollout; return it. No further space is moved, and moved ones finish.

    ``reason`` goes to the row and to the audit.

    Raises:
        NothingToSteer: no rollout is running.
    """
    return _set(Rollout.State.PAUSED, [Rollout.State.RUNNING], by=by, reason=reason)


def resume(*, by: Actor, reason: str = "") -> Rollout:
    """Resume the paused or stopped rollout; return it.

    The time in which moved spaces must become ready starts again, so none counts as late. A space
    that still cannot start because of the release counts as failed at once.

    Raises:
        NothingToSteer: no rollout is paused or stopped.
    """
    stopped = [Rollout.State.PAUSED, Rollout.State.STOPPED]
    return _set(Rollout.State.RUNNING, stopped, by=by, reason=reason)


@transaction.atomic
def roll_back(*, by: Actor, reason: str = "") -> Rollout:
    """Begin a rollout back to the former release of the last rollout; return the new rollout.

    Spaces that the last rollout moved and that are not ready with its release yet go back at once.
    Spaces that run this release go back in waves, within their tenants' maintenance windows.

    Raises:
        NothingToSteer: there is no rollout, or the last one has no former release.
    """
    last = rollouts.latest()
    if last is None or last.former is None:
        raise NothingToSteer("There is no release to go back to.")
    made = begin(release=last.former, former=last.release, is_configured=False, by=by)
    broken = rollouts.changing(last).filter(observed_release=last.former)
    ids = list(broken.select_for_update(no_key=True).values_list("id", flat=True))
    now = timezone.now()
    spaces = AddressSpace.objects.filter(id__in=ids)
    # A null stays null: a space that was down when it was moved must not count as a failure.
    spaces.filter(released_at__isnull=False).update(released_at=now)
    # These spaces may run instances of both releases. ``observed_release`` names the newer one, so
    # that they count as changing until they have reached the former one.
    spaces.update(
        release=last.former,
        observed_release=last.release,
        next_attempt_at=now,
        waiting_since=None,
    )
    audit.record(by, "rollout.roll_back", subject(made), reason=reason)
    enqueue.after_commit("workers.reconcile_due")
    return made


@transaction.atomic
def take_back(rollout: Rollout, spaces: Sequence[AddressSpace], *, by: Actor) -> None:
    """Assign to ``spaces`` the release with which they were last ready.

    ``rollout`` stops, because its release has broken these spaces. Only spaces that have this
    release are changed. Once they are ready, and staff have resumed the rollout, it moves them
    again. Idempotent.
    """
    moved = AddressSpace.objects.filter(
        id__in=[space.pk for space in spaces], release=rollout.release
    )
    subjects = [
        audit.Subject("address_space", space.pk, space.name, space.tenant_id)
        for space in moved.select_for_update(no_key=True)
    ]
    now = timezone.now()
    # ``observed_release`` names the broken release: it differs, so that the instances may restart.
    moved.filter(pk__in=[found.id for found in subjects]).update(
        release=F("observed_release"),
        observed_release=rollout.release,
        released_at=now,
        next_attempt_at=now,
        waiting_since=None,
    )
    after = {"release_left": rollout.release.number}
    audit.record_all(by, "address_space.release_back", subjects, after=after)
    enqueue.after_commit("workers.reconcile_due")


@transaction.atomic
def set_windows(*, tenant: Tenant, windows: Sequence[Window], by: Actor) -> None:
    """Replace all maintenance windows of the tenant by ``windows``.

    Without windows, rollouts may restart the tenant's spaces at any time.

    Raises:
        Invalid: as ``check_windows`` raises it.
    """
    check_windows(windows)
    # The lock serializes requests. Without it, two at once could store the windows of both.
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)
    before = list(tenant.maintenance_windows.values("weekday", "starts_at", "minutes"))
    tenant.maintenance_windows.all().delete()
    MaintenanceWindow.objects.bulk_create(
        MaintenanceWindow(tenant=tenant, **asdict(window)) for window in windows
    )
    audit.record(
        by,
        "tenant.maintenance_windows",
        audit.Subject("tenant", tenant.pk, tenant.slug, tenant.pk),
        before={"windows": [str(Window(**values)) for values in before]},
        after={"windows": [str(window) for window in windows]},
    )


def subject(rollout: Rollout) -> audit.Subject:
    """Return the subject of audit events about the rollout; it belongs to no tenant."""
    return audit.Subject("rollout", str(rollout.pk), f"release {rollout.release.number}")


@transaction.atomic
def _set(state: str, allowed: Sequence[str], *, by: Actor, reason: str) -> Rollout:
    row = Rollout.objects.select_for_update(no_key=True, of=("self",)).filter(**_OPEN).first()
    if row is None and rollouts.latest() is None:
        raise NothingToSteer("There is no rollout: this installation has never begun one.")
    if row is None or row.state not in allowed:
        now = row.state.lower() if row else "over"
        raise NothingToSteer(f"The last rollout is {now}, which does not allow this change.")
    row.state, row.reason = state, reason
    if state == Rollout.State.RUNNING:
        row.resumed_at = timezone.now()
    row.save(update_fields=["state", "reason", "resumed_at", "updated_at"])
    audit.record(by, f"rollout.{state.lower()}", subject(row), reason=reason)
    return row


def check_windows(windows: Sequence[Window]) -> None:
    """Check the complete list of a tenant's maintenance windows; they may overlap.

    Raises:
        Invalid: a weekday or a length is out of range, two windows begin at the same time, or there
        are more than 28.
    """
    begins = {(window.weekday, window.starts_at) for window in windows}
    legal = all(0 <= window.weekday <= 6 and 30 <= window.minutes <= 10080 for window in windows)
    if not legal or len(begins) < len(windows) or len(windows) > _MOST_WINDOWS:
        raise Invalid(
            "A maintenance window begins on a weekday (0 is Monday) and lasts 30 to 10080 minutes; "
            f"no two begin at the same time, and there are at most {_MOST_WINDOWS}.",
            code="maintenance_window.invalid",
        )
