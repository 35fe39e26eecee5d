"""The journal and the report of deferred revenue add up to the ledger."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from controlplane.core.errors import Invalid
from controlplane.core.models import AuditEvent
from plans.exports import account_codes, deferred_revenue, journal, report_days
from plans.invoicing import credit_note_rendering as note_rendering
from plans.invoicing import (
    credit_notes,
    document,
    granting,
    invoice_closing,
    issuing,
    refunding,
    rendering,
)
from plans.invoicing.granting import PayBack, Wish
from plans.invoicing.refunding import Wanted
from plans.ledger import posting
from plans.models import Invoice, LedgerPosting
from tenants.models import Tenant
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import AFTER_GRACE, ENDS_AT, STAFF, STARTS_AT
from tests.support.plans.debts import alter

pytestmark = pytest.mark.django_db
APRIL, MAY, JUNE = date(2026, 4, 1), date(2026, 5, 1), date(2026, 6, 1)


def history(payment: str = "bank-9") -> Invoice:
    """Return an invoice of April that prepaid credit, a payment and a credit note settle in May."""
    owner = rows.tenant()
    wishes = [("prepaid", 2000, None), ("prepaid", 300, ENDS_AT)]
    for n, (kind, amount, ends_at) in enumerate(wishes):
        wish = Wish(kind, amount, f"bank-{n}", "paid ahead", ends_at)
        granting.grant(tenant=owner, wish=wish, by=STAFF, now=STARTS_AT)
    granting.expire(by=STAFF, now=ENDS_AT)
    invoice = rows.issued(owner)
    issuing.record_payment(
        invoice=invoice,
        amount_minor=100,
        source="manual",
        reference=payment,
        received_on=MAY,
        by=STAFF,
    )
    credit_notes.issue(
        invoice=invoice, wanted={1: 1000}, reason="an outage", by=STAFF, now=AFTER_GRACE
    )
    return invoice


def balance(account: str) -> int:
    rows_ = LedgerPosting.objects.filter(account__startswith=account)
    return sum(rows_.values_list("amount_minor", flat=True))


def test_journal_lines_balance_and_name_their_documents() -> None:
    invoice = history()
    note = invoice.credit_notes.get()

    lines = journal.lines(after=0)

    assert [line.posting_id for line in lines] == sorted(
        LedgerPosting.objects.values_list("pk", flat=True)
    )
    assert sum(line.debit_minor for line in lines) == sum(line.credit_minor for line in lines) > 0
    assert all((line.debit_minor > 0) != (line.credit_minor > 0) for line in lines)
    assert {line.document_number for line in lines} == {
        "bank-0", "bank-1", invoice.number, note.number
    }  # fmt: skip
    assert {line.legal_entity for line in lines} == {"wp"}


def test_journal_lines_bear_the_day_of_their_document() -> None:
    requested = rows.asked(rows.tenant())
    Tenant.objects.update(billing_time_zone="America/New_York")
    draft = invoice_closing.close(invoice=requested, evidence=rows.evidence(), by=STAFF)
    approved = issuing.approve(invoice=draft, by=STAFF)
    invoice = issuing.issue(invoice=approved, by=STAFF, now=AFTER_GRACE)
    issuing.record_payment(
        invoice=invoice,
        amount_minor=100,
        source="manual",
        reference="bank-9",
        received_on=MAY,
        by=STAFF,
    )

    note = credit_notes.issue(
        invoice=invoice, wanted={1: 1000}, reason="an outage", by=STAFF, now=AFTER_GRACE
    )

    found = {
        line.reference.partition(":")[0]: (line.day, line.document_day)
        for line in journal.lines(after=0)
    }

    # It is issued at midnight UTC, which is the evening before in New York.
    booked_on, printed = AFTER_GRACE.date(), AFTER_GRACE.date() - timedelta(days=1)
    assert found["invoice"] == found["credit_note"] == (booked_on, printed)
    assert found["payment"][1] == MAY != found["payment"][0]
    pages = [
        rendering.context(document.loaded(invoice.document)),
        note_rendering.context(document.loaded(note.document)),
    ]
    assert [page["issued_on"] for page in pages] == [f"{printed:%-d %B %Y}"] * 2


def test_refunds_and_those_that_failed_name_the_invoice() -> None:
    invoice = history()
    wanted = Wanted(100, "sent twice", reopens=True)
    refund = refunding.book(invoice.payments.get(), wanted, by=STAFF, now=AFTER_GRACE)
    refunding.fail(refund, message="no account", by=STAFF, now=AFTER_GRACE)

    lines = [line for line in journal.lines(after=0) if line.reference.startswith("refund")]

    assert {line.reference.partition(":")[0] for line in lines} == {"refund", "refund_failed"}
    assert {(line.document_number, line.legal_entity) for line in lines} == {(invoice.number, "wp")}


def test_an_entry_without_a_document_keeps_its_legal_entity() -> None:
    history()
    alter("UPDATE plans_ledgerentry SET reference = 'other:' || id")

    assert {(line.document_number, line.legal_entity) for line in journal.lines(after=0)} == {
        ("", "wp")
    }


def test_the_journal_goes_on_after_the_last_posting() -> None:
    history()
    everything = journal.lines(after=0)

    parts, after = list[Any](), 0
    while part := journal.lines(after=after, limit=4):
        parts += part
        after = part[-1].posting_id

    assert parts == everything
    assert journal.lines(after=after) == []
    # Entries are never divided.
    sizes = {
        line.entry_id: sum(row.entry_id == line.entry_id for row in everything)
        for line in everything
    }
    assert all(
        sum(row.entry_id == entry for row in journal.lines(after=0, limit=limit)) in (0, size)
        for entry, size in sizes.items()
        for limit in (1, 2, 3, 5)
    )


def test_the_number_of_queries_does_not_follow_that_of_lines() -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            journal.lines(after=0)
        return len(found)

    history()
    one = queries()
    history("bank-10")

    assert queries() == one


def test_an_entry_that_does_not_balance_is_not_exported() -> None:
    history()
    alter(
        "UPDATE plans_ledgerposting SET amount_minor = amount_minor + 1 "
        "WHERE id = (SELECT min(id) FROM plans_ledgerposting)"
    )

    with pytest.raises(journal.NotBalanced):
        journal.lines(after=0)


def test_codes_of_accounts_are_those_of_the_legal_entity() -> None:
    history()
    account_codes.change(
        legal_entity="wp", codes={"revenue": "4400", "revenue:plan_fee": "4401", "tax": "1776"},
        by=STAFF,
    )  # fmt: skip
    account_codes.change(legal_entity="other", codes={"receivable": "9"}, by=STAFF)
    account_codes.change(legal_entity="wp", codes={"tax": ""}, by=STAFF)

    codes = {line.account: line.account_code for line in journal.lines(after=0)}

    assert codes["revenue:plan_fee"] == "4401"
    assert codes["tax"] == "tax"
    assert codes["receivable"] == "receivable"
    assert account_codes.of_entity("wp") == {"revenue": "4400", "revenue:plan_fee": "4401"}
    assert AuditEvent.objects.filter(action="account_codes.change").count() == 3
    with pytest.raises(Invalid):
        account_codes.change(legal_entity="wp", codes={"revenues": "1"}, by=STAFF)


def test_deferred_revenue_adds_up_to_the_ledger() -> None:
    history()

    april, may = deferred_revenue.report(APRIL, MAY)

    # The fee of April, 49.00, is earned in April and billed in May, less 10.00 of a credit note.
    assert (april.billed, april.earned, april.accrued, april.deferred) == (0, 4900, 4900, 0)
    assert (may.billed, may.earned, may.accrued, may.deferred) == (3900, -1000, 0, 0)
    assert april.billed + may.billed == april.earned + may.earned == -balance(posting.revenue(""))
    assert (april.prepaid_received, april.prepaid_owed) == (2300, 2300)
    assert (may.prepaid_used, may.prepaid_expired, may.prepaid_owed) == (2000, 300, 0)
    assert may.prepaid_owed == -balance("prepaid:")
    assert deferred_revenue.disagreements([april, may]) == []


def test_prepaid_credit_that_is_paid_back_stands_in_report_and_journal() -> None:
    owner = rows.tenant()
    wish = Wish("prepaid", 700, "bank-7", "paid ahead")
    grant = granting.grant(tenant=owner, wish=wish, by=STAFF, now=STARTS_AT)
    back = PayBack(300, "back:1", "they leave")
    granting.pay_back(tenant=owner, grant_id=grant.pk, wish=back, by=STAFF, now=ENDS_AT)

    april, may = deferred_revenue.report(APRIL, MAY)

    assert (april.prepaid_received, april.prepaid_paid_back, april.prepaid_owed) == (700, 0, 700)
    assert (may.prepaid_used, may.prepaid_paid_back, may.prepaid_owed) == (0, 300, 400)
    assert deferred_revenue.disagreements([april, may]) == []
    lines = [line for line in journal.lines(after=0) if line.document_number == "back:1"]
    assert {(line.account, line.debit_minor, line.credit_minor) for line in lines} == {
        ("prepaid:wp", 300, 0), ("cash_clearing", 0, 300),
    }  # fmt: skip
    assert {line.legal_entity for line in lines} == {"wp"}


def test_a_report_that_begins_later_has_the_same_balances() -> None:
    history()
    granting.grant(
        tenant=rows.tenant(), wish=Wish("prepaid", 700, "bank-7", "paid ahead"), by=STAFF,
        now=STARTS_AT,
    )  # fmt: skip

    _april, may, june = deferred_revenue.report(APRIL, JUNE)

    assert deferred_revenue.report(MAY, JUNE) == [may, june]
    assert june.prepaid_owed == 700


def test_what_is_billed_before_the_month_that_earns_it_is_deferred() -> None:
    history()
    alter("UPDATE plans_invoice SET starts_at = '2026-06-01T00:00Z', ends_at = '2026-07-01T00:00Z'")

    _april, may, june = deferred_revenue.report(APRIL, JUNE)

    assert (may.deferred, june.deferred, june.earned) == (4900, 0, 4900)


def test_an_altered_ledger_disagrees_with_the_documents() -> None:
    history()
    alter(
        "UPDATE plans_ledgerposting SET amount_minor = amount_minor - 1 "
        "WHERE account LIKE 'revenue:%' AND amount_minor < 0"
    )

    months = deferred_revenue.report(APRIL, MAY)

    assert len(deferred_revenue.disagreements(months)) == 1


def test_months_are_checked() -> None:
    assert report_days.months_of(None, None, date(2026, 11, 27)) == (
        date(2025, 12, 1), date(2026, 11, 1)
    )  # fmt: skip
    for first, last in (("2026-13", None), ("x", None)):
        with pytest.raises(Invalid):
            report_days.months_of(first, last, APRIL)
    with pytest.raises(Invalid):
        deferred_revenue.report(MAY, APRIL)
    with pytest.raises(Invalid):
        deferred_revenue.report(date(2020, 1, 1), APRIL)
