"""Finds the periods of a tenant that have no invoice: the running one and those that are due."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from controlplane.core.errors import Invalid
from plans.models import Invoice, PlanSubscription
from plans.rating.periods import Period, month_of
from tenants.models import Tenant


def whole_seconds(period: Period) -> Period:
    """Return the period with both ends truncated to whole seconds, as invoices store them."""
    return Period(period.starts_at.replace(microsecond=0), period.ends_at.replace(microsecond=0))


def require_one_month(period: Period, time_zone: str) -> None:
    """Raise if a period crosses the end of a month in the billing time zone.

    Raises:
        Invalid: it crosses one; fees and included amounts are monthly.
    """
    if period.ends_at > month_of(period.starts_at, time_zone).ends_at:
        raise Invalid(
            f"The period crosses the end of a month in {time_zone}: request one invoice per month.",
            code="invoice.crosses_month",
        )


def running(tenant: Tenant, now: datetime) -> Period:
    """Return the unbilled period that contains ``now``: from the last close to the month's end."""
    month = month_of(now, tenant.billing_time_zone)
    last = _last_end(tenant)
    return Period(max(month.starts_at, last), month.ends_at) if last else month


def has_a_second(tenant: Tenant, running: Period, now: datetime) -> bool:
    """Return whether ``now`` is in a later clock second than the begin of what it would bill.

    That is the begin of the period and of the tenant's first plan. Invoices store whole seconds, so
    an earlier close would be empty.
    """
    second = now.replace(microsecond=0)
    first_plan = _first_plan_at(tenant)
    return second > running.starts_at and (first_plan is None or second > first_plan)


def due(now: datetime, grace: timedelta) -> Iterator[tuple[Tenant, Period]]:
    """Yield every unbilled period that ended at least ``grace`` ago, oldest first per tenant."""
    tenants = Tenant.objects.filter(plan_subscriptions__isnull=False).distinct().order_by("id")
    for tenant in tenants:
        start = _first_unbilled(tenant)
        while (month := month_of(start, tenant.billing_time_zone)).ends_at + grace <= now:
            yield tenant, Period(start, month.ends_at)
            start = month.ends_at


def _first_unbilled(tenant: Tenant) -> datetime:
    last = _last_end(tenant)
    if last:
        return last
    first = _first_plan_at(tenant)
    assert first is not None  # ``due`` selects only tenants with a subscription
    return month_of(first, tenant.billing_time_zone).starts_at


def _first_plan_at(tenant: Tenant) -> datetime | None:
    subscriptions = PlanSubscription.objects.filter(tenant=tenant).order_by("starts_at")
    return subscriptions.values_list("starts_at", flat=True).first()


def _last_end(tenant: Tenant) -> datetime | None:
    last = Invoice.objects.filter(tenant=tenant).order_by("-ends_at").first()
    return last.ends_at if last else None
