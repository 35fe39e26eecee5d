"""Views of the operator's fleet page: all spaces, failed ones first, and the latest rollout."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from controlplane.console import fleet_reads
from controlplane.console.access import staff_page
from controlplane.console.scope import StaffScope
from controlplane.core.errors import Missing
from tenants import rollouts
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
    """Show the spaces of all tenants with phases and problems, and the latest rollout."""
    page = scope.page_of(fleet_reads.spaces())
    waiting = fleet_reads.waiting()
    context = {
        "page": page,
        "phases": fleet_reads.phases(),
        "waiting": waiting.count(),
        "oldest": waiting.first(),
        **_rollout(),
    }
    return scope.render("staff/fleet.html", context)


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
