"""Aged receivables by hand: buckets, what changes a debt, sellers and currencies, days in the past.

Every invoice of euros is 49.00 and 19 % tax: 58.31. It is due 14 days after its issue.
"""

from datetime import date, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from plans.export_kinds import FileFormat
from plans.exports import aged_receivables, tables
from plans.exports.aged_receivables import Group
from plans.invoicing import credit_notes, issuing, refunding
from plans.invoicing.refunding import Wanted
from tenants.models import Tenant
from tests.support import query_plans
from tests.support.plans import billing_rows as rows
from tests.support.plans import debts, two_sellers
from tests.support.plans.billing_rows import STAFF, STARTS_AT
from tests.support.plans.two_sellers import DOLLARS, FRANCS

pytestmark = pytest.mark.django_db
ISSUED = date(2026, 5, 4)
DUE = date(2026, 5, 18)
DAY = timedelta(days=1)


def on(day: date) -> list[Group]:
    """Return the report of a day of the past."""
    return aged_receivables.report(day, timezone.now())


def due(day: date) -> dict[str, int]:
    """Return {bucket: amount} of the only group of the report, without empty buckets."""
    groups = on(day)
    assert len(groups) <= 1
    sums = groups[0].sums if groups else aged_receivables.Amounts()
    found = {name: getattr(sums, name) for name in aged_receivables.BUCKETS}
    assert sums.total == sum(found.values())
    assert sums.overdue == sums.total - sums.not_due
    return {name: minor for name, minor in found.items() if minor}


@pytest.mark.parametrize(
    ("days", "bucket"),
    [
        (-14, "not_due"),
        (0, "not_due"),
        (1, "days_1_to_30"),
        (30, "days_1_to_30"),
        (31, "days_31_to_60"),
        (60, "days_31_to_60"),
        (61, "days_61_to_90"),
        (90, "days_61_to_90"),
        (91, "days_over_90"),
        (150, "days_over_90"),
    ],
)
def test_the_bucket_follows_from_the_days_since_the_due_day(days: int, bucket: str) -> None:
    debts.issued(rows.tenant(), ISSUED)

    assert due(DUE + days * DAY) == {bucket: 5831}


def test_an_invoice_is_not_owed_before_its_issue() -> None:
    debts.issued(rows.tenant(), ISSUED)

    assert due(ISSUED - DAY) == {}


@pytest.mark.parametrize(
    ("zone", "hour", "first_late_day"),
    [
        # Issued at 18:00 in UTC, so it is due on 19 May there, which ends on 19 May at 12:00 UTC.
        ("Pacific/Auckland", 18, date(2026, 5, 19)),
        ("UTC", 18, date(2026, 5, 19)),
        # It is due on 18 May there, which ends on 19 May at 07:00 UTC.
        ("America/Los_Angeles", 18, date(2026, 5, 19)),
        # Issued on 4 May at 02:00 UTC: there it is 3 May, so it is due on 17 May.
        ("America/Los_Angeles", 2, date(2026, 5, 18)),
    ],
)
def test_days_count_in_the_billing_time_zone(zone: str, hour: int, first_late_day: date) -> None:
    invoice = debts.issued(rows.tenant(STARTS_AT - DAY, billing_time_zone=zone), ISSUED, hour)

    assert due(first_late_day - DAY) == {"not_due": 5831}
    assert due(first_late_day) == {"days_1_to_30": 5831}
    assert invoice.late_from is not None
    assert invoice.late_from.date() == first_late_day


def test_of_the_running_day_what_is_late_by_now_is_overdue() -> None:
    invoice = debts.issued(
        rows.tenant(STARTS_AT - DAY, billing_time_zone="America/Los_Angeles"), ISSUED, 18
    )
    late_from = invoice.late_from
    assert late_from is not None

    found = [
        aged_receivables.report(late_from.date(), now)[0].sums.overdue
        for now in (late_from - timedelta(seconds=1), late_from)
    ]

    assert found == [0, 5831]


def test_a_part_payment_leaves_the_rest() -> None:
    debts.paid(debts.issued(rows.tenant(), ISSUED), 1000, DUE + 5 * DAY)

    assert due(DUE + 4 * DAY) == {"days_1_to_30": 5831}
    assert due(DUE + 5 * DAY) == {"days_1_to_30": 4831}


