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
from typing import Any

from controlplane.core import audit
from controlplane.core.errors import Conflict
from plans.models import Invoice, InvoiceEvent

State = Invoice.State

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
    return Invoice.objects.select_for_update().select_related("tenant").get(pk=invoice.pk)


def subject_of(invoice: Invoice) -> audit.Subject:
    """Return the invoice as the subject of an audit event."""
    name = invoice.number or f"{invoice.starts_at:%Y-%m-%d}..{invoice.ends_at:%Y-%m-%d}"
    return audit.Subject("invoice", invoice.id, name, invoice.tenant_id)


def move(invoice: Invoice, to: State, *, by: audit.Actor, reason: str = "", **changes: Any) -> None:
    """Move the invoice to another state; write an ``InvoiceEvent`` and an audit event.

    ``changes`` are further columns to store in the same UPDATE; ``invoice`` has the new values
    afterwards. ``invoice`` must come from ``locked`` in the same transaction.

    Raises:
        WrongState: ``TRANSITIONS`` has no such transition.
    """
    came_from = State(invoice.state)
    possible = sorted(TRANSITIONS.get(came_from, frozenset()))
    if to not in possible:
        raise WrongState(
            f"The invoice is {came_from.value} and cannot become {to.value}; it can become "
            f"{' or '.join(possible) or 'nothing else'}.",
            state=came_from.value,
        )
    for name, value in {**changes, "state": to}.items():
        setattr(invoice, name, value)
    # ``update_fields`` must name ``updated_at``, or its ``auto_now`` has no effect.
    invoice.save(update_fields=[*changes, "state", "updated_at"])
    # A second place for the hash of the document, which a verification compares.
    text = changes.get("document", "")
    InvoiceEvent.objects.create(
        invoice=invoice,
        from_state=came_from,
        to_state=to,
        actor=by.name,
        reason=reason,
        document_sha256=hashlib.sha256(text.encode()).hexdigest() if text else "",
    )
    audit.record(
        by,
        f"invoice.{to.value}",
        subject_of(invoice),
        before={"state": came_from.value},
        after={"state": to.value},
        reason=reason,
    )
