"""Credit notes write an event that says what they take back, and what becomes of the amount."""

from datetime import date

import pytest

from plans.invoicing import credit_notes, document, issuing
from plans.models import CreditNote, Invoice
from plans.rating.crediting import TooMuch
from tenants.notifications import rendering
from tenants.notifications.models import Event
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import AFTER_GRACE, STAFF

pytestmark = pytest.mark.django_db


def noted(invoice: Invoice, amount: int) -> CreditNote:
    """Return a credit note for a part of the invoice's fee, which is 49.00 before tax."""
    lines = document.loaded(invoice.document)["lines"]
    fee = next(line["position"] for line in lines if line["kind"] == "fee")
    return credit_notes.issue(
        invoice=invoice, wanted={fee: amount}, reason="an outage", by=STAFF, now=AFTER_GRACE
    )


def paid(invoice: Invoice, amount: int) -> None:
    issuing.record_payment(
        invoice=invoice,
        amount_minor=amount,
        source="manual",
        reference=f"bank-{amount}",
        received_on=date(2026, 5, 5),
        by=STAFF,
    )


def text_of(note: CreditNote) -> str:
    event = Event.objects.get(kind="credit_note.issued", fields__credit_note=note.pk)
    return rendering.message(event).text


def test_a_credit_note_is_reported_with_its_invoice_and_amount() -> None:
    owner = rows.tenant()
    invoice = rows.issued(owner)
    note = noted(invoice, 1000)

    event = Event.objects.get(kind="credit_note.issued")
    assert (event.tenant_id, event.occurred_at) == (owner.pk, note.issued_at)
    found = rendering.message(event)
    assert found.subject.endswith("Credit note WP-CN-000001 of 11.90 EUR for invoice WP-000001")
    assert found.text == (
        f"The credit note WP-CN-000001 takes back 11.90 EUR of the invoice WP-000001 of "
        f"{owner.name}. It lowers what is due of the invoice by 11.90 EUR, to 46.41 EUR."
    )
    assert event.fields["reason"] == "an outage"


def test_what_was_paid_is_reported_as_credit() -> None:
    invoice = rows.issued(rows.tenant())
    paid(invoice, 5831)

    assert text_of(noted(invoice, 1000)).endswith("11.90 EUR become credit for your next invoices.")


def test_a_note_over_what_is_due_is_reported_in_both_parts() -> None:
    invoice = rows.issued(rows.tenant())
    paid(invoice, 5331)

    assert text_of(noted(invoice, 1000)).endswith(
        "It lowers what is due of the invoice by 5.00 EUR, to 0.00 EUR. "
        "6.90 EUR become credit for your next invoices."
    )


def test_a_voided_invoice_is_reported_once() -> None:
    invoice = rows.issued(rows.tenant())
    note = credit_notes.void(invoice=invoice, reason="never ordered", by=STAFF)
    credit_notes.void(invoice=invoice, reason="never ordered", by=STAFF)

    assert Event.objects.filter(kind="credit_note.issued").count() == 1
    assert text_of(note).endswith(
        "It lowers what is due of the invoice by 58.31 EUR, to 0.00 EUR. "
        "Nothing of the invoice is left: it is void."
    )


def test_a_refused_credit_note_is_not_reported() -> None:
    invoice = rows.issued(rows.tenant())
    with pytest.raises(TooMuch):
        noted(invoice, 4901)

    assert not Event.objects.filter(kind="credit_note.issued").exists()
