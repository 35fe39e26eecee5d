"""Periods without an invoice: which are missing of a month, in which state, and when none is."""

from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from controlplane.core.errors import Invalid
from plans.export_kinds import FileFormat
from plans.exports import periods_without_invoice, report_days, tables
from plans.exports.periods_without_invoice import MonthReport, PeriodWithoutInvoice
from plans.invoicing import credit_notes, invoice_closing, issuing, replacing
from plans.models import CloseRun, Invoice, PlanSubscription
from tenants.models import Tenant
from tests.support import query_plans
from tests.support.plans import billing_rows as rows
from tests.support.plans import debts
from tests.support.plans.billing_rows import AFTER_GRACE, ENDS_AT, STAFF, STARTS_AT

pytestmark = pytest.mark.django_db
MARCH, APRIL, MAY = date(2026, 3, 1), date(2026, 4, 1), date(2026, 5, 1)
DAY = timedelta(days=1)


def report(now: datetime = AFTER_GRACE, month: date = APRIL) -> MonthReport:
    return periods_without_invoice.report(month, now)


def states(now: datetime = AFTER_GRACE, month: date = APRIL) -> list[tuple[str, str]]:
    """Return (tenant's name, state) of each period that is missing."""
    return [(one.tenant.name, one.state) for one in report(now, month).missing]


def only(now: datetime = AFTER_GRACE) -> PeriodWithoutInvoice:
    (one,) = report(now).missing
    return one


def held(owner: Tenant) -> Invoice:
    """Return the invoice of April, held because the billing address is missing."""
    Tenant.objects.filter(pk=owner.pk).update(billing_address="")
    return invoice_closing.close(invoice=rows.asked(owner), evidence=rows.evidence(), by=STAFF)


def test_a_month_is_complete_when_each_tenant_with_a_plan_has_its_invoice() -> None:
    for _ in range(2):
        rows.issued(rows.tenant())
    # A tenant without a plan, and one whose plan began after the month.
    Tenant.objects.create(name="planless", slug="planless")
    rows.tenant(ENDS_AT)

    found = report()

    assert (found.is_complete, found.n_issued, found.missing) == (True, 2, ())
    # The running plans of both tenants have no invoice of May yet.
    assert len(report(AFTER_GRACE + 40 * DAY, MAY).missing) == 3


def test_each_state_says_what_to_do_next_and_what_needs_somebody_comes_first() -> None:
    closing, draft, approved = (rows.tenant(name=name) for name in ("c", "d", "a"))
    stopped, none, issued = (rows.tenant(name=name) for name in ("h", "n", "i"))
    rows.asked(closing)
    rows.drafted(draft)
    issuing.approve(invoice=rows.drafted(approved), by=STAFF)
    invoice = held(stopped)
    rows.issued(issued)

    found = report()

    assert [(one.tenant, one.state) for one in found.missing] == [
        (stopped, "held"), (none, "due"), (closing, "closing"), (draft, "draft"),
        (approved, "approved"),
    ]  # fmt: skip
    assert (found.n_issued, found.is_complete) == (1, False)
    first, second = found.missing[:2]
    assert first.invoice_id == invoice.pk
    assert [row["code"] for row in first.reasons] == ["billing_details.missing"]
    assert first.next_step == "Correct what holds the invoice, then close it again."
    assert (second.invoice_id, second.next_step) == (None, "Start a close run.")
    assert (second.period.starts_at, second.period.ends_at) == (STARTS_AT, ENDS_AT)
    assert second.due_at == AFTER_GRACE


@pytest.mark.parametrize(
    ("before", "state"),
    [
        (timedelta(0), "due"),
        (timedelta(seconds=1), "in_grace"),
        (timedelta(hours=72), "in_grace"),
        (timedelta(hours=72, seconds=1), "running"),
    ],
)
def test_a_period_without_an_invoice_is_due_after_its_grace_period(
    before: timedelta, state: str
) -> None:
    rows.tenant()

    assert only(AFTER_GRACE - before).state == state


def test_a_month_ends_in_the_billing_time_zone_of_each_tenant() -> None:
    since = STARTS_AT - 2 * DAY
    for zone in ("Pacific/Auckland", "UTC", "America/Los_Angeles"):
        rows.tenant(since, name=zone, billing_time_zone=zone)

    # April ends on 30 April at 12:00 in Auckland and on 1 May at 07:00 in Los Angeles.
    assert states(ENDS_AT) == [
        ("Pacific/Auckland", "in_grace"), ("UTC", "in_grace"), ("America/Los_Angeles", "running")
    ]  # fmt: skip
    assert states(AFTER_GRACE) == [
        ("Pacific/Auckland", "due"), ("UTC", "due"), ("America/Los_Angeles", "in_grace")
    ]  # fmt: skip
    assert states(AFTER_GRACE + timedelta(hours=7))[0] == ("America/Los_Angeles", "due")
    # In Auckland it was April already, but everywhere else the plans began in March.
    assert [name for name, _ in states(month=MARCH)] == [
        "America/Los_Angeles", "Pacific/Auckland", "UTC"
    ]  # fmt: skip


def test_issued_invoices_count_in_the_month_of_their_own_time_zone() -> None:
    owner = rows.tenant(STARTS_AT - DAY, billing_time_zone="Pacific/Auckland")
    invoice = debts.issued(owner, AFTER_GRACE.date())
    assert invoice.starts_at < STARTS_AT
    Tenant.objects.update(billing_time_zone="UTC")

    assert report().n_issued == 1
    assert report(month=MARCH).n_issued == 0


