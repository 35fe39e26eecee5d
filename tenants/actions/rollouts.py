"""What is done to rollouts: begin, pause, resume, roll back; and a tenant's maintenance windows.

The worker that moves spaces (``workers.fleet``) begins one when the configured images change;
everything else here is a person of the operator, or of the tenant for its windows.
"""

from collections.abc import Sequence
from dataclasses import asdict

from django.db import transaction
from django.utils import timezone

from controlplane.core import audit, nudge
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Invalid
from tenants import rollouts
from tenants.models import AddressSpace, EngineRelease, MaintenanceWindow, Rollout, Tenant
from tenants.rollouts import Window

_OPEN = {"ended_at__isnull": True}
_MOST_WINDOWS = 28


class NothingToSteer(Conflict):
    """No rollout is in a state that this could change."""

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
    """Begin to bring the fleet to ``release``; a rollout that is open ends where it is."""
    Rollout.objects.filter(**_OPEN).update(state=Rollout.State.SUPERSEDED, ended_at=timezone.now())
    made = Rollout.objects.create(
        release=release, former=former, is_configured=is_configured, revision=revision
    )
    audit.record(by, "rollout.begin", subject(made), after=_images(release))
    return made


def pause(*, by: Actor, reason: str = "") -> Rollout:
    """Move no further space; those on their way get there.

    Raises:
        NothingToSteer: nothing runs.
    """
    return _set(Rollout.State.PAUSED, [Rollout.State.RUNNING], by=by, reason=reason)


def resume(*, by: Actor, reason: str = "") -> Rollout:
    """Go on; spaces that failed get their time anew.

    Raises:
        NothingToSteer: nothing is paused or stopped.
    """
    stopped = [Rollout.State.PAUSED, Rollout.State.STOPPED]
    return _set(Rollout.State.RUNNING, stopped, by=by, reason=reason)


@transaction.atomic
def roll_back(*, by: Actor, reason: str = "") -> Rollout:
    """Bring the fleet back to the release before. What did not come up is repaired at once.

    Spaces that run the newer release without trouble go back in waves, in their windows.

    Raises:
        NothingToSteer: there was no other release.
    """
    last = rollouts.latest()
    if last is None or last.former is None:
        raise NothingToSteer("There is no release to go back to.")
    made = begin(release=last.former, former=last.release, is_configured=False, by=by)
    broken = rollouts.changing(last).filter(observed_release=last.former)
    ids = list(broken.select_for_update(no_key=True).values_list("id", flat=True))
    now = timezone.now()
    spaces = AddressSpace.objects.filter(id__in=ids)
    spaces.filter(released_at__isnull=False).update(released_at=now)  # not those told last
    # What runs there is neither of both; as one that left the newer release it counts as changing.
    spaces.update(
        release=last.former,
        observed_release=last.release,
        next_attempt_at=now,
        waiting_since=None,
    )
    audit.record(by, "rollout.roll_back", subject(made), reason=reason)
    nudge.after_commit("workers.reconcile_due")
    return made


@transaction.atomic
def set_windows(*, tenant: Tenant, windows: Sequence[Window], by: Actor) -> None:
    """Replace the tenant's maintenance windows; none means that any time will do.

    Raises:
        Invalid: a window is none, two begin at once, or there are too many.
    """
    _check(windows)
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)
    before = list(tenant.maintenance_windows.values("weekday", "starts_at", "minutes"))
    tenant.maintenance_windows.all().delete()
    MaintenanceWindow.objects.bulk_create(
        MaintenanceWindow(tenant=tenant, **asdict(each)) for each in windows
    )
    place = audit.Subject("tenant", tenant.pk, tenant.slug, tenant.pk)
    audit.record(
        by,
        "tenant.maintenance_windows",
        place,
        before={"windows": [_in_words(Window(**each)) for each in before]},
        after={"windows": [_in_words(each) for each in windows]},
    )


def subject(rollout: Rollout) -> audit.Subject:
    """Return the rollout as an audit subject."""
    return audit.Subject("rollout", str(rollout.pk), f"release {rollout.release.number}")


@transaction.atomic
def _set(state: str, allowed: Sequence[str], *, by: Actor, reason: str) -> Rollout:
    row = Rollout.objects.select_for_update(no_key=True, of=("self",)).filter(**_OPEN).first()
    if row is None and rollouts.latest() is None:
        raise NothingToSteer("There is no rollout: none ever began in this installation.")
    if row is None or row.state not in allowed:
        now = row.state.lower() if row else "over"
        raise NothingToSteer(f"The last rollout is {now}: there is nothing to change about it.")
    row.state, row.reason = state, reason
    if state == Rollout.State.RUNNING:
        row.resumed_at = timezone.now()
    row.save(update_fields=["state", "reason", "resumed_at", "updated_at"])
    audit.record(by, f"rollout.{state.lower()}", subject(row), reason=reason)
    return row


def _check(windows: Sequence[Window]) -> None:
    begins = {(each.weekday, each.starts_at) for each in windows}
    legal = all(0 <= each.weekday <= 6 and 30 <= each.minutes <= 10080 for each in windows)
    if not legal or len(begins) < len(windows) or len(windows) > _MOST_WINDOWS:
        raise Invalid(
            "A maintenance window begins on a weekday (0 is Monday) and lasts 30 to 10080 minutes; "
            f"no two begin at once, and there are at most {_MOST_WINDOWS}.",
            code="maintenance_window.invalid",
        )


def _images(release: EngineRelease) -> dict[str, str]:
    return {"broker": release.broker_image, "router": release.router_image}


def _in_words(window: Window) -> str:
    return f"{window.weekday} {window.starts_at:%H:%M} {window.minutes} min"
