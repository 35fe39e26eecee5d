"""Takes an invoice from draft to paid: approve, issue with a gapless number, record payments.

Also marks invoices overdue and writes them off. Locks are taken in one order, which prevents
deadlocks: the tenant (``approve`` only), the invoice, the reference of a payment
(``receiving.receive`` only), the number series (``issue``, and whatever posts to a credit account).
"""

from datetime import date, datetime, timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from controlplane.core.audit import Actor
from plans.invoicing import (
    corrections,
    document,
    invoice_booking,
    invoice_notices,
    pinned_sellers,
    receiving,
    states,
)
from plans.ledger import credit, grants, posting
from plans.models import CreditUse, Invoice, InvoiceNumberSeries, Payment
from plans.rating import money
from tenants.models import Tenant

State = Invoice.State


def approve(*, invoice: Invoice, by: Actor, reason: str = "") -> Invoice:
    """Move a draft to ``approved``; return an invoice that is approved or issued already unchanged.

    Raises:
        WrongState: the invoice is not a draft yet.
        PreviousInvoiceOpen: the previous invoice of the month is not approved, or was closed
            again since this draft; or another invoice has corrected the same month since.
    """
    with transaction.atomic():
        # One approval per tenant at a time, because two drafts may correct the same month.
        Tenant.objects.select_for_update().get(pk=invoice.tenant_id)
        current = states.locked(invoice)
        if current.state not in {State.APPROVED, *states.NUMBERED}:
            if current.state == State.DRAFT:
                corrections.require_agreed(current)
                corrections.require_current(current)
            states.move(current, State.APPROVED, by=by, reason=reason)
    return current


def issue(*, invoice: Invoice, by: Actor, now: datetime | None = None) -> Invoice:
    """Number an approved invoice, freeze its document and book it, in one transaction.

    The number comes from the legal entity's series: a failure consumes no number, and parallel
    calls wait for each other. The tenant's credit with the legal entity, granted credit included,
    settles as much of the total as it can. A negative total adds to the credit. If nothing is left
    to pay, the invoice becomes paid. An invoice that is issued already is returned unchanged.

    Raises:
        WrongState: the invoice is not approved.
    """
    instant = (now or timezone.now()).replace(microsecond=0)
    with transaction.atomic():
        current = states.locked(invoice)
        if current.state in states.NUMBERED:
            return current
        states.move(current, State.ISSUING, by=by)  # no other transaction sees this state
        final = document.numbered(document.loaded(current.document), _issue_of(current, instant))
        states.move(
            current,
            State.ISSUED,
            by=by,
            number=final["number"],
            issued_at=instant,
            due_at=datetime.fromisoformat(final["due_at"]),
            credit_minor=final["total_minor"] - final["payable_minor"],
            document=document.canonical(final),
        )
        entry = posting.post(invoice_booking.booking_of(current, final), at=instant)
        CreditUse.objects.bulk_create(
            CreditUse(
                grant_id=use["id"], entry=entry, invoice=current, amount_minor=use["used_minor"]
            )
            for use in final["credit"].get("grants", [])
        )
        invoice_notices.write_issued(current, instant)
        if not current.payable_minor:
            states.move(current, State.PAID, by=by, reason=_nothing_to_pay(current))
    return current


def record_payment(
    *,
    invoice: Invoice,
    amount_minor: int,
    source: str,
    reference: str,
    received_on: date,
    by: Actor,
) -> Payment:
    """Record and book a payment of an issued invoice, which becomes paid or partly paid.

    Idempotent: ``source`` (``manual``, a provider or another system) and ``reference`` identify the
    payment, and recording it again returns the existing row. ``amount_minor`` is in minor units of
    the invoice's currency. To take more than is due, call ``receiving.receive``.

    Raises:
        Invalid: the amount is not positive.
        WrongState: the invoice is not issued, is paid or voided, or was written off.
        PaymentExceedsInvoice: the amount exceeds what is due.
        PaymentReferenceReused: the reference was used for another invoice or amount.
    """
    payment = Payment(
        source=source, reference=reference, amount_minor=amount_minor, received_on=received_on
    )
    return receiving.receive(invoice=invoice, payment=payment, by=by)