def test_what_is_paid_too_much_is_credit_and_no_debt_below_zero() -> None:
    owner = rows.tenant()
    debts.paid(debts.issued(owner, ISSUED), 6000, DUE)

    assert due(DUE - DAY) == {"not_due": 5831}
    assert due(DUE) == {}


def test_a_refund_without_credit_is_owed_again_by_its_first_due_day() -> None:
    payment = debts.paid(debts.issued(rows.tenant(), ISSUED), 5831, DUE)
    wanted = Wanted(831, "paid twice", reopens=True)
    refund = refunding.book(payment, wanted, by=STAFF, now=debts.at(DUE + 40 * DAY))
    refunding.fail(refund, message="no account", by=STAFF, now=debts.at(DUE + 50 * DAY))

    assert due(DUE + 39 * DAY) == {}
    assert due(DUE + 40 * DAY) == {"days_31_to_60": 831}
    assert due(DUE + 50 * DAY) == {}


def test_a_credit_note_takes_from_the_debt_and_a_void_ends_it() -> None:
    invoice = debts.issued(rows.tenant(), ISSUED)
    wanted = {1: 1000}  # and 1.90 of tax
    credit_notes.issue(
        invoice=invoice, wanted=wanted, reason="an outage", by=STAFF, now=debts.at(DUE)
    )
    credit_notes.void(
        invoice=invoice, reason="never ordered", by=STAFF, now=debts.at(DUE + 2 * DAY)
    )

    assert due(DUE - DAY) == {"not_due": 5831}
    assert due(DUE + DAY) == {"days_1_to_30": 4641}
    assert due(DUE + 2 * DAY) == {}


def test_a_write_off_ends_the_debt_and_a_later_payment_does_not_go_below_zero() -> None:
    invoice = debts.issued(rows.tenant(), ISSUED)
    debts.paid(invoice, 1000, DUE)
    issuing.mark_overdue(by=STAFF, now=debts.at(DUE + 2 * DAY))
    issuing.write_off(invoice=invoice, by=STAFF, reason="bankrupt", now=debts.at(DUE + 70 * DAY))
    debts.paid(invoice, 500, DUE + 80 * DAY)

    assert due(DUE + 69 * DAY) == {"days_61_to_90": 4831}
    assert due(DUE + 70 * DAY) == {}
    assert due(DUE + 80 * DAY) == {}


def world() -> dict[str, Tenant]:
    """Return tenants of two sellers and three currencies with debts of different ages.

    On 10 July: ``old`` owes 58.31 for 53 days, ``late`` for 23 days, ``part`` 48.31 for 53 days,
    ``fresh`` is not late. ``francs`` owes three times and ``dollars`` twice the fee, with 19 % and
    6.25 % of tax, in their own currencies.
    """
    found = {name: two_sellers.tenant(name=name) for name in ("old", "late", "part", "fresh")}
    found["francs"] = two_sellers.tenant(FRANCS, name="francs")
    found["dollars"] = two_sellers.tenant(DOLLARS, name="dollars")
    days = {"late": date(2026, 6, 3), "fresh": date(2026, 7, 1)}
    invoices = {name: debts.issued(one, days.get(name, ISSUED)) for name, one in found.items()}
    debts.paid(invoices["part"], 1000, date(2026, 6, 1))
    return found


def test_currencies_and_sellers_are_apart_and_the_largest_overdue_debt_comes_first() -> None:
    world()

    groups = on(date(2026, 7, 10))

    assert [
        (group.sums.legal_entity, group.sums.currency, [debt.tenant.name for debt in group.debts])
        for group in groups
    ] == [
        ("wp", "CHF", ["francs"]),
        ("wp", "EUR", ["late", "old", "part", "fresh"]),
        ("wp-inc", "USD", ["dollars"]),
    ]
    sums = {group.sums.currency: group.sums for group in groups}
    # 147.00 and 27.93 of tax; 98.00 and 6.13 of tax, due after 30 days.
    assert (sums["CHF"].days_31_to_60, sums["CHF"].total) == (17493, 17493)
    assert (sums["USD"].days_31_to_60, sums["USD"].total) == (10413, 10413)
    euros = [getattr(sums["EUR"], name) for name in aged_receivables.BUCKETS]
    assert euros == [5831, 5831, 5831 + 4831, 0, 0]
    assert (sums["EUR"].overdue, sums["EUR"].total) == (16493, 22324)


