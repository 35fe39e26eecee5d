"""Receives payments of invoices, and decides which state an invoice has by what is still due.

Locks, in this order: the invoice; the reference of the payment; and, if a part becomes credit, the
series of the invoices' numbers, which every posting to a credit account needs.
"""

from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, Subquery, Sum, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone

from controlplane.core import audit, enqueue
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Invalid
from plans.invoicing import states
from plans.ledger import posting
from plans.models import (
    CreditNote,
    Invoice,
    InvoiceEvent,
    InvoiceNumberSeries,
    Payment,
    Refund,
)
from plans.rating import money
from tenants.notifications import outbox

State = Invoice.State
# The states in which something may be due.
UNPAID = frozenset({State.ISSUED, State.PARTLY_PAID, State.OVERDUE})
# What is due in these states is a loss already; a payment reduces it.
_LOST = frozenset({State.UNCOLLECTIBLE, State.VOIDED})


class PaymentExceedsInvoice(Conflict):
    """The payment exceeds the amount due, and the caller does not make the rest credit."""

    code = "payment.exceeds_invoice"


class PaymentReferenceReused(Conflict):
    """The source and reference belong to a payment of another invoice or of another amount."""

    code = "payment.reference_reused"


def receive(
    *, invoice: Invoice, payment: Payment, by: Actor, surplus_to_credit: bool = False
) -> Payment:
    """Record and book a payment of an issued invoice; return it, or the one with its reference.

    ``payment`` is not stored yet, and has a source, a reference, an amount and the day on which the
    money was received. With ``surplus_to_credit``, every issued invoice takes any positive amount:
    what exceeds the amount due becomes credit of the tenant, and what settles a written-off invoice
    reduces the bad debt.

    Raises:
        Invalid: the amount is not positive.
        WrongState: the invoice is not issued; or, without ``surplus_to_credit``, it is paid, voided
            or written off.
        PaymentExceedsInvoice: the amount exceeds what is due, without ``surplus_to_credit``.
        PaymentReferenceReused: the reference was used for another invoice or amount.
    """
    if payment.amount_minor <= 0:
        raise Invalid("A payment is a positive amount in minor units.", code="payment.amount")
    with transaction.atomic():
        current = states.locked(invoice)
        _lock_reference(payment)
        known = Payment.objects.filter(source=payment.source, reference=payment.reference).first()
        payment.invoice, payment.recorded_by = current, by.name
        if known is not None:
            if (known.invoice_id, known.amount_minor) != (current.pk, payment.amount_minor):
                raise PaymentReferenceReused(
                    f"Payment {known.reference} from {known.source} is already recorded for "
                    "another invoice or amount: use the reference of this payment."
                )
            return known
        due = due_minor(current)
        if not surplus_to_credit:
            _require_payable(current, payment.amount_minor, due)
        elif current.state not in states.NUMBERED:
            raise states.WrongState("The invoice is not issued yet.", state=current.state)
        payment.credit_minor = max(0, payment.amount_minor - due)
        payment.save()
        _book(current, payment, by)
        if payment.amount_minor > payment.credit_minor:
            follow(current, by=by, reason="payment recorded")
        _notify(current, payment)
        # Restrictions because of unpaid invoices may end now.
        enqueue.after_commit("workers.dun", tenant_id=current.tenant_id)
    return payment


def outstanding_minor(invoice: Invoice) -> int:
    """Return the amount to pay of an issued invoice minus its payments, in minor units.

    Refunds count as if that part was never paid, unless credit paid for them. What credit notes
    took back is subtracted, too. A write-off does not change the result.
    """
    found = Invoice.objects.filter(pk=invoice.pk).values_list(outstanding(), flat=True)
    return int(found.get())


def outstanding() -> Combinable:
    """Return what ``outstanding_minor`` computes as an expression for queries of invoices."""
    payments = _sum(Payment.objects.all(), F("amount_minor") - F("credit_minor"))
    # A failed refund was booked back, so it makes nothing due.
    refunds = _sum(Refund.objects.exclude(state=Refund.State.FAILED), F("reopened_minor"))
    notes = _sum(CreditNote.objects.all(), F("receivable_minor"))
    return F("total_minor") - F("credit_minor") - payments + refunds - notes


def _sum(rows: QuerySet[Any], amount: Combinable) -> Combinable:
    """Return the sum of the ``amount`` of those ``rows`` that belong to the invoice; 0 if none."""
    own = rows.filter(invoice=OuterRef("pk")).order_by().values("invoice")
    return Coalesce(Subquery(own.annotate(sum=Sum(amount)).values("sum")), 0)


def due_minor(invoice: Invoice) -> int:
    """Return how much of a payment the invoice can take now; the rest is credit of the tenant."""
    takes = invoice.state in UNPAID | _LOST
    return max(0, outstanding_minor(invoice)) if takes else 0


