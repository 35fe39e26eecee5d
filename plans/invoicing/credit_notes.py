"""Issues credit notes, which take back all or a part of an issued invoice, and verifies them.

A credit note has a number from a series of its own, a document that never changes and a ledger
entry. What is still due of the invoice shrinks first; what was paid already becomes credit of the
tenant. If nothing of the invoice is left, the invoice is voided. Locks are taken in this order: the
invoice, the series of the invoices' numbers (which every posting to a credit account needs), the
series of the credit notes' numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from controlplane.core import audit
from controlplane.core.audit import Actor
from controlplane.core.errors import Invalid
from plans.invoicing import credit_note_document, document, receiving, states
from plans.invoicing.credit_note_document import Issue
from plans.ledger import posting
from plans.models import CreditNote, CreditNoteNumberSeries, Invoice, InvoiceNumberSeries
from plans.rating import money
from plans.rating.crediting import Credited
from tenants.notifications import outbox

State = Invoice.State
# States of invoices from which a credit note may take something back.
CREDITABLE = frozenset({State.ISSUED, State.PARTLY_PAID, State.PAID, State.OVERDUE})


def issue(
    *,
    invoice: Invoice,
    wanted: Mapping[int, int] | None,
    reason: str,
    by: Actor,
    now: datetime | None = None,
) -> CreditNote:
    """Issue a credit note for an issued invoice, in one transaction; return it.

    ``wanted`` is {position of a line: net amount in minor units}; None takes back all that is left
    and voids the invoice. If nothing is due any more, the invoice becomes paid. The reason is
    printed. A failure consumes no number. An event tells the customer of the credit note.

    Raises:
        WrongState: the invoice is not issued, or was voided or written off.
        Invalid: no reason; or ``wanted`` has no line, an unknown line or an amount below 1.
        TooMuch: more is wanted than is left of a line or of the invoice.
        NothingLeft: nothing of the invoice is left.
    """
    if not reason.strip():
        raise Invalid("Say why: the credit note prints the reason.", code="credit_note.reason")
    instant = (now or timezone.now()).replace(microsecond=0)
    with transaction.atomic():
        current = states.locked(invoice)
        if current.state not in CREDITABLE:
            raise states.WrongState(
                "Only an issued invoice takes a credit note.", state=current.state
            )
        charged = document.loaded(current.document)
        earlier = [document.loaded(note.document) for note in current.credit_notes.all()]
        parts = credit_note_document.credited(charged, earlier, wanted)
        receivable = min(receiving.outstanding_minor(current), parts.total_minor)
        made = credit_note_document.build(
            charged,
            document.digest(current.document),
            parts,
            Issue(_next_number(current.legal_entity), instant, reason.strip(), receivable),
        )
        note = _stored(current, made, by)
        posting.post(_booking(note, made), at=instant)
        subject = audit.Subject("credit_note", note.pk, note.number, note.tenant_id)
        after = {"invoice": current.number, "total_minor": note.total_minor}
        audit.record(by, "credit_note.issue", subject, after=after, reason=note.reason)
        _settle(current, note, parts, by)
        _notify(note, current, parts, instant)
    return note


def void(*, invoice: Invoice, reason: str, by: Actor, now: datetime | None = None) -> CreditNote:
    """Take back all that is left of an invoice, which becomes voided; return the credit note.

    An invoice that is voided already is not changed: returns its last credit note.

    Raises:
        All errors of ``issue``.
    """
    last = invoice.credit_notes.order_by("number").last()
    if last is not None and Invoice.objects.get(pk=invoice.pk).state == State.VOIDED:
        return last
    return issue(invoice=invoice, wanted=None, reason=reason, by=by, now=now)


@dataclass(frozen=True)
class CreditNoteVerification:
    """The result of ``verify``: ``same`` is true if there is no difference; texts for people."""

    same: bool
    differences: tuple[str, ...]


def verify(note: CreditNote) -> CreditNoteVerification:
    """Build a credit note's document again from its invoice and compare every place it stands.

    These are the document's bytes, the row's amounts and the ledger entry. Writes nothing.
    """
    stored = document.loaded(note.document)
    earlier = [
        document.loaded(row.document)
        for row in note.invoice.credit_notes.filter(number__lt=note.number).order_by("number")
    ]
    charged = document.loaded(note.invoice.document)
    wanted = {line["invoice_position"]: line["amount_minor"] for line in stored["lines"]}
    # The rest may contain negative lines, which nobody can ask for line by line.
    rest = credit_note_document.credited(charged, earlier, None)
    parts = (
        rest
        if dict(rest.lines) == wanted
        else credit_note_document.credited(charged, earlier, wanted)
    )
    again = credit_note_document.build(
        charged,
        document.digest(note.invoice.document),
        parts,
        Issue(note.number, note.issued_at, note.reason, note.receivable_minor),
    )
    found = [f"{name}: differs" for name in sorted({*stored, *again})
             if stored.get(name) != again.get(name)]  # fmt: skip
    if not found and document.canonical(again) != note.document:
        found.append("the stored text is not the canonical form of its content")
    found += [
        f"row: {name} is {getattr(note, name)}, the document says {again[name]}"
        for name in ("net_minor", "tax_minor", "total_minor")
        if getattr(note, name) != again[name]
    ]
    booked = posting.booked(posting.credit_note_reference(note.pk))
    if booked != {name: n for name, n in _booking(note, again).postings.items() if n}:
        found.append("ledger: the entry differs from the document")
    return CreditNoteVerification(not found, tuple(found))


def _next_number(legal_entity: str) -> str:
    # Every posting to a credit account needs this lock, so entries are in the order of commits.
    InvoiceNumberSeries.objects.select_for_update().get(pk=legal_entity)
    CreditNoteNumberSeries.objects.get_or_create(legal_entity=legal_entity)
    series = CreditNoteNumberSeries.objects.select_for_update().get(pk=legal_entity)
    series.last_number += 1
    series.save(update_fields=["last_number"])
    return f"{legal_entity.upper()}-CN-{series.last_number:06d}"


def _stored(invoice: Invoice, made: dict[str, Any], by: Actor) -> CreditNote:
    return CreditNote.objects.create(
        tenant_id=invoice.tenant_id,
        invoice=invoice,
        number=made["number"],
        legal_entity=invoice.legal_entity,
        currency=made["currency"],
        **{name: made[name] for name in ("net_minor", "tax_minor", "total_minor", "reason")},
        **made["settlement"],
        document=document.canonical(made),
        issued_at=datetime.fromisoformat(made["issued_at"]),
        issued_by=by.name,
    )


def _booking(note: CreditNote, made: Mapping[str, Any]) -> posting.Booking:
    # The opposite of the invoice's entry: debit revenue and tax, credit receivable and credit.
    postings = {
        posting.RECEIVABLE: -made["settlement"]["receivable_minor"],
        posting.credit(note.legal_entity): -made["settlement"]["credit_minor"],
        posting.TAX: made["tax_minor"],
    }
    for line in made["lines"]:
        account = posting.revenue(line["meter"])
        postings[account] = postings.get(account, 0) + line["amount_minor"]
    return posting.Booking(
        posting.credit_note_reference(note.pk),
        note.tenant_id,
        note.currency,
        f"Credit note {note.number}",
        postings,
        note.legal_entity,
    )


def _settle(invoice: Invoice, note: CreditNote, parts: Credited, by: Actor) -> None:
    if parts.is_rest:
        states.move(invoice, State.VOIDED, by=by, reason=f"credit note {note.number}")
    elif invoice.state != State.PAID and not receiving.outstanding_minor(invoice):
        states.move(invoice, State.PAID, by=by, reason=f"credit note {note.number}")


def _notify(note: CreditNote, invoice: Invoice, parts: Credited, now: datetime) -> None:
    outbox.write(
        "credit_note.issued",
        tenant=invoice.tenant,
        key=note.pk,
        fields={
            "credit_note": note.pk,
            "number": note.number,
            "invoice": invoice.pk,
            "invoice_number": invoice.number,
            "total": money.display(note.total_minor, note.currency),
            "reason": note.reason,
            "outcome": _outcome(note, invoice, parts),
        },
        now=now,
    )


def _outcome(note: CreditNote, invoice: Invoice, parts: Credited) -> str:
    """Return sentences that say what happens with the amount of a credit note."""
    words = []
    if note.receivable_minor:
        lowered = money.display(note.receivable_minor, note.currency)
        # The note is stored, so what is due is without it.
        due = money.display(receiving.outstanding_minor(invoice), note.currency)
        words.append(f"It lowers what is due of the invoice by {lowered}, to {due}.")
    if note.credit_minor:
        kept = money.display(note.credit_minor, note.currency)
        words.append(f"{kept} become credit for your next invoices.")
    if parts.is_rest:
        words.append("Nothing of the invoice is left: it is void.")
    return " ".join(words)
