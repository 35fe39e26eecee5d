"""Answers of docs/billing.md, "Questions that finance asks", that only the database can show."""

import json
from datetime import date, timedelta

import pytest
from django.db import DatabaseError, transaction
from django.db.models import ProtectedError

from controlplane.core.models import AuditEvent
from plans.catalog import parsing, publishing
from plans.invoicing import (
    credit_notes,
    document,
    granting,
    invoice_verification,
    issuing,
    receiving,
    refunding,
)
from plans.invoicing.granting import Wish
from plans.invoicing.refunding import Wanted
from plans.ledger import posting
from plans.models import Invoice, LedgerEntry, Payment
from plans.usage.reading import UsageCell
from tenants.models import Tenant
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import AFTER_GRACE, STAFF, STARTS_AT
from tests.support.plans.worked_examples import shown, written

pytestmark = pytest.mark.django_db
MILLION = 10**6


@pytest.fixture
def owner() -> Tenant:
    """A tenant on the plan Team of the page: 5 million messages included, 0.90, then 0.60."""
    made = json.loads(rows.CATALOG)
    team = made["plans"]["team"]
    team["included"]["messages"] = 5 * MILLION
    team["prices"]["messages"]["tiers"] = [["100", "0.90"], [None, "0.60"]]
    publishing.publish(parsing.parse(json.dumps(made)), by=STAFF)
    return rows.tenant(to=publishing.plan("team"))


def used(owner: Tenant) -> list[UsageCell]:
    space = rows.space(owner, space_plan=publishing.space_plan("free-of-charge"))
    return rows.used(rows.cell(space, "messages_in", 60 * MILLION, address="orders"))


def example_1(owner: Tenant) -> Invoice:
    """Return the invoice of example 1, which verifies."""
    cells = used(owner)
    invoice = rows.issued(owner, cells)
    assert (invoice.net_minor, invoice.total_minor) == (9850, 11722)
    assert invoice_verification.verify(invoice=invoice, cells=cells).same
    return invoice


def paid(invoice: Invoice, amount_minor: int, reference: str) -> Payment:
    return issuing.record_payment(
        invoice=invoice, amount_minor=amount_minor, source="manual", reference=reference,
        received_on=date(2026, 5, 20), by=STAFF,
    )  # fmt: skip


def require_booked(reference: str, example: int) -> None:
    """Assert that the ledger entry is the table of an example, and sums to zero."""
    booked, wanted = posting.booked(reference), written(example)
    assert sum(booked.values()) == 0
    assert shown((account, booked[account]) for account, _ in wanted) == wanted
    assert len(booked) == len(wanted)


def test_a_credit_note_is_booked_as_example_17_says(owner: Tenant) -> None:
    invoice = example_1(owner)
    paid(invoice, 11_000, "bank-1")
    (fee,) = [line for line in document.loaded(invoice.document)["lines"] if line["kind"] == "fee"]

    note = credit_notes.issue(
        invoice=invoice, wanted={fee["position"]: 1000}, reason="an outage", by=STAFF
    )

    require_booked(posting.credit_note_reference(note.pk), 17)


def test_an_invoice_that_credit_pays_is_booked_as_example_24_says(owner: Tenant) -> None:
    for kind, amount in (("promotional", 2_000), ("prepaid", 5_000)):
        wish = Wish(kind, amount, f"{kind}-1", "agreed")
        granting.grant(tenant=owner, wish=wish, by=STAFF, now=STARTS_AT)

    invoice = example_1(owner)

    require_booked(posting.invoice_reference(invoice.pk), 24)


def test_a_partly_paid_invoice_is_written_off_as_example_25_says(owner: Tenant) -> None:
    invoice = example_1(owner)
    later = AFTER_GRACE + timedelta(days=60)
    issuing.mark_overdue(by=STAFF, now=later)
    paid(invoice, 6_000, "bank-1")
    invoice.refresh_from_db()
    assert invoice.state == "partly_paid"
    issuing.mark_overdue(by=STAFF, now=later)

    issuing.write_off(invoice=invoice, by=STAFF, reason="insolvent", now=later)

    require_booked(f"write_off:{invoice.pk}", 25)


