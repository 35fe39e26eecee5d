"""Pages for visitors without a login: what Waypost is, its plans, and whether it works now."""

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render

from controlplane.console import plan_descriptions, plan_reads, sellers
from controlplane.console.access import public_page
from controlplane.console.views import accounts
from controlplane.core import reachability
from controlplane.core.errors import Missing


@public_page
def home(request: HttpRequest) -> HttpResponseBase:
    """Show visitors what Waypost is and what it costs; redirect users to their own start page."""
    if request.user.is_authenticated:
        return accounts.home(request)
    try:
        chosen = sellers.chosen(request)
        offers, choice = plan_reads.offered(chosen.currency), sellers.links(chosen)
    except Missing:  # no catalog is published yet: the page has no table then
        offers, choice = [], {}
    context = {
        **choice,
        "offers": offers,
        "compared": plan_descriptions.comparison(offers) if offers else [],
        "signup_enabled": settings.SIGNUP_ENABLED and settings.LOCAL_ACCOUNTS_ENABLED,
    }
    return render(request, "console/landing.html", context)


@public_page
def status(request: HttpRequest) -> HttpResponseBase:
    """Show whether the parts that every tenant needs work now; answer 503 without a database."""
    database = reachability.database_answers()
    queue = reachability.queue_answers(settings.REDIS_URL)
    parts = [
        ("Portal and API", database, "They do not answer at the moment."),
        ("Changes of spaces", queue, "They are accepted, and take longer to be applied."),
    ]
    context = {"parts": parts, "all_work": database and queue}
    return render(request, "console/status.html", context, status=200 if database else 503)
