"""The first page of a tenant: spaces and their health, usage against the plan, spend so far."""

from decimal import Decimal
from typing import Any, NamedTuple

from django.http import HttpResponseBase
from django.utils import timezone

from controlplane.console import invoice_reads, limits, meters, space_reads, windows
from controlplane.console.access import tenant_page
from controlplane.console.charts import words
from controlplane.console.scope import TenantScope
from controlplane.console.windows import Window
from plans import usage
from plans.models import QuotaAlert
from tenants import admission
from tenants.models import Tenant
from tenants.permissions import Permission

_SHOWN_SPACES = 10
_SHOWN = (usage.MESSAGES_IN, usage.MESSAGES_OUT, usage.CONNECTION_MS)
_NEEDED = {
    "billing_name": "legal name",
    "billing_email": "email for invoices",
    "billing_address": "address",
    "billing_country": "country",
}


class UsageFigure(NamedTuple):
    """One meter's total of the month."""

    title: str
    words: str
    note: str


class Gauge(NamedTuple):
    """One limit and how much of it is used; ``width`` is at most 100."""

    title: str
    words: str
    percent: int | None
    width: int
    level: str


@tenant_page(Permission.VIEW)
def page(scope: TenantScope) -> HttpResponseBase:
    """Overview of a tenant."""
    window = windows.parse("", scope.tenant.billing_time_zone, timezone.now())
    phases = space_reads.phases(scope.tenant)
    context: dict[str, Any] = {
        "window": window,
        "plan": admission.plan_of(scope.tenant),
        "spaces": space_reads.listed(scope.tenant)[:_SHOWN_SPACES],
        "phases": phases,
        "space_count": sum(count for _, count in phases),
        "as_of": usage.as_of(),
        "alerts": _alerts(scope.tenant),
        "figures": _figures(scope.tenant, window),
        "gauges": [_gauge(limit) for limit in limits.of(scope.tenant)],
    }
    if scope.may["view_billing"]:
        context["preview"] = invoice_reads.running(scope.tenant)
        context["billing_missing"] = _missing(scope.tenant)
    return scope.render("overview.html", context)


def _figures(tenant: Tenant, window: Window) -> list[UsageFigure]:
    totals = usage.totals(tenant.id, window.starts_at, window.ends_at)
    found = []
    for meter in _SHOWN:
        shown = meters.BY_METER[meter]
        found.append(
            UsageFigure(shown.title, words(shown.amount(totals[meter])), shown.explanation)
        )
    return found


def _gauge(limit: limits.Limit) -> Gauge:
    title = limit.title
    if limit.amount is None:
        return Gauge(title, f"{limit.used:,}, no limit", None, 0, "")
    percent = 100 if not limit.amount else int(Decimal(limit.used) * 100 / limit.amount)
    level = "bad" if percent >= 100 else "warn" if percent >= 80 else ""
    said = f"{limit.used:,} of {limit.amount:,}"
    return Gauge(title, said, percent, min(percent, 100), level)


def _alerts(tenant: Tenant) -> list[QuotaAlert]:
    """Return the highest alert of each resource that is not lifted."""
    rows = QuotaAlert.objects.filter(tenant=tenant, lifted_at__isnull=True)
    return list(
        rows.order_by("resource", "-period_starts_at", "-level_percent").distinct("resource")
    )


def _missing(tenant: Tenant) -> list[str]:
    return [title for name, title in _NEEDED.items() if not getattr(tenant, name)]
