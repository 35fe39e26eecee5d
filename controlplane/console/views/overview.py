"""Shows a tenant's overview page: raised alarms, spaces, usage, limits and spending so far."""

from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from django.http import HttpResponseBase
from django.utils import timezone

from controlplane.console import invoice_reads, limits, meters, space_reads, usage_tables, windows
from controlplane.console.access import tenant_page
from controlplane.console.charts import words
from controlplane.console.scope import TenantScope
from plans.invoicing import true_ups
from plans.usage import reading
from plans.usage.meters import CONNECTION_MS, MESSAGES_IN, MESSAGES_OUT
from tenants import admission
from tenants.models import Tenant
from tenants.notifications import reads
from tenants.notifications.alarms import threshold_words, value_words
from tenants.permissions import Permission

_SHOWN_SPACES = 10  # the rest has a page of its own
_SHOWN_ALARMS = 5  # likewise
_SHOWN = [meters.BY_METER[meter] for meter in (MESSAGES_IN, MESSAGES_OUT, CONNECTION_MS)]
_DRAWN = [meters.BY_METER[meter] for meter in (MESSAGES_IN, MESSAGES_OUT)]
# Billing details (columns of ``Tenant``) without which the next invoice is held, and their titles.
_NEEDED = {
    "billing_name": "legal name",
    "billing_email": "email for invoices",
    "billing_address": "address",
    "billing_country": "country",
}


class UsageFigure(NamedTuple):
    """One meter's total in the current month; ``words`` is the number, ``note`` the meaning.

    ``unit`` is empty if the title has the unit.
    """

    title: str
    words: str
    unit: str
    note: str


class Gauge(NamedTuple):
    """One resource's use against its limit, for a bar on the page.

    ``words`` is a text such as ``3 of 10``. ``percent`` is None without a limit. ``width`` is
    ``percent`` capped at 100. ``level`` is a CSS class: ``warn`` from 80 %, ``bad`` from 100 %, ''
    below.
    """

    title: str
    words: str
    percent: int | None
    width: int
    level: str


class RaisedAlarm(NamedTuple):
    """One raised alarm: its address, its newest value, its threshold, and since when.

    ``value`` and ``threshold`` are texts such as ``1,234 messages``. ``value`` is empty if unknown.
    """

    space: str
    address: str
    address_id: str
    value: str
    threshold: str
    since: datetime


@tenant_page(Permission.VIEW)
def page(scope: TenantScope) -> HttpResponseBase:
    """Show a tenant's raised alarms, first ten spaces, usage of the month by days, and limits.

    Quota alerts come first. Only roles with the permission to view billing see what the current
    period costs so far, and which billing details are missing.
    """
    window = windows.parse("", scope.tenant.billing_time_zone, timezone.now())
    phases = space_reads.phases(scope.tenant)
    series = usage_tables.read(scope.tenant.id, window, wanted=_DRAWN)
    totals = reading.totals(scope.tenant.id, window.starts_at, window.ends_at)
    context: dict[str, Any] = {
        "window": window,
        "plan": admission.open_plan(scope.tenant),
        "spaces": space_reads.listed(scope.tenant)[:_SHOWN_SPACES],
        "phases": phases,
        "space_count": sum(count for _, count in phases),
        "as_of": reading.as_of(),
        **_raised(scope.tenant),
        "alerts": limits.alerts(scope.tenant, with_money=scope.may["view_billing"]),
        "figures": [
            UsageFigure(
                shown.title,
                words(shown.amount(totals[shown.meter])),
                shown.heading_unit,
                shown.explanation,
            )
            for shown in _SHOWN
        ],
        "panels": usage_tables.panels(series, window),
        "gauges": [_gauge(limit) for limit in limits.of(scope.tenant)],
    }
    # Not every role may see amounts.
    if scope.may["view_billing"]:
        preview = context["preview"] = invoice_reads.running(scope.tenant)
        if preview is not None:
            context["true_up_minor"] = true_ups.total_minor(preview.document)
        # A part of the month is closed already.
        if preview is not None and preview.period != preview.facts.month:
            context["is_rest"] = True
            context["invoiced_minor"] = invoice_reads.invoiced_minor(preview)
        # Nothing is due on a free plan, so no invoice waits for the details.
        is_due = preview is not None and preview.total_minor > 0
        context["billing_missing"] = [
            title for name, title in _NEEDED.items() if is_due and not getattr(scope.tenant, name)
        ]
    return scope.render("overview.html", context)


def _raised(tenant: Tenant) -> dict[str, Any]:
    """Return the template context of the newest raised alarms, by one query.

    ``has_more_alarms`` says whether further alarms are raised.
    """
    rows = reads.list_tenant_alarms(tenant).filter(raised_at__isnull=False)
    found = [
        RaisedAlarm(
            alarm.space.name,
            alarm.address.address,
            alarm.address_id,
            "" if alarm.last_value is None else value_words(alarm.metric, alarm.last_value),
            threshold_words(alarm),
            alarm.raised_at,
        )
        for alarm in rows[: _SHOWN_ALARMS + 1]
        if alarm.raised_at is not None  # always so; mypy cannot know
    ]
    return {
        "raised_alarms": found[:_SHOWN_ALARMS],
        "has_more_alarms": len(found) > _SHOWN_ALARMS,
    }


def _gauge(limit: limits.Limit) -> Gauge:
    title = limit.title
    if limit.amount is None:
        return Gauge(title, f"{limit.words(limit.used)}, no limit", None, 0, "")
    # A limit of zero counts as fully used.
    percent = 100 if not limit.amount else int(Decimal(limit.used) * 100 / limit.amount)
    level = "bad" if percent >= 100 else "warn" if percent >= 80 else ""
    text = f"{limit.words(limit.used)} of {limit.words(limit.amount)}"
    return Gauge(title, text, percent, min(percent, 100), level)
