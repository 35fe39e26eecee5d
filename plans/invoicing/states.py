"""Changes the state of invoices: ``move`` makes and records every transition.

    open -> closing -> held | draft
    held | draft -> closing                                (closed again)
    draft -> approved -> issuing -> issued -> partly_paid | paid | overdue
    partly_paid -> paid | overdue | issued                 (issued: all of it was refunded)
    paid -> issued | partly_paid | overdue                 (a refund makes it due again)
    overdue -> partly_paid | paid | uncollectible
    issued | partly_paid | paid | overdue -> voided        (by a credit note for all that is left)

``issuing`` exists only inside the issuing transaction.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from controlplane.core import audit, row_updates
from controlplane.core.errors import Conflict
from plans.models import Invoice, InvoiceEvent

State = Invoice.State

# Uncollectible and voided have no row: nothing follows them.
TRANSITIONS: dict[str, frozenset[str]] = {
    State.OPEN: frozenset({State.CLOSING}),
    State.CLOSING: frozenset({State.HELD, State.DRAFT}),
    State.HELD: frozenset({State.CLOSING}),
    State.DRAFT: frozenset({State.CLOSING, State.APPROVED}),
    State.APPROVED: frozenset({State.ISSUING}),
    State.ISSUING: frozenset({State.ISSUED}),
    State.ISSUED: frozenset({State.PARTLY_PAID, State.PAID, State.OVERDUE, State.VOIDED}),
    State.PARTLY_PAID: frozenset({State.PAID, State.OVERDUE, State.ISSUED, State.VOIDED}),
    State.PAID: frozenset({State.ISSUED, State.PARTLY_PAID, State.OVERDUE, State.VOIDED}),
    State.OVERDUE: frozenset({State.PARTLY_PAID, State.PAID, State.UNCOLLECTIBLE, State.VOIDED}),
}
# The states after issue: the invoice has a number, and only its state may still change.
NUMBERED = frozenset(
    {State.ISSUED, State.PARTLY_PAID, State.PAID, State.OVERDUE, State.UNCOLLECTIBLE, State.VOIDED}
)


class WrongState(Conflict):
    """The state of the invoice does not allow the requested change."""

    code = "invoice.wrong_state"


def locked(invoice: Invoice) -> Invoice:
    """Return the invoice read again, with its row locked until the caller's transaction ends."""
    # ``of``, because Django would lock the tenant too, whose lock comes before that of an invoice.
    rows = Invoice.objects.select_for_update(of=("self",)).select_related("tenant")
    return rows.get(pk=invoice.pk)


def subject_of(invoice: Invoice) -> audit.Subject:
    """Return the invoice as the subject of an audit event."""
    name = invoice.number or f"{invoice.starts_at:%Y-%m-%d}..{invoice.ends_at:%Y-%m-%d}"
    return audit.Subject("invoice", invoice.id, name, invoice.tenant_id)


def locked_each(invoice_ids: Collection[str]) -> list[Invoice]:
    """Return the invoices with their tenants, locked until the transaction ends, in order of id."""
    # ``of``, because Django would lock the joined rows of tenants too.
    rows = Invoice.objects.select_for_update(of=("self",)).select_related("tenant")
    return list(rows.filter(pk__in=invoice_ids).order_by("id"))


def move(invoice: Invoice, to: State, *, by: audit.Actor, reason: str = "", **changes: Any) -> None:
    """Move the invoice to another state; write an ``InvoiceEvent`` and an audit event.

    ``changes`` are further columns to store in the same UPDATE; ``invoice`` has the new values
    afterwards. ``invoice`` must come from ``locked`` in the same transaction.

    Raises:
        WrongState: ``TRANSITIONS`` has no such transition.
    """
    move_each([Move(invoice, reason, changes)], to, by=by)


@dataclass(frozen=True)
class Move:
    """A transition of one invoice, with its reason and further columns to store."""

    invoice: Invoice
    reason: str
    changes: Mapping[str, Any] = field(default_factory=dict)


def move_each(moves: Sequence[Move], to: State, *, by: audit.Actor) -> None:
    """Move many invoices to one state, as ``move`` does, by three statements for all of them.

    All moves change the same columns. Every invoice must be locked by the transaction.

    Raises:
        WrongState: ``TRANSITIONS`` lacks the transition of one of them; none is moved.
    """
    # All are checked before one changes, so a refusal leaves every object as it was.
    came_from = [_source(move.invoice, to) for move in moves]
    now = timezone.now()
    for move in moves:
        for name, value in {**move.changes, "state": to, "updated_at": now}.items():
            setattr(move.invoice, name, value)
    columns = [*(moves[0].changes if moves else ()), "state", "updated_at"]
    row_updates.save([move.invoice for move in moves], columns)
    InvoiceEvent.objects.bulk_create(
        InvoiceEvent(
            invoice=move.invoice,
            from_state=before,
            to_state=to,
            actor=by.name,
            reason=move.reason,
            document_sha256=_sha256(move.changes.get("document", "")),
        )
        for move, before in zip(moves, came_from, strict=True)
    )
    audit.record_each(
        audit.event(
            by,
            f"invoice.{to.value}",
            subject_of(move.invoice),
            before={"state": before.value},
            after={"state": to.value},
            reason=move.reason,
        )
        for move, before in zip(moves, came_from, strict=True)
    )


def _source(invoice: Invoice, to: State) -> State:
    """Return the state of the invoice if it can become ``to``; raise WrongState otherwise."""
    came_from = State(invoice.state)
    possible = sorted(TRANSITIONS.get(came_from, frozenset()))
    if to not in possible:
        raise WrongState(
            f"The invoice is {came_from.value} and cannot become {to.value}; it can become "
            f"{' or '.join(possible) or 'nothing else'}.",
            state=came_from.value,
        )
    return came_from


def _sha256(text: str) -> str:
    # Stored beside the document, so that a verification finds a document that was altered.
    return hashlib.sha256(text.encode()).hexdigest() if text else ""
