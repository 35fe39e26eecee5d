"""The operator's page of the fleet: every space, those in trouble first, with reasons."""

from django.http import HttpResponseBase

from controlplane.console import fleet_reads
from controlplane.console.access import staff_page
from controlplane.console.scope import StaffScope


@staff_page
def page(scope: StaffScope) -> HttpResponseBase:
    """Spaces by phase, what waits longest, and why."""
    page = scope.page_of(fleet_reads.spaces())
    waiting = fleet_reads.waiting()
    context = {
        "page": page,
        "phases": fleet_reads.phases(),
        "waiting": waiting.count(),
        "oldest": waiting.first(),
    }
    return scope.render("staff/fleet.html", context)
