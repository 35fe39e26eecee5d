"""Reports the periods of an ended month for which no invoice is issued, and why.

If the report is empty, the month is complete: each period in which a tenant had a plan has an
issued invoice. ``plans.invoicing.open_periods`` knows the periods, and close runs close them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db.models import Count

from plans.exports import report_days
from plans.exports.tables import Column, Row, Type
from plans.invoicing import close_run_reads, invoice_closing, open_periods
from plans.models import Invoice
from plans.rating.periods import Period
from tenants.models import Tenant

# What an operator does next, by the state of the period: first the states of a period without an
# invoice, then those of its invoice. The order is that of the report.
NEXT_STEPS: Mapping[str, str] = {
    "held": "Correct what holds the invoice, then close it again.",
    "skipped": "Correct what stops the close, then start a close run.",
    "due": "Start a close run.",
    "open": "Close the invoice again.",
    "closing": "Wait until workers have closed the period.",
    "draft": "Read the draft, then approve it.",
    "approved": "Issue the invoice.",
    "in_grace": "Wait for the close run: late usage may still arrive.",
    "running": "Wait until the period ends in the tenant's time zone.",
}
COLUMNS = (
    Column("month", Type.CODE),
    Column("tenant_id", Type.CODE),
    Column("tenant", Type.TEXT),
    Column("starts_at", Type.INSTANT),
    Column("ends_at", Type.INSTANT),
    Column("state", Type.CODE),
    Column("invoice", Type.CODE),
    Column("reasons", Type.TEXT),
    Column("next_step", Type.TEXT),
)


@dataclass(frozen=True)
class PeriodWithoutInvoice:
    """A period of a tenant, in which it had a plan, without an issued invoice.

    ``state`` is a key of ``NEXT_STEPS``. ``invoice_id`` is the invoice that is not issued yet; None
    if the period has none. ``reasons`` are those of a held or skipped period, as {code, message}.
    ``due_at`` is when a close run closes the period.
    """

    tenant: Tenant
    period: Period
    state: str
    due_at: datetime
    invoice_id: str | None = None
    reasons: Sequence[Mapping[str, str]] = ()

    @property
    def next_step(self) -> str:
        return NEXT_STEPS[self.state]

    def rank(self) -> tuple[int, str, str, datetime]:
        """Return the key of the order of the report: what needs an operator comes first."""
        place = list(NEXT_STEPS).index(self.state)
        return place, self.tenant.name, self.tenant.pk, self.period.starts_at


@dataclass(frozen=True)
class MonthReport:
    """What is missing of a month (its first day), and how many invoices of it are issued.

    A void invoice is neither missing nor counted: staff decided that its period is not billed.
    """

    month: date
    n_issued: int
    missing: tuple[PeriodWithoutInvoice, ...]

    @property
    def is_complete(self) -> bool:
        return not self.missing

    def rows(self) -> Iterator[Row]:
        """Yield the periods as rows of ``COLUMNS``."""
        for one in self.missing:
            yield {
                "month": f"{self.month:%Y-%m}",
                "tenant_id": one.tenant.pk,
                "tenant": one.tenant.name,
                "starts_at": one.period.starts_at,
                "ends_at": one.period.ends_at,
                "state": one.state,
                "invoice": one.invoice_id,
                "reasons": "; ".join(f"{row['code']}: {row['message']}" for row in one.reasons),
                "next_step": one.next_step,
            }


def report(month: date, now: datetime) -> MonthReport:
    """Return what is missing of the month that begins on ``month``, as it is at ``now``.

    A period is in the month in which it begins, in the billing time zone of its invoice or, without
    an invoice, of its tenant. The number of queries is constant.
    """
    found = [*_without_invoice(month, now), *_not_issued(month)]
    had_plan = open_periods.with_plan([(one.tenant.pk, one.period) for one in found])
    missing = [one for one in found if (one.tenant.pk, one.period) in had_plan]
    missing.sort(key=PeriodWithoutInvoice.rank)
    return MonthReport(month, _n_issued(month), tuple(missing))


def _without_invoice(month: date, now: datetime) -> Iterator[PeriodWithoutInvoice]:
    """Yield the periods of the month that have no invoice in any state."""
    span = report_days.around(month)
    # At the latest end of the month, and without grace: what is not due yet is missing, too.
    due = open_periods.due(span.ends_at, timedelta(0))
    found = [(id, period) for id, period in due if span.contains(period.starts_at)]
    tenants = Tenant.objects.in_bulk({id for id, _ in found})
    skipped = close_run_reads.skipped_since(span.ends_at - timedelta(days=2))
    for id, period in found:
        if not report_days.is_in(month, period.starts_at, tenants[id].billing_time_zone):
            continue
        due_at = period.ends_at + invoice_closing.grace()
        if id in skipped:
            yield PeriodWithoutInvoice(tenants[id], period, "skipped", due_at, None, [skipped[id]])
        elif due_at <= now:
            yield PeriodWithoutInvoice(tenants[id], period, "due", due_at)
        else:
            state = "running" if period.ends_at > now else "in_grace"
            yield PeriodWithoutInvoice(tenants[id], period, state, due_at)


def _not_issued(month: date) -> Iterator[PeriodWithoutInvoice]:
    """Yield the periods of the month whose invoice is not issued."""
    span = report_days.around(month)
    rows = Invoice.objects.filter(
        number__isnull=True, starts_at__gte=span.starts_at, starts_at__lt=span.ends_at
    )
    for row in rows.select_related("tenant").defer("document", "manifest", "quality"):
        if report_days.is_in(month, row.starts_at, row.time_zone or row.tenant.billing_time_zone):
            period = Period(row.starts_at, row.ends_at)
            reasons = row.held_reasons if row.state == Invoice.State.HELD else ()
            due_at = row.ends_at + invoice_closing.grace()
            yield PeriodWithoutInvoice(row.tenant, period, row.state, due_at, row.pk, reasons)


def _n_issued(month: date) -> int:
    span = report_days.around(month)
    rows = (
        Invoice.valid()
        .filter(number__isnull=False, starts_at__gte=span.starts_at, starts_at__lt=span.ends_at)
        .exclude(state=Invoice.State.VOIDED)
    )
    counted = rows.values_list("starts_at", "time_zone", "tenant__billing_time_zone").annotate(
        n=Count("id")
    )
    return sum(
        n for at, zone, of_tenant, n in counted if report_days.is_in(month, at, zone or of_tenant)
    )
