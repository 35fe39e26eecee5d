"""Books refunds of payments and lost disputes. ``plans.payments`` has the provider send the money.

A refund pays out the tenant's credit first. What exceeds the credit makes the invoice due again,
if the caller allows it. Locks: the invoice, then the series of the invoices' numbers.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Sum

from controlplane.core import audit
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Invalid
from plans.invoicing import invoice_notices, receiving, states
from plans.ledger import credit, posting
from plans.models import Invoice, InvoiceNumberSeries, Payment, Refund
from plans.rating import money
from tenants.notifications import outbox

_Kind, _State = Refund.Kind, Refund.State


class RefundExceedsPayment(Conflict):
    """The refund is more than earlier refunds left of the payment."""

    code = "refund.exceeds_payment"


class RefundNeedsCredit(Conflict):
    """The tenant has too little credit for the refund, and the invoice may not be due again."""

    code = "refund.needs_credit"


class RefundReferenceReused(Conflict):
    """The payment has a refund with this reference already, of another amount."""

    code = "refund.reference_reused"


class RefundsChanged(Conflict):
    """Another refund of the payment was made since somebody decided on this one."""

    code = "refund.changed"


class RefundSettled(Conflict):
    """The money that the refund made due again was paid since: it cannot be booked back."""

    code = "refund.settled"


@dataclass(frozen=True)
class Wanted:
    """What goes back of a payment, in minor units, and why.

    ``reopens``: what exceeds the tenant's credit may become due again. ``reference`` is the
    provider's or the bank's; empty if the provider has yet to send the money. ``seen_left_minor``
    is what was left of the payment when somebody decided on the refund. It keeps a form that is
    sent twice from paying twice; None: not compared.
    """

    amount_minor: int
    reason: str
    reopens: bool = False
    reference: str = ""
    kind: str = _Kind.REFUND
    seen_left_minor: int | None = None


def book(payment: Payment, wanted: Wanted, *, by: Actor, now: datetime) -> Refund:
    """Store and book a refund; return it, or that of the payment with its kind and reference.

    A refund with a reference has succeeded; one without is only requested.

    Raises:
        Invalid: the amount is not positive, or there is no reason.
        RefundExceedsPayment: less than that is left of the payment.
        RefundNeedsCredit: it exceeds the tenant's credit, and ``reopens`` is false.
        RefundReferenceReused: the payment has a refund of another amount with the reference.
        RefundsChanged: what is left of the payment is not ``seen_left_minor``.
    """
    if wanted.amount_minor <= 0 or not wanted.reason.strip():
        raise Invalid("A refund needs a positive amount and a reason.", code="refund.amount")
    with transaction.atomic():
        invoice = states.locked(payment.invoice)
        known = (
            wanted.reference
            and payment.refunds.filter(kind=wanted.kind, reference=wanted.reference).first()
        )
        if known:
            if known.amount_minor != wanted.amount_minor:
                raise RefundReferenceReused(
                    f"The payment has a refund {known.reference} of another amount: use its "
                    "reference."
                )
            return known
        left = left_minor(payment)
        if wanted.seen_left_minor not in (None, left):
            raise RefundsChanged(
                "A refund of this payment was made meanwhile, and nothing was sent now. Look at "
                "the refunds of the payment, and send the form again if you want one more."
            )
        if wanted.amount_minor > left:
            raise RefundExceedsPayment(
                f"Only {money.display(left, invoice.currency)} is left of the payment.",
                left_minor=left,
            )
        refund = _stored(invoice, payment, wanted, by, now)
        _post(refund, f"refund:{refund.pk}", 1, now)
        audit.record(by, f"invoice.{wanted.kind}", states.subject_of(invoice),
                     after=_values(refund), reason=refund.reason)  # fmt: skip
        _make_due(invoice, f"{wanted.kind} of a payment", by, now)
        _notify(refund, invoice, now)
    return refund


def confirm(refund: Refund, *, reference: str, is_final: bool) -> None:
    """Store the provider's reference of a refund, and whether the money has gone. Idempotent."""
    with transaction.atomic():
        current = Refund.objects.select_for_update().get(pk=refund.pk)
        # The provider's event may have come before its answer, and ended the refund already.
        if current.state in {_State.REQUESTED, _State.PENDING}:
            current.reference = reference
            current.state = _State.SUCCEEDED if is_final else _State.PENDING
            current.save(update_fields=["reference", "state", "updated_at"])