def with_due(rows: QuerySet[Invoice]) -> QuerySet[Invoice]:
    """Return ``rows`` with ``known_due_minor``, which is what ``due_minor`` returns of a row."""
    takes = When(state__in=UNPAID | _LOST, then=Greatest(outstanding(), 0))
    return rows.annotate(known_due_minor=Case(takes, default=0))


def debt_account(invoice: Invoice) -> str:
    """Return the ledger account that holds what is due of the invoice.

    Of a voided invoice something is due only if a bank took a payment back whose credit the tenant
    has used. Nobody reminds of it, so it is a loss until the tenant pays it.
    """
    return posting.BAD_DEBT if invoice.state in _LOST else posting.RECEIVABLE


def follow(invoice: Invoice, *, by: Actor, reason: str, now: datetime | None = None) -> None:
    """Move an invoice to the state that its outstanding amount demands, after a booking.

    ``invoice`` must come from ``states.locked``. Nothing changes if it is voided or written off.
    """
    if invoice.state not in UNPAID | {State.PAID}:
        return
    due = outstanding_minor(invoice)
    late_from = invoice.late_from
    is_late = late_from is not None and late_from <= (now or timezone.now())
    if due <= 0:
        target = State.PAID
    elif due < invoice.payable_minor and invoice.state != State.PAID:
        target = State.PARTLY_PAID  # ``mark_overdue`` moves it on if it is late
    elif is_late or invoice.state == State.OVERDUE:
        target = State.OVERDUE
    else:
        target = State.PARTLY_PAID if due < invoice.payable_minor else State.ISSUED
    if invoice.state != target:
        states.move(invoice, target, by=by, reason=reason)


def unpaid(now: datetime) -> Q:
    """Return the condition for invoices that became overdue and of which something is due.

    An overdue invoice that was paid in part is partly paid until the next run of ``mark_overdue``,
    and counts meanwhile. Any other invoice counts only after this run.
    """
    became_overdue = InvoiceEvent.objects.filter(invoice=OuterRef("pk"), to_state=State.OVERDUE)
    paid_in_part = Q(state=State.PARTLY_PAID, due_at__lt=now) & Q(Exists(became_overdue))
    return Q(state=State.OVERDUE) | paid_in_part


def _lock_reference(payment: Payment) -> None:
    # Otherwise two deliveries of one webhook could both find no payment. The invoice's lock is not
    # enough, because they may name two invoices.
    with connection.cursor() as cursor:
        lock = f"plans.payment:{payment.source}:{payment.reference}"
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [lock])


def _require_payable(invoice: Invoice, amount_minor: int, due: int) -> None:
    if invoice.state not in UNPAID:
        raise states.WrongState(
            "Only an issued invoice with an amount due takes a payment. Of a written-off or paid "
            "invoice you can record one whose surplus becomes credit.",
            state=invoice.state,
        )
    if amount_minor > due:
        raise PaymentExceedsInvoice(
            f"Only {money.display(due, invoice.currency)} is due: record that much and return the "
            "rest to the payer, or keep the rest as credit.",
            due_minor=due,
        )


def _book(invoice: Invoice, payment: Payment, by: Actor) -> None:
    if payment.credit_minor:
        # The order of entries on a credit account must be the order of their commits.
        InvoiceNumberSeries.objects.select_for_update().get(pk=invoice.legal_entity)
    posting.post(
        posting.Booking(
            f"payment:{payment.source}:{payment.reference}",
            invoice.tenant_id,
            invoice.currency,
            f"Payment of {invoice.number}",
            {
                posting.CASH_CLEARING: payment.amount_minor,
                debt_account(invoice): payment.credit_minor - payment.amount_minor,
                posting.credit(invoice.legal_entity): -payment.credit_minor,
            },
            invoice.legal_entity,
        ),
        at=timezone.now(),
    )
    audit.record(
        by,
        "invoice.payment",
        states.subject_of(invoice),
        after={
            "amount_minor": payment.amount_minor,
            "source": payment.source,
            "reference": payment.reference,
            **({"credit_minor": payment.credit_minor} if payment.credit_minor else {}),
        },
    )


def _notify(invoice: Invoice, payment: Payment) -> None:
    currency = invoice.currency
    rest = max(0, outstanding_minor(invoice))
    words = f"{money.display(rest, currency)} are still to pay." if rest else "It is paid."
    if payment.credit_minor:
        kept = money.display(payment.credit_minor, currency)
        words += f" {kept} more than was due became credit, which your next invoices use."
    outbox.write(
        "payment.received",
        tenant=invoice.tenant,
        key=str(payment.pk),
        fields={
            "invoice": invoice.id,
            "number": invoice.number,
            "amount": money.display(payment.amount_minor, currency),
            "outcome": words,
        },
    )
