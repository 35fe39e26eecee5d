"""Credit notes: numbers, amounts, ledger, state of the invoice, immutability, verification."""

from datetime import date
from functools import partial

import pytest
from django.db import DatabaseError, connection, transaction

from controlplane.core.errors import Invalid
from controlplane.core.models import AuditEvent
from plans.invoicing import (
    credit_note_rendering,
    credit_notes,
    document,
    issuing,
    receiving,
    states,
)
from plans.ledger import credit, posting
from plans.models import CreditNote, CreditNoteNumberSeries, Invoice, LedgerPosting
from plans.rating.crediting import NothingLeft, TooMuch
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import AFTER_GRACE, STAFF

pytestmark = pytest.mark.django_db
State = Invoice.State


def fee_of_49() -> Invoice:
    """Return an issued invoice of the fee alone: 49.00 + 19 % = 58.31."""
    return rows.issued(rows.tenant())


def line_of(invoice: Invoice) -> int:
    """Return the position of the invoice's fee."""
    lines = document.loaded(invoice.document)["lines"]
    return int(next(line["position"] for line in lines if line["kind"] == "fee"))


def note(invoice: Invoice, amount: int | None = None, reason: str = "an outage") -> CreditNote:
    wanted = None if amount is None else {line_of(invoice): amount}
    return credit_notes.issue(
        invoice=invoice, wanted=wanted, reason=reason, by=STAFF, now=AFTER_GRACE
    )


def test_a_partial_note_reduces_what_is_due() -> None:
    invoice = fee_of_49()

    made = note(invoice, 1000)

    assert (made.number, made.net_minor, made.tax_minor) == ("WP-CN-000001", 1000, 190)
    assert (made.receivable_minor, made.credit_minor) == (1190, 0)
    assert receiving.outstanding_minor(invoice) == 5831 - 1190
    assert posting.booked(posting.credit_note_reference(made.pk)) == {
        "receivable": -1190,
        "revenue:plan_fee": 1000,
        "tax": 190,
    }
    assert Invoice.objects.get().state == State.ISSUED
    assert credit_notes.verify(made).same


def test_the_number_series_is_apart_and_has_no_gap() -> None:
    first, second = fee_of_49(), fee_of_49()

    with pytest.raises(TooMuch):
        note(first, 4901)
    numbers = [note(first, 1).number, note(second, 1).number, note(first, 2).number]

    assert numbers == ["WP-CN-000001", "WP-CN-000002", "WP-CN-000003"]
    assert {first.number, second.number} == {"WP-000001", "WP-000002"}


def test_voiding_takes_back_the_rest_to_the_cent() -> None:
    invoice = fee_of_49()
    parts = [note(invoice, 33), note(invoice, 1601)]

    last = credit_notes.void(invoice=invoice, reason="never ordered", by=STAFF)
    again = credit_notes.void(invoice=invoice, reason="never ordered", by=STAFF)

    notes = [*parts, last]
    assert sum(made.net_minor for made in notes) == invoice.net_minor
    assert sum(made.tax_minor for made in notes) == invoice.tax_minor
    assert again == last
    assert Invoice.objects.get().state == State.VOIDED
    assert receiving.outstanding_minor(invoice) == 0
    # Nothing of the invoice is left in the books.
    assert {
        account: sum(LedgerPosting.objects.filter(account=account).values_list(
            "amount_minor", flat=True))
        for account in ("receivable", "revenue:plan_fee", "tax")
    } == {"receivable": 0, "revenue:plan_fee": 0, "tax": 0}  # fmt: skip
    assert all(credit_notes.verify(made).same for made in notes)


def test_what_was_paid_becomes_credit_of_the_next_invoice() -> None:
    invoice = fee_of_49()
    pay(invoice, 5000)

    made = note(invoice, 4900)

    assert (made.receivable_minor, made.credit_minor) == (831, 5000)
    assert credit.before(invoice.tenant_id, "wp", "EUR") == 5000
    assert Invoice.objects.get().state == State.VOIDED


def test_a_note_over_what_is_due_makes_the_invoice_paid() -> None:
    invoice = fee_of_49()
    pay(invoice, 5831 - 119)

    note(invoice, 100)

    assert Invoice.objects.get().state == State.PAID
    with pytest.raises(states.WrongState):
        pay(invoice, 1)


def test_the_database_refuses_a_payment_of_what_a_note_took_back() -> None:
    invoice = fee_of_49()
    note(invoice, 1000)

    with pytest.raises(DatabaseError, match="still due"), transaction.atomic():
        invoice.payments.create(
            source="manual", reference="r", amount_minor=5831, received_on=date(2026, 5, 9)
        )


def test_a_note_needs_lines_a_reason_and_an_issued_invoice() -> None:
    invoice = fee_of_49()

    for wanted in ({}, {99: 1}, {line_of(invoice): 0}, {line_of(invoice): -5}):
        with pytest.raises(Invalid):
            credit_notes.issue(invoice=invoice, wanted=wanted, reason="x", by=STAFF)
    with pytest.raises(Invalid):
        note(invoice, 1, reason=" ")
    with pytest.raises(states.WrongState):
        note(rows.drafted(rows.tenant()), 1)
    note(invoice)
    with pytest.raises(states.WrongState):
        note(invoice, 1)
    assert CreditNoteNumberSeries.objects.get().last_number == 1


def test_an_invoice_of_nothing_has_nothing_to_take_back() -> None:
    free = rows.issued(rows.tenant(to=rows.plan("free")))

    with pytest.raises(NothingLeft):
        note(free)


def test_notes_never_change() -> None:
    made = note(fee_of_49(), 5)
    same = CreditNote.objects.filter(pk=made.pk)

    for change in (
        partial(same.update, reason="other"),
        partial(same._raw_delete, "default"),
        partial(CreditNoteNumberSeries.objects.update, last_number=7),
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()
    assert AuditEvent.objects.filter(action="credit_note.issue").count() == 1


AMOUNTS = "net_minor = 999, total_minor = 1189, receivable_minor = 1189"
DOUBLED = """UPDATE plans_ledgerposting SET amount_minor = amount_minor * 2 FROM plans_ledgerentry e
    WHERE e.id = entry_id AND e.reference LIKE 'credit_note:%'"""


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (f"UPDATE plans_creditnote SET {AMOUNTS}", "net_minor"),
        ("UPDATE plans_creditnote SET document = replace(document, 'outage', 'storm')", "reason"),
        (DOUBLED, "ledger"),
        ("UPDATE plans_invoice SET document = replace(document, 'Leeds', 'York')", "buyer"),
    ],
)
def test_tampering_is_found_and_named(change: str, named: str) -> None:
    made = note(fee_of_49(), 1000)
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")  # no triggers
        cursor.execute(change)
        cursor.execute("SET session_replication_role = DEFAULT")

    found = credit_notes.verify(CreditNote.objects.get(pk=made.pk))

    assert not found.same
    assert any(named in text for text in found.differences)


def test_the_page_names_invoice_reason_and_amounts() -> None:
    invoice = fee_of_49()
    page = credit_note_rendering.html(document.loaded(note(invoice, 1000).document))

    for text in ("Credit note WP-CN-000001", "WP-000001", "an outage", "10.00 EUR", "11.90 EUR"):
        assert text in page


def pay(invoice: Invoice, amount: int) -> None:
    issuing.record_payment(
        invoice=invoice,
        amount_minor=amount,
        source="manual",
        reference=f"{invoice.pk}-{amount}",
        received_on=date(2026, 5, 9),
        by=STAFF,
    )