def test_a_payment_moves_to_another_invoice_and_no_money_with_it(owner: Tenant) -> None:
    """docs/operate/payments.md, Move a payment."""
    wrong, right = example_1(owner), rows.issued(rows.tenant())
    payment = paid(wrong, right.payable_minor, "bank-1")

    wanted = Wanted(payment.amount_minor, "another invoice", reopens=True, reference="moved-1")
    refunding.book(payment, wanted, by=STAFF, now=AFTER_GRACE)
    paid(right, right.payable_minor, "bank-1/moved")

    wrong.refresh_from_db()
    right.refresh_from_db()
    assert (wrong.state, right.state) == ("issued", "paid")
    cash = [posting.balance(row.tenant_id, "cash_clearing", "EUR") for row in (wrong, right)]
    assert cash == [0, payment.amount_minor]


def test_what_was_paid_of_a_voided_invoice_leaves_the_credit_and_no_money_moves(
    owner: Tenant,
) -> None:
    """docs/operate/payments.md, Move a payment to an invoice outside Waypost."""
    invoice = example_1(owner)
    payment = paid(invoice, invoice.payable_minor, "bank-1")
    credit_notes.void(invoice=invoice, reason="wrong VAT id", by=STAFF)
    assert posting.balance(owner.pk, "credit:wp", "EUR") == -11_722

    wanted = Wanted(11_722, "it pays the invoice R-2026-17", reference="moved-2")
    refund = refunding.book(payment, wanted, by=STAFF, now=AFTER_GRACE)

    invoice.refresh_from_db()
    assert (refund.state, refund.reopened_minor, invoice.state) == ("succeeded", 0, "voided")
    for account in ("credit:wp", "cash_clearing", "receivable"):
        assert posting.balance(owner.pk, account, "EUR") == 0


def test_credit_does_not_pay_an_invoice_that_is_issued_already(owner: Tenant) -> None:
    invoice = example_1(owner)
    wish = Wish("prepaid", 30_000, "bank-1", "paid in advance")
    granting.grant(tenant=owner, wish=wish, by=STAFF, now=AFTER_GRACE)

    assert receiving.outstanding_minor(invoice) == invoice.payable_minor == 11_722


def test_prepaid_credit_is_deferred_as_example_18_says(owner: Tenant) -> None:
    wish = Wish("prepaid", 30_000, "bank-1", "paid in advance")
    granting.grant(tenant=owner, wish=wish, by=STAFF, now=STARTS_AT)
    granted = -posting.balance(owner.pk, "prepaid:wp", "EUR")

    example_1(owner)

    left = -posting.balance(owner.pk, "prepaid:wp", "EUR")
    figures = [
        ("Prepaid", granted),
        ("Used by the invoice", left - granted),
        ("Prepaid owed", left),
    ]
    assert shown(figures) == written(18)


def test_a_voided_number_stays_and_the_series_goes_on(owner: Tenant) -> None:
    invoice = example_1(owner)
    credit_notes.void(invoice=invoice, reason="never ordered", by=STAFF)

    other = rows.issued(rows.tenant())

    invoice.refresh_from_db()
    assert (invoice.state, invoice.number, other.number) == ("voided", "WP-000001", "WP-000002")
    assert document.loaded(invoice.document)["number"] == "WP-000001"
    assert LedgerEntry.objects.filter(reference=f"invoice:{invoice.pk}").exists()


def test_what_is_kept_is_never_deleted(owner: Tenant) -> None:
    invoice = issuing.approve(invoice=rows.drafted(owner), by=STAFF)
    issuing.issue(invoice=invoice, by=STAFF, now=AFTER_GRACE)

    for kept in (AuditEvent.objects.all(), LedgerEntry.objects.all(), Invoice.objects.all()):
        assert kept.exists()
        with pytest.raises((DatabaseError, ProtectedError)), transaction.atomic():
            kept.delete()
