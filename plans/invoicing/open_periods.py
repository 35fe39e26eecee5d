"""Finds the periods of tenants that have no invoice: the running one and those due to close."""

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, Max, Min, OuterRef, QuerySet, Subquery

from controlplane.core.errors import Invalid
from plans.models import Invoice, PlanSubscription
from plans.rating.periods import Period, month_of
from tenants.models import Tenant


def whole_seconds(period: Period) -> Period:
    """Return the period with both ends truncated to whole seconds, as invoices store them.

    Raises:
        Invalid: both ends are in the same second.
    """
    return Period(period.starts_at.replace(microsecond=0), period.ends_at.replace(microsecond=0))


def require_one_month(period: Period, time_zone: str) -> None:
    """Raise unless the period is inside one calendar month of ``time_zone`` (an IANA name).

    Fees and included amounts are monthly, so no invoice may cross the end of a month.

    Raises:
        Invalid: the period crosses the end of a month.
    """
    if period.ends_at > month_of(period.starts_at, time_zone).ends_at:
        raise Invalid(
            f"The period crosses the end of a month in {time_zone}: request one invoice per month.",
            code="invoice.crosses_month",
        )


def running(tenant: Tenant, now: datetime) -> Period:
    """Return the period without an invoice that contains ``now``.

    The period ends with the billing month of ``now``. It begins at the end of the tenant's last
    invoice or with the month, whichever is later.
    """
    month = month_of(now, tenant.billing_time_zone)
    last = _last_end(tenant)
    return Period(max(month.starts_at, last), month.ends_at) if last else month


def has_a_second(tenant: Tenant, running: Period, now: datetime) -> bool:
    """Return whether an invoice of ``running`` up to ``now`` would cover any time on a plan.

    Invoices store whole seconds, so ``now`` is truncated first. Then it must be after the start of
    ``running``, and after the start of the tenant's first plan, if the tenant ever had one.
    """
    second = now.replace(microsecond=0)
    first_plan = _first_plan_at(tenant)
    return second > running.starts_at and (first_plan is None or second > first_plan)


def has_plan(tenant: Tenant, period: Period) -> bool:
    """Return whether the tenant had a plan in any part of ``period``, which has whole seconds.

    A plan that ends during the first second of the period does not count, because the end of a plan
    is truncated as invoices are.
    """
    return bool(with_plan([(tenant.pk, period)]))


def with_plan(periods: Collection[tuple[str, Period]]) -> set[tuple[str, Period]]:
    """Return those of ``periods``, as (tenant id, period), for which ``has_plan`` is true.

    One query for any number of periods.
    """
    if not periods:
        return set()
    plans = PlanSubscription.objects.filter(
        tenant__in={tenant_id for tenant_id, _ in periods},
        starts_at__lt=max(period.ends_at for _, period in periods),
    )
    times: dict[str, list[tuple[datetime, datetime | None]]] = {}
    for tenant_id, starts_at, ends_at in plans.values_list("tenant_id", "starts_at", "ends_at"):
        times.setdefault(tenant_id, []).append((starts_at, ends_at))
    second = timedelta(seconds=1)
    return {
        (tenant_id, period)
        for tenant_id, period in periods
        if any(
            starts_at < period.ends_at and (ends_at is None or ends_at >= period.starts_at + second)
            for starts_at, ends_at in times.get(tenant_id, [])
        )
    }


def due(
    now: datetime, grace: timedelta, tenant_ids: Collection[str] = ()
) -> Iterator[tuple[str, Period]]:
    """Yield (tenant id, period) of each period without an invoice whose grace period is over.

    The grace period of length ``grace`` begins at the end of the period. Covers all tenants that
    ever had a plan, ordered by id, and the periods of each in order of time. The first period of a
    tenant starts at the end of the tenant's last invoice, in whatever state. Without an invoice it
    starts with the month of the tenant's first plan. Each period ends with a billing month. A
    tenant without an open plan has no period that begins after the end of its last plan.
    ``tenant_ids`` limits the result to these tenants; empty: all. One query for any number of them.
    """
    for id, zone, first, last_plan, has_plan, billed in _bounds(tenant_ids):
        start = billed or month_of(first, zone).starts_at
        # Truncated as invoices are.
        until = None if has_plan else last_plan.replace(microsecond=0)
        while (month := month_of(start, zone)).ends_at + grace <= now:
            if until is not None and start >= until:
                break
            yield id, Period(start, month.ends_at)
            start = month.ends_at


def _bounds(tenant_ids: Collection[str]) -> QuerySet[Tenant, tuple[Any, ...]]:
    """Return id, time zone, first plan, last plan's end, whether one is open, and last invoice."""
    plans = PlanSubscription.objects.filter(tenant=OuterRef("pk")).order_by()
    invoices = Invoice.objects.filter(tenant=OuterRef("pk")).order_by()
    tenants = Tenant.objects.filter(Exists(plans))
    if tenant_ids:
        tenants = tenants.filter(pk__in=tenant_ids)
    return (
        tenants.annotate(
            first=Subquery(plans.values("tenant").annotate(at=Min("starts_at")).values("at")),
            last=Subquery(plans.values("tenant").annotate(at=Max("ends_at")).values("at")),
            has_plan=Exists(plans.filter(ends_at__isnull=True)),
            billed=Subquery(invoices.values("tenant").annotate(at=Max("ends_at")).values("at")),
        )
        .order_by("id")
        .values_list("id", "billing_time_zone", "first", "last", "has_plan", "billed")
    )


def is_settled(tenant: Tenant) -> bool:
    """Return whether nothing of the tenant is left to bill.

    True if no plan is open, invoices cover all time on plans, and each invoice is issued, paid or
    not. Also true for a tenant that never had a plan.
    """
    if Invoice.objects.filter(tenant=tenant, number__isnull=True).exists():
        return False
    first = _first_plan_at(tenant)
    if first is None:
        return True
    ends = PlanSubscription.objects.filter(tenant=tenant).values_list("ends_at", flat=True)
    # Truncated as invoices are. A null is an open plan.
    known = [end.replace(microsecond=0) for end in ends if end is not None]
    if len(known) < len(ends):
        return False
    # Without an invoice, ``due`` begins with the month of the first plan.
    billed = _last_end(tenant) or month_of(first, tenant.billing_time_zone).starts_at
    return billed >= max(known)


def _first_plan_at(tenant: Tenant) -> datetime | None:
    subscriptions = PlanSubscription.objects.filter(tenant=tenant).order_by("starts_at")
    return subscriptions.values_list("starts_at", flat=True).first()


def _last_end(tenant: Tenant) -> datetime | None:
    ends = Invoice.objects.filter(tenant=tenant).order_by("-ends_at")
    return ends.values_list("ends_at", flat=True).first()  # rows have long documents
