"""View of the spend cap: what is spent, a try of a cap on last month, and setting it."""

import shlex
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone

from controlplane.console.access import tenant_page
from controlplane.console.charts import Bar, BarChart
from controlplane.console.formats import AT_QUOTA
from controlplane.console.forms.base import form_status
from controlplane.console.forms.usage import SpendCapForm
from controlplane.console.scope import TenantScope
from plans.models import SpendCap
from plans.quotas import simulation, standings
from plans.quotas.resources import AtQuota
from plans.quotas.simulation import Simulation
from plans.rating import money
from plans.rating.periods import month_of
from plans.usage import meters
from tenants import admission
from tenants.actions import spend_caps
from tenants.permissions import Permission


@tenant_page(Permission.VIEW_BILLING, change=Permission.MANAGE_BILLING)
def page(scope: TenantScope) -> HttpResponseBase:
    """Show the cap and what is spent; with ``?amount=`` try one on last month; on POST set it.

    A POST with ``remove`` removes the cap.
    """
    request, now = scope.request, timezone.now()
    if request.POST.get("remove"):
        spend_caps.clear_cap(tenant=scope.tenant, by=scope.actor)
        messages.success(request, "The cap is removed.")
        return redirect(scope.url("spend_cap"))
    currency = admission.plan_of(scope.tenant).currency
    # A GET tries a cap, and a POST sets it: both fill the same form.
    given = request.POST or (request.GET if "amount" in request.GET else None)
    form = SpendCapForm(given, currency=currency)
    is_set = bool(request.POST) and form.is_valid()
    if is_set and form.attempted(
        lambda: spend_caps.set_cap(tenant=scope.tenant, by=scope.actor, **form.wanted)
    ):
        messages.success(request, "The cap is set. It acts within a minute if it is reached.")
        return redirect(scope.url("spend_cap"))
    cap = SpendCap.objects.filter(tenant=scope.tenant).first()
    month = month_of(now, scope.tenant.billing_time_zone)
    context: dict[str, Any] = {
        "cap": cap,
        "use": standings.spend(scope.tenant, month, now) if cap else None,
        "action_words": AT_QUOTA[cap.action] if cap else "",
        "currency": currency,
        "form": form,
    }
    if form.is_bound and form.is_valid():
        wanted = form.wanted
        tried = simulation.of_last_month(
            scope.tenant, wanted["amount_minor"], wanted["action"], now
        )
        context |= _tried(tried, scope.tenant.billing_time_zone)
        words = ["spend-cap", "set", str(wanted["amount_minor"]), "--action", wanted["action"]]
        context["command"] = shlex.join(["waypost", *words, "--tenant", scope.tenant.slug])
    return scope.render("usage/spend_cap.html", context, form_status(form))


def _tried(tried: Simulation, zone: str) -> dict[str, Any]:
    verb = "delayed" if tried.action is AtQuota.THROTTLE else "refused"
    digits = money.minor_digits(tried.currency)
    bars = [
        Bar(f"{day:%a} {day.day} {day:%b}", Decimal(max(0, spent)).scaleb(-digits),
            str(day.day) if day.day == 1 or day.day % 5 == 0 else "")
        for day, spent in tried.days
    ]  # fmt: skip
    acted_on = ""
    if tried.acted_at is not None:
        local = tried.acted_at.astimezone(ZoneInfo(zone))
        acted_on = f"{local:%a} {local.day} {local:%b %Y, %H:%M} ({zone})"
    return {
        "simulation": tried,
        "is_below_fee": tried.is_below_fee,
        "acted_on": acted_on,
        "simulated_words": AT_QUOTA[tried.action],
        "affected": [
            f"{n:,} {meters.BY_SLUG[meter].plan_text} would have been {verb}"
            for meter, n in tried.affected.items()
        ],
        "chart": BarChart("chart-spend", "Spent until each day", tried.currency, bars),
    }