def test_the_sum_of_each_day_is_the_balance_of_the_ledger() -> None:
    found = world()
    invoice = found["late"].invoices.get()
    payment = debts.paid(invoice, 6000, date(2026, 6, 20))
    back = Wanted(3000, "paid twice", reopens=True)
    refund = refunding.book(payment, back, by=STAFF, now=debts.at(date(2026, 6, 25)))
    refunding.fail(refund, message="no account", by=STAFF, now=debts.at(date(2026, 7, 5)))
    notes = {"old": {1: 1000}, "part": {1: 300}, "dollars": None}
    for name, wanted in notes.items():
        credit_notes.issue(
            invoice=found[name].invoices.get(), wanted=wanted, reason="an outage", by=STAFF,
            now=debts.at(date(2026, 6, 10)),
        )  # fmt: skip
    issuing.mark_overdue(by=STAFF, now=debts.at(date(2026, 7, 1)))
    issuing.write_off(
        invoice=found["old"].invoices.get(), by=STAFF, reason="bankrupt",
        now=debts.at(date(2026, 7, 2)),
    )  # fmt: skip

    days = [date(2026, 5, 1) + n * DAY for n in range(90)]
    sums = [
        {(one.sums.legal_entity, one.sums.currency): one.sums.total for one in on(day)}
        for day in days
    ]

    assert sums == [debts.receivable(day) for day in days]
    assert len({str(one) for one in sums}) > 8


def test_open_items_are_the_unpaid_invoices_of_one_tenant() -> None:
    found = world()

    items = aged_receivables.open_items(date(2026, 7, 10), timezone.now(), found["part"])
    before = aged_receivables.open_items(date(2026, 5, 31), timezone.now(), found["part"])

    (invoice,) = found["part"].invoices.all()
    assert [(item.invoice, item.days_overdue, item.due_minor, item.bucket) for item in items] == [
        (invoice, 53, 4831, "days_31_to_60")
    ]
    assert [(item.days_overdue, item.due_minor) for item in before] == [(13, 5831)]


def test_the_file_has_a_row_for_each_tenant_in_the_main_unit() -> None:
    found = world()
    day = date(2026, 7, 10)

    table = aged_receivables.rows(day, on(day))
    with tables.write(aged_receivables.COLUMNS, table, FileFormat.CSV) as file:
        lines = file.read().decode().splitlines()

    assert lines[0] == (
        "as_of,legal_entity,currency,tenant_id,tenant,not_due,days_1_to_30,days_31_to_60,"
        "days_61_to_90,days_over_90,overdue,total"
    )
    assert (
        f"2026-07-10,wp,EUR,{found['part'].pk},part,0.00,0.00,48.31,0.00,0.00,48.31,48.31" in lines
    )
    assert len(lines) == 7


def test_a_document_of_an_earlier_version_says_by_which_clock_it_is_due() -> None:
    invoice = debts.issued(
        rows.tenant(STARTS_AT - DAY, billing_time_zone="Pacific/Auckland"), ISSUED, 18
    )
    debts.alter("UPDATE plans_invoice SET time_zone = ''")
    assert '"time_zone":"Pacific/Auckland"' in invoice.document

    assert due(date(2026, 5, 18)) == {"not_due": 5831}
    assert due(date(2026, 5, 19)) == {"days_1_to_30": 5831}


def test_the_cost_follows_the_unpaid_invoices() -> None:
    for n in range(6):
        invoice = debts.issued(rows.tenant(), ISSUED)
        if n > 1:
            debts.paid(invoice, 5831, DUE)

    with CaptureQueriesContext(connection) as found:
        groups = aged_receivables.report(timezone.now().date(), timezone.now())

    assert groups[0].sums.total == 2 * 5831
    statements = [query["sql"] for query in found]
    # Documents are large: only those are read that alone have the time zone.
    assert ['"document"' in sql for sql in statements] == [False, False, True]
    read = query_plans.rows_read(
        statements,
        {"plans_invoice", "plans_payment", "plans_ledgerentry", "plans_ledgerposting"},
    )
    assert read["plans_invoice"] <= 2
    assert read.get("plans_payment", 0) == 0
    assert read.get("plans_ledgerentry", 0) == 0
    assert read.get("plans_ledgerposting", 0) == 0
