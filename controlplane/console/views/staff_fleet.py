"""Views of the operator's fleet: all spaces with a filter, one space, and the latest rollout."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from controlplane.console import fleet_reads, space_reads
from controlplane.console.access import staff_page
from controlplane.console.forms.staff import FleetForm
from controlplane.console.scope import StaffScope
from controlplane.console.views import space_frame
from controlplane.core import phases, reasons
from controlplane.core.errors import Missing
from tenants import rollouts
from tenants.actions import address_spaces
from tenants.actions import rollouts as actions
from tenants.models import Rollout

_State = Rollout.State
_VERBS = {
    "pause": (actions.pause, "Paused: no further space changes its release."),
    "resume": (actions.resume, "The rollout continues."),
    "roll-back": (actions.roll_back, "The fleet returns to the previous release."),
}
# Rolling back is offered in every state, if there is a former release.
_OFFERED = {_State.RUNNING: "pause", _State.PAUSED: "resume", _State.STOPPED: "resume"}


@staff_page
def page(scope: StaffScope) -> HttpResponseBase:
    """Show the spaces that the filter selects, with their problems, and the latest rollout."""
    form = FleetForm(scope.request.GET)
    page = scope.page_of(fleet_reads.spaces(form.wanted()))
    waiting = fleet_reads.waiting()
    context = {
        "page": page,
        "filter": form,
        "phases": fleet_reads.phases(),
        "waiting": waiting.count(),
        "oldest": waiting.first(),
        **_rollout(),
    }
    return scope.render("staff/fleet.html", context)


@staff_page
def space(scope: StaffScope, space: str) -> HttpResponseBase:
    """Show what the workers know of one space, and what to do. ``space`` is the id."""
    row = fleet_reads.get(space)
    is_local = settings.INFRA == "local"
    conditions = [
        (
            condition,
            phases.of_staff(condition),
            reasons.help_of(condition["reason"], is_local=is_local),
        )
        for condition in row.conditions
    ]
    context = {
        "space": row,
        "conditions": conditions,
        "brokers": row.brokers.order_by("ordinal"),
        "endpoints": row.endpoints.order_by("name"),
        "operations": [space_frame.shown(one) for one in space_reads.operations(row)[:10]],
        "secrets": row.secrets.filter(expires_at__isnull=False).order_by("expires_at")[:5],
    }
    return scope.render("staff/space.html", context)


@require_POST
@staff_page
def retry(scope: StaffScope, space: str) -> HttpResponseBase:
    """Make a space due for a full pass of the workers now; POST only."""
    row = fleet_reads.get(space)
    address_spaces.retry(space=row, by=scope.actor)
    messages.success(scope.request, f"Waypost tries {row.name} again now.")
    return redirect("console:staff_space", row.pk)


@require_POST
@staff_page
def steer(scope: StaffScope, verb: str) -> HttpResponseBase:
    """Pause, resume or roll back the latest rollout; POST only.

    ``verb`` is ``pause``, ``resume`` or ``roll-back``; any other is answered with 404.
    """
    if verb not in _VERBS:
        raise Missing("There is no such page.")
    action, text = _VERBS[verb]
    # No form: the decorator shows an error, such as a state that does not allow it, as a page.
    action(by=scope.actor)
    messages.success(scope.request, text)
    return redirect("console:staff_fleet")


def _rollout() -> dict[str, Any]:
    """Return the template context of the latest rollout, or {} if there was none.

    ``verbs`` are the values of ``steer``'s ``verb`` that the rollout's state allows.
    """
    rollout = rollouts.latest()
    if rollout is None:
        return {}
    now, patience = timezone.now(), timedelta(seconds=settings.ROLLOUT_PATIENCE_SECONDS)
    offered = [_OFFERED.get(_State(rollout.state)), "roll-back" if rollout.former else None]
    return {
        "rollout": rollout,
        "standing": rollouts.progress(rollout, now, patience),
        "failures": rollouts.list_failed(rollout, now, patience),
        "verbs": [verb for verb in offered if verb],
    }
