"""What tenants were billed and have paid, for operators. A constant number of queries.

Amounts are integers in minor units, one row for each currency: currencies are never added up.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.db.models import (
    Case,
    CharField,
    Count,
    F,
    JSONField,
    Max,
    QuerySet,
    Sum,
    Value,
    When,
    Window,
)
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce, NullIf, RowNumber

from plans.catalog import publishing
from plans.invoicing import receiving
from plans.models import Invoice, Plan, PlanSubscription
from plans.rating import periods

_MONTHS = 24  # in the chart
_LONGEST_MONTH = timedelta(days=31)
_TENANTS = 20  # those with the largest revenue


@dataclass(frozen=True)
class MonthRevenue:
    """What the invoices of one month and currency say.

    ``month`` is the first day of the billing month. ``outstanding_minor`` is the part of the total
    that is still to be paid, ``written_off_minor`` the part that is
    written off and not paid since.
    """

    month: date
    currency: str
    n_invoices: int = 0
    net_minor: int = 0
    total_minor: int = 0
    outstanding_minor: int = 0
    written_off_minor: int = 0


@dataclass(frozen=True)
class PlanRevenue:
    """How many tenants subscribe to a plan version now, and the fees of a month together."""

    title: str
    version: int
    currency: str
    n_tenants: int
    fee_minor: int
    fees_minor: int


def by_month() -> Sequence[MonthRevenue]:
    """Return the revenue of the last 24 months by month and currency, the newest month first.

    The last month is the newest one with an issued invoice. Months without an issued invoice are
    left out. An invoice belongs to the month in which its period begins, in its own time zone.
    """
    newest = _issued().aggregate(newest=Max("starts_at"))["newest"]
    if newest is None:
        return []
    found: dict[tuple[date, str], MonthRevenue] = {}
    for row in _by_start(newest - _MONTHS * _LONGEST_MONTH):
        month = row["starts_at"].astimezone(periods.zone(row["zone"])).date().replace(day=1)
        key = month, row["currency"]
        sums = found.get(key, MonthRevenue(*key))
        found[key] = MonthRevenue(
            *key,
            sums.n_invoices + row["n"],
            sums.net_minor + row["net"],
            sums.total_minor + row["total"],
            sums.outstanding_minor + row["due"],
            sums.written_off_minor + row["lost"],
        )
    last = max(map(_number, found.values()))
    shown = [one for one in found.values() if _number(one) > last - _MONTHS]
    return sorted(shown, key=lambda one: (-_number(one), one.currency))


def _number(one: MonthRevenue) -> int:
    """Return the number of the month since the beginning of the calendar."""
    return one.month.year * 12 + one.month.month


def _by_start(since: datetime) -> Iterator[Mapping[str, Any]]:
    """Yield sums of the issued invoices from ``since`` on, by start, time zone and currency.

    The time zone is the one that the invoice's document stores: that of the tenant may have changed
    since. A document without one has the tenant's.
    """
    rows = _issued().filter(starts_at__gte=since)
    # Only invoices that an earlier version drafted have no zone of their own: reading it from the
    # document of each invoice would take most of the page's time.
    stored = KT("stored__period__time_zone")
    without = (
        rows.filter(time_zone="")
        .annotate(stored=Cast(NullIf("document", Value("")), JSONField()))
        .annotate(zone=Coalesce(stored, "tenant__billing_time_zone", output_field=CharField()))
    )
    for found in (rows.exclude(time_zone="").annotate(zone=F("time_zone")), without):
        yield from _sums(found)


def _sums(rows: QuerySet[Any, Any]) -> Iterable[Mapping[str, Any]]:
    """Return the sums of ``rows``, which have ``zone``, by start, zone and currency."""
    # Of a paid invoice nothing is due, so its payments need not be added up.
    due = Case(When(state__in=receiving.UNPAID, then=receiving.outstanding()), default=0)
    lost = Case(When(state=Invoice.State.UNCOLLECTIBLE, then=receiving.outstanding()), default=0)
    summed = {"n": Count("id"), "net": Sum("net_minor"), "total": Sum("total_minor")}
    summed |= {"due": Sum(due), "lost": Sum(lost)}
    return list(rows.values("starts_at", "zone", "currency").annotate(**summed))


def largest(since: datetime) -> Sequence[Mapping[str, Any]]:
    """Return the 20 tenants with the highest net amount in invoices of periods from ``since`` on.

    Amounts of two currencies cannot be compared, so each currency has its own 20 tenants; rows are
    in the order of the currency, then of the amount. Each row has ``tenant__name``,
    ``tenant__slug``, ``currency``, ``n`` and ``net``.
    """
    ranked = (
        _issued()
        .filter(starts_at__gte=since)
        .values("tenant__name", "tenant__slug", "currency")
        .annotate(n=Count("id"), net=Sum("net_minor"))
        .annotate(
            rank=Window(
                RowNumber(),
                partition_by=F("currency"),
                order_by=[F("net").desc(), F("tenant__slug").asc()],
            )
        )
    )
    return list(ranked.filter(rank__lte=_TENANTS).order_by("currency", "rank"))


def by_plan() -> Sequence[PlanRevenue]:
    """Return the plans to which tenants subscribe now, by currency of their invoices.

    Of each currency, the plan with the highest fees comes first.
    """
    counted = (
        PlanSubscription.objects.filter(ends_at__isnull=True)
        .order_by()
        .values_list("plan", "tenant__seller_assignment__currency")
        .annotate(n=Count("id"))
    )
    sums: Counter[tuple[int, str]] = Counter()
    plans = Plan.objects.in_bulk({pk for pk, _, _ in counted})
    for pk, currency, n_tenants in counted:
        # Without an assignment the main seller sells, in the plan's own currency.
        sums[pk, currency or publishing.plan_definition(plans[pk]).currency] += n_tenants
    found = []
    for (pk, currency), n_tenants in sums.items():
        row, plan = plans[pk], publishing.plan_in(plans[pk], currency)
        found.append(
            PlanRevenue(
                plan.title,
                row.version,
                plan.currency,
                n_tenants,
                plan.monthly_fee_minor,
                plan.monthly_fee_minor * n_tenants,
            )
        )
    return sorted(
        found, key=lambda plan: (plan.currency, -plan.fees_minor, plan.title, plan.version)
    )


def _issued() -> QuerySet[Invoice]:
    """Return the invoices that have a number and are not voided."""
    return (
        Invoice.objects.filter(number__isnull=False).exclude(state=Invoice.State.VOIDED).order_by()
    )