def mark_overdue(*, by: Actor, now: datetime | None = None) -> list[str]:
    """Move issued and partly paid invoices to ``overdue`` if they are late; return their ids.

    An invoice is late when the day that its document names, ``due_on``, is over. Covers all
    tenants, one transaction for each invoice. Idempotent. An invoice with nothing to pay is never
    overdue.
    """
    instant = now or timezone.now()
    # Documents may be large, and only those of an earlier version are read for their time zone.
    may_be_late = Invoice.objects.filter(
        state__in=[State.ISSUED, State.PARTLY_PAID],
        due_at__lt=instant,
        total_minor__gt=F("credit_minor"),
    ).defer("document", "manifest", "quality")
    moved = []
    for invoice in may_be_late:
        late_from = invoice.late_from
        if late_from is None or late_from > instant:
            continue  # the day on which it is due is not over
        with transaction.atomic():
            current = states.locked(invoice)
            # Checked again under the lock: a payment may have settled it since the query.
            if current.state in {State.ISSUED, State.PARTLY_PAID}:
                states.move(current, State.OVERDUE, by=by, reason="the day by which to pay is over")
                invoice_notices.write_overdue(current, instant)
                moved.append(current.id)
    return moved


def write_off(*, invoice: Invoice, by: Actor, reason: str, now: datetime | None = None) -> Invoice:
    """Write off an overdue invoice: book the amount due from receivable to bad debt.

    The invoice becomes ``uncollectible``, and keeps this state for ever.

    Raises:
        WrongState: the invoice is not overdue.
    """
    with transaction.atomic():
        current = states.locked(invoice)
        due = receiving.outstanding_minor(current)
        states.move(current, State.UNCOLLECTIBLE, by=by, reason=reason)
        posting.post(
            posting.Booking(
                f"write_off:{current.id}",
                current.tenant_id,
                current.currency,
                f"Write-off of {current.number}",
                {posting.BAD_DEBT: due, posting.RECEIVABLE: -due},
                current.legal_entity,
            ),
            at=now or timezone.now(),
        )
    return current


def _issue_of(invoice: Invoice, instant: datetime) -> document.Issue:
    """Take the next number of the series; return it with the tenant's credit and the due time.

    Call it in the issuing transaction: the number series stays locked until its end.
    """
    # The number first: its row lock serializes issues, so the credit is used only once.
    number = _next_number(invoice.legal_entity)
    before = credit.before(invoice.tenant_id, invoice.legal_entity, invoice.currency)
    # The payment time of the catalog version that priced the invoice, not of the newest one.
    seller = pinned_sellers.seller(invoice.manifest["catalogue_number"], invoice.legal_entity)
    due_at = instant + timedelta(days=seller.payment_days)
    left = grants.available(invoice.tenant_id, invoice.legal_entity, invoice.currency)
    return document.Issue(number, instant, due_at, before, left)


def _nothing_to_pay(invoice: Invoice) -> str:
    if invoice.total_minor < 0:
        kept = money.display(-invoice.total_minor, invoice.currency)
        return f"the total is negative: {kept} is kept as credit for the next invoices"
    return "settled by credit from earlier invoices" if invoice.credit_minor else "nothing to pay"


def _next_number(legal_entity: str) -> str:
    # A database sequence would leave a gap when a transaction fails; a locked row does not.
    InvoiceNumberSeries.objects.get_or_create(legal_entity=legal_entity)
    series = InvoiceNumberSeries.objects.select_for_update().get(pk=legal_entity)
    series.last_number += 1
    series.save(update_fields=["last_number"])
    return f"{legal_entity.upper()}-{series.last_number:06d}"