def fail(refund: Refund, *, message: str, by: Actor, now: datetime) -> None:
    """Book a refund back whose money did not go. Idempotent.

    Raises:
        RefundSettled: the tenant has paid since what the refund made due again.
    """
    with transaction.atomic():
        invoice = states.locked(refund.invoice)
        current = Refund.objects.select_for_update().select_related("invoice").get(pk=refund.pk)
        if current.state == _State.FAILED:
            return
        # Booked back, it would make less than nothing due.
        if current.reopened_minor > receiving.outstanding_minor(invoice):
            raise RefundSettled(
                "The refund failed, and its amount was paid meanwhile: refund the second payment."
            )
        current.state, current.message = _State.FAILED, message
        current.save(update_fields=["state", "message", "updated_at"])
        _post(current, f"refund_failed:{current.pk}", -1, now)
        audit.record(by, "invoice.refund_failed", states.subject_of(invoice),
                     after=_values(current), reason=message)  # fmt: skip
        receiving.follow(invoice, by=by, reason="a refund failed", now=now)


def left_minor(payment: Payment) -> int:
    """Return what may still go back of a payment, in minor units."""
    gone = payment.refunds.exclude(state=_State.FAILED).aggregate(
        total=Sum("amount_minor", default=0)
    )["total"]
    return int(payment.amount_minor - gone)


def credit_minor(invoice: Invoice) -> int:
    """Return the tenant's credit with the invoice's legal entity: the most without a new debt."""
    return credit.before(invoice.tenant_id, invoice.legal_entity, invoice.currency)


def _stored(invoice: Invoice, payment: Payment, wanted: Wanted, by: Actor, now: datetime) -> Refund:
    # The order of entries on a credit account must be the order of their commits.
    InvoiceNumberSeries.objects.select_for_update().get(pk=invoice.legal_entity)
    from_credit = min(wanted.amount_minor, max(0, credit_minor(invoice)))
    if from_credit < wanted.amount_minor and not wanted.reopens:
        raise RefundNeedsCredit(
            f"The tenant's credit is {money.display(from_credit, invoice.currency)}: issue a "
            "credit note first, or say that the invoice becomes due again.",
            credit_minor=from_credit,
        )
    return Refund.objects.create(
        payment=payment,
        invoice=invoice,
        kind=wanted.kind,
        reference=wanted.reference,
        amount_minor=wanted.amount_minor,
        credit_minor=from_credit,
        reopened_minor=wanted.amount_minor - from_credit,
        state=_State.SUCCEEDED if wanted.reference else _State.REQUESTED,
        reason=wanted.reason.strip(),
        requested_by=by.name,
        requested_at=now,
    )


def _make_due(invoice: Invoice, reason: str, by: Actor, now: datetime) -> None:
    before = invoice.state
    receiving.follow(invoice, by=by, reason=reason, now=now)
    # ``mark_overdue`` does not see it, because it is overdue at once if it is late.
    if invoice.state == Invoice.State.OVERDUE != before:
        invoice_notices.write_overdue(invoice, now)


def _post(refund: Refund, reference: str, sign: int, now: datetime) -> None:
    invoice = refund.invoice
    # Every posting to a credit account needs this lock. For a new refund, ``_stored`` took it.
    if sign < 0 and refund.credit_minor:
        InvoiceNumberSeries.objects.select_for_update().get(pk=invoice.legal_entity)
    posting.post(
        posting.Booking(
            reference,
            invoice.tenant_id,
            invoice.currency,
            f"{refund.get_kind_display()} for {invoice.number}",
            {
                posting.CASH_CLEARING: -sign * refund.amount_minor,
                posting.credit(invoice.legal_entity): sign * refund.credit_minor,
                receiving.debt_account(invoice): sign * refund.reopened_minor,
            },
            invoice.legal_entity,
        ),
        at=now,
    )


def _values(refund: Refund) -> dict[str, object]:
    names = ("amount_minor", "credit_minor", "reopened_minor", "reference")
    return {name: getattr(refund, name) for name in names}


def _notify(refund: Refund, invoice: Invoice, now: datetime) -> None:
    if refund.kind != _Kind.REFUND:
        return  # a lost dispute has a notice of its own (``plans.payments.events``)
    reopened = money.display(refund.reopened_minor, invoice.currency)
    outcome = f"{reopened} of the invoice are due again." if refund.reopened_minor else ""
    outbox.write(
        "payment.refunded",
        tenant=invoice.tenant,
        key=refund.pk,
        fields={
            "invoice": invoice.id,
            "number": invoice.number,
            "amount": money.display(refund.amount_minor, invoice.currency),
            "reason": refund.reason,
            "outcome": outcome,
        },
        now=now,
    )