def test_a_replaced_invoice_counts_once_and_a_void_one_not_at_all() -> None:
    first, second = (rows.issued(rows.tenant()) for _ in range(2))
    credit_notes.void(invoice=first, reason="never ordered", by=STAFF, now=AFTER_GRACE)
    replacing.replace(invoice=second, reason="wrong buyer", by=STAFF, now=AFTER_GRACE)

    found = report()

    assert (found.n_issued, found.missing) == (1, ())


def test_the_rest_of_a_month_that_was_closed_early_is_missing() -> None:
    owner = rows.tenant()
    middle = STARTS_AT + 14 * DAY
    invoice, _ = invoice_closing.close_now(tenant=owner, by=STAFF, now=middle)
    draft = invoice_closing.close(invoice=invoice, evidence=rows.evidence(as_of=middle), by=STAFF)
    issuing.issue(invoice=issuing.approve(invoice=draft, by=STAFF), by=STAFF, now=middle)

    found = report()

    assert found.n_issued == 1
    assert [(one.state, one.period.starts_at) for one in found.missing] == [("due", middle)]


def test_periods_of_the_days_before_and_after_are_not_of_the_month() -> None:
    for n, now in enumerate((STARTS_AT - timedelta(hours=9), ENDS_AT + timedelta(hours=9))):
        owner = rows.tenant(now - DAY, name=f"{n}")
        Invoice.objects.create(tenant=owner, starts_at=now - DAY, ends_at=now, number=f"WP-{n}")
        draft = rows.tenant(now, name=f"draft {n}")
        Invoice.objects.create(
            tenant=draft, starts_at=now, ends_at=now + timedelta(hours=3), state="draft"
        )

    # Without an invoice: the rest of 31 March and April; that of 1 May is in May.
    assert states() == [("0", "due"), ("draft 0", "due")]
    assert states(month=MARCH) == [("0", "due"), ("draft 0", "due"), ("draft 0", "draft")]


def test_a_tenant_that_a_run_had_to_skip_has_the_reason_of_the_newest_run() -> None:
    owner = rows.tenant()
    # It was skipped for an earlier month.
    CloseRun.objects.create(
        requested_by="system",
        requested_at=STARTS_AT + DAY,
        skipped=[{"tenant": owner.pk, "code": "old", "message": "Old."}],
    )
    assert only().state == "due"
    why = [("invoice.period_overlaps", "Older."), ("plan.not_priced", "The plan has no price.")]
    for n, (code, message) in enumerate(why):
        CloseRun.objects.create(
            requested_by="system",
            requested_at=AFTER_GRACE + n * DAY,
            skipped=[{"tenant": owner.pk, "code": code, "message": message}],
        )
    one = only(AFTER_GRACE + 2 * DAY)

    assert one.state == "skipped"
    assert one.reasons == [{"code": "plan.not_priced", "message": "The plan has no price."}]


def test_a_tenant_without_a_plan_in_the_month_is_not_missing() -> None:
    """A close run makes an invoice for a month between two plans, and holds it."""
    owner = rows.tenant(STARTS_AT - 40 * DAY)
    PlanSubscription.objects.update(ends_at=STARTS_AT - 20 * DAY)
    PlanSubscription.objects.create(tenant=owner, plan=rows.plan(), starts_at=ENDS_AT + 2 * DAY)

    assert report().is_complete
    rows.asked(owner)
    assert report().is_complete
    assert [state for _, state in states(month=MARCH)] == []


def test_a_plan_that_ended_in_the_first_second_of_the_month_does_not_count() -> None:
    rows.asked(rows.tenant(STARTS_AT - 20 * DAY))

    found = []
    for microseconds in (999_999, 1_000_000):
        PlanSubscription.objects.update(ends_at=STARTS_AT + timedelta(microseconds=microseconds))
        found.append(report().is_complete)

    assert found == [True, False]


def test_the_file_has_a_row_for_each_period() -> None:
    owner = rows.tenant(name="=cmd")
    invoice = held(owner)

    with tables.write(periods_without_invoice.COLUMNS, report().rows(), FileFormat.CSV) as file:
        head, line = file.read().decode().splitlines()

    assert head == "month,tenant_id,tenant,starts_at,ends_at,state,invoice,reasons,next_step"
    assert line.startswith(
        f"2026-04,{owner.pk},'=cmd,2026-04-01T00:00:00Z,2026-05-01T00:00:00Z,held,{invoice.pk},"
        '"billing_details.missing: '
    )


def test_the_number_of_queries_does_not_follow_that_of_tenants() -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            report()
        return len(found)

    def more() -> None:
        rows.tenant()
        rows.drafted(rows.tenant())
        rows.issued(rows.tenant())

    more()
    one = queries()
    more()

    assert queries() == one == 6


def test_only_the_invoices_of_the_month_that_are_not_issued_are_read() -> None:
    held(rows.tenant())
    other = rows.issued(rows.tenant()).tenant
    days = [ENDS_AT + n * DAY for n in range(5, 205)]
    Invoice.objects.bulk_create(
        Invoice(tenant=other, starts_at=day, ends_at=day + DAY) for day in days
    )

    with CaptureQueriesContext(connection) as found:
        report()

    (statement,) = [query["sql"] for query in found if '"number" IS NULL' in query["sql"]]
    assert query_plans.rows_read([statement], {"plans_invoice"}) == {"plans_invoice": 1}


def test_only_a_month_that_ended_is_reported() -> None:
    now = datetime(2026, 5, 1, 0, 0, tzinfo=UTC)

    assert report_days.ended_month(None, now) == APRIL
    assert report_days.ended_month("2025-12", now) == date(2025, 12, 1)
    assert report_days.ended_month(None, now - timedelta(seconds=1)) == MARCH
    for text in ("2026-05", "2027-01", "April", "2026-13"):
        with pytest.raises(Invalid):
            report_days.ended_month(text, now)
