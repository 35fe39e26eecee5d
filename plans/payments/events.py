"""Takes the events of payment providers, stores each once, and applies it once.

Providers do not deliver events in order. So an event waits while the payment that it refers to is
not known, and a task applies waiting events again. An event that cannot be applied is kept as
refused, for staff. So is an event whose effect fails for three days.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from django.db import transaction
from django.db.models import Q, QuerySet

from controlplane.core import audit, outages
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, WaypostError
from plans.invoicing import receiving, refunding, states
from plans.models import Invoice, Payment, PaymentDispute, PaymentEvent, Refund
from plans.payments import providers
from plans.payments.port import EventKind, ProviderEvent
from plans.rating import money
from tenants.notifications import outbox

logger = structlog.get_logger(__name__)
_State = PaymentEvent.State
# For so long an event waits for the payment that it refers to, and is tried again if it fails.
_FAILED = "Its effect failed"  # so begin the messages of events that are tried again
_PATIENCE = timedelta(days=3)


class EventChanged(Conflict):
    """A second delivery of an event has other content than the first."""

    code = "payment_event.changed"


@dataclass(frozen=True)
class _Outcome:
    """What became of an event; ``invoice`` is the one that it is about, if any."""

    state: PaymentEvent.State
    message: str = ""
    invoice: Invoice | None = None


def receive(provider: str, body: bytes, headers: Mapping[str, str], now: datetime) -> PaymentEvent:
    """Verify a delivery, store its event and apply it; return its row.

    ``headers`` has lower-case names. A repeated delivery returns the row of the first one and
    changes nothing. If the process is killed after the event is stored, ``apply_waiting`` or the
    provider's next delivery applies it.

    Raises:
        Missing: the installation has no such provider.
        SignatureWrong: signature, time or content of the delivery are wrong.
        EventChanged: an event with this id and other content is stored.
    """
    event = providers.by_name(provider).verified(body, headers, now)
    row, is_new = PaymentEvent.objects.get_or_create(
        provider=provider,
        event_id=event.id,
        defaults={
            "kind": event.kind,
            "occurred_at": event.occurred_at,
            "received_at": now,
            "fields": event.fields(),
        },
    )
    if not is_new and (row.kind, row.fields) != (event.kind, event.fields()):
        raise EventChanged("An event with this id says something else: it was refused.")
    apply(row, now)
    row.refresh_from_db()
    return row


def apply(row: PaymentEvent, now: datetime) -> None:
    """Apply a waiting event in one transaction. Idempotent; does nothing if it does not wait.

    If the effect raises an expected error, the event becomes refused with its message. After a
    payment, applies the events that waited for this payment.
    """
    try:
        with transaction.atomic():
            current = PaymentEvent.objects.select_for_update().get(pk=row.pk)
            if current.state != _State.WAITING:
                return
            event = _stored(current)
            outcome = _EFFECTS[event.kind](current.provider, event, now)
            if outcome.state == _State.WAITING and now - current.received_at > _PATIENCE:
                outcome = _Outcome(_State.REFUSED, "The payment that it refers to never came.")
            _end(current, outcome)
    except WaypostError as error:
        # The effect is rolled back. A second transaction, so that staff see why.
        with transaction.atomic():
            current = PaymentEvent.objects.select_for_update().get(pk=row.pk)
            if current.state == _State.WAITING:
                _end(current, _Outcome(_State.REFUSED, error.message, _named(_stored(current))))
        return
    if row.kind == EventKind.PAID:
        # Refunds and disputes may have come before their payment.
        followers = PaymentEvent.objects.filter(
            state=_State.WAITING, provider=row.provider, fields__payment=row.fields["payment"]
        )
        _apply_each(followers, now)


def apply_waiting(now: datetime) -> None:
    """Apply all waiting events again, the oldest first.

    One that fails stops no other, and its row says so. After three days it is refused.
    """
    _apply_each(PaymentEvent.objects.filter(state=_State.WAITING), now)


def _apply_each(rows: QuerySet[PaymentEvent], now: datetime) -> None:
    for row in rows.order_by("occurred_at", "id"):
        try:
            apply(row, now)
        except Exception as error:
            if outages.is_database_away(error):
                raise  # it fails all other events too, and says nothing about this one
            logger.exception("an event of a provider was not applied", payment_event=row.pk)
            _keep_failed(row, error, now)


def _keep_failed(row: PaymentEvent, error: Exception, now: datetime) -> None:
    """Let staff see that the effect of an event failed; refuse it if that goes on for too long."""
    what = f"{_FAILED} ({type(error).__name__}); the log has the reason."
    with transaction.atomic():
        current = PaymentEvent.objects.select_for_update().get(pk=row.pk)
        if current.state != _State.WAITING:
            return
        invoice = _named(_stored(current))
        # One failure may be an accident, however long the event has waited for something else.
        has_failed = current.message.startswith(_FAILED)
        if has_failed and now - current.received_at > _PATIENCE:
            what = f"{what} It is not tried again: record by hand what the provider reports."
            _end(current, _Outcome(_State.REFUSED, what, invoice))
        else:
            _end(current, _Outcome(_State.WAITING, f"{what} It is tried again.", invoice))


def _stored(row: PaymentEvent) -> ProviderEvent:
    return ProviderEvent.of_stored(row.event_id, row.kind, row.occurred_at, row.fields)


def _end(row: PaymentEvent, outcome: _Outcome) -> None:
    row.state, row.message, row.invoice = outcome.state, outcome.message, outcome.invoice
    row.save(update_fields=["state", "message", "invoice", "updated_at"])


def _named(event: ProviderEvent) -> Invoice | None:
    name = event.invoice
    rows = Invoice.objects.filter(Q(pk=name) | Q(number=name)).select_related("tenant")
    return rows.first() if name else None


def _payment(provider: str, event: ProviderEvent) -> Payment | None:
    rows = Payment.objects.select_related("invoice__tenant")
    return rows.filter(source=provider, reference=event.payment).first() if event.payment else None


def _refund(provider: str, event: ProviderEvent) -> Refund | None:
    rows = Refund.objects.select_related("invoice__tenant")
    rows = rows.filter(kind=Refund.Kind.REFUND, payment__source=provider)
    if event.payment:
        rows = rows.filter(payment__reference=event.payment)
    # First by our id: a refund has no reference before the provider's answer is stored.
    ours = rows.filter(pk=event.refund).first() if event.refund else None
    if ours is not None or not event.reference:
        return ours
    theirs = rows.filter(reference=event.reference)[:2]
    # Refunds of two payments may have one reference: then only the payment tells them apart.
    return theirs[0] if len(theirs) == 1 else None


def _require_currency(event: ProviderEvent, invoice: Invoice) -> None:
    if event.currency not in {"", invoice.currency}:
        raise Conflict(f"It is in {event.currency}, the invoice in {invoice.currency}.")


def _require_amount(event: ProviderEvent, refund: Refund) -> None:
    _require_currency(event, refund.invoice)
    # 0: the event names no amount.
    if event.amount_minor not in {0, refund.amount_minor}:
        currency = refund.invoice.currency
        raise Conflict(
            f"It is of {money.display(event.amount_minor, currency)}, the refund of "
            f"{money.display(refund.amount_minor, currency)}: compare both with the provider."
        )


def _paid(provider: str, event: ProviderEvent, now: datetime) -> _Outcome:
    invoice = _named(event)
    if invoice is None:
        return _Outcome(_State.REFUSED, "It names no invoice of this installation.")
    if event.currency != invoice.currency or not event.payment:
        reason = f"{event.currency or 'No currency'} was paid for an invoice in {invoice.currency}."
        return _Outcome(_State.REFUSED, reason, invoice)
    payment = Payment(
        source=provider,
        reference=event.payment,
        amount_minor=event.amount_minor,
        received_on=event.received_on or event.occurred_at.date(),
    )
    # The money is there already, so what is more than due cannot be refused.
    made = receiving.receive(
        invoice=invoice, payment=payment, by=_actor(provider), surplus_to_credit=True
    )
    words = ""
    if made.credit_minor:
        words = f"{money.display(made.credit_minor, invoice.currency)} became credit."
    return _Outcome(_State.APPLIED, words, invoice)


def _payment_failed(provider: str, event: ProviderEvent, now: datetime) -> _Outcome:
    invoice = _named(event)
    if invoice is None or invoice.state not in receiving.UNPAID:
        return _Outcome(_State.IGNORED, "", invoice)
    fields = {
        "invoice": invoice.id,
        "number": invoice.number,
        "reason": event.message or "The provider gave no reason.",
    }
    key = f"{provider}:{event.id}"
    outbox.write("payment.failed", tenant=invoice.tenant, key=key, fields=fields, now=now)
    return _Outcome(_State.APPLIED, event.message, invoice)


def _refunded(provider: str, event: ProviderEvent, now: datetime) -> _Outcome:
    refund = _refund(provider, event)
    if refund is not None:
        _require_amount(event, refund)
        if refund.state == Refund.State.FAILED:
            return _Outcome(
                _State.REFUSED,
                "The refund was booked back as failed, and now the provider says that it paid it: "
                "record a refund of the payment with another reference.",
                refund.invoice,
            )
        refunding.confirm(refund, reference=event.reference, is_final=True)
        return _Outcome(_State.APPLIED, "", refund.invoice)
    payment = _payment(provider, event)
    if payment is None:
        return _Outcome(_State.WAITING, "", _named(event))
    _require_currency(event, payment.invoice)
    wanted = refunding.Wanted(
        event.amount_minor,
        event.message or f"refunded by {provider}",
        reopens=True,  # the money has gone already
        reference=event.reference,
    )
    refunding.book(payment, wanted, by=_actor(provider), now=now)
    return _Outcome(_State.APPLIED, "", payment.invoice)


def _refund_failed(provider: str, event: ProviderEvent, now: datetime) -> _Outcome:
    refund = _refund(provider, event)
    if refund is None:
        return _Outcome(_State.IGNORED, "The refund is not known.", _named(event))
    _require_amount(event, refund)
    message = event.message or "The provider says that it failed."
    refunding.fail(refund, message=message, by=_actor(provider), now=now)
    return _Outcome(_State.APPLIED, message, refund.invoice)


def _disputed(provider: str, event: ProviderEvent, now: datetime) -> _Outcome:
    """Open or end a dispute; a lost one takes the money back, and the invoice is due again."""
    payment = _payment(provider, event)
    if payment is None:
        return _Outcome(_State.WAITING, "", _named(event))
    _require_currency(event, payment.invoice)
    dispute, is_new = PaymentDispute.objects.get_or_create(
        payment=payment,
        reference=event.reference,
        defaults={
            "source": provider,
            "amount_minor": event.amount_minor,
            "reason": event.message[:200],  # the length of the column
            "opened_at": event.occurred_at,
        },
    )
    ended = {
        EventKind.DISPUTE_WON: PaymentDispute.State.WON,
        EventKind.DISPUTE_LOST: PaymentDispute.State.LOST,
    }.get(event.kind)
    if ended and dispute.state == PaymentDispute.State.OPEN:
        dispute.state, dispute.ended_at = ended, event.occurred_at
        dispute.save(update_fields=["state", "ended_at", "updated_at"])
    # Idempotent: ``book`` returns the chargeback with the reference of the dispute.
    if dispute.state == PaymentDispute.State.LOST:
        wanted = refunding.Wanted(
            dispute.amount_minor,
            "the payer's bank took the payment back",
            reopens=True,
            reference=dispute.reference,
            kind=Refund.Kind.CHARGEBACK,
        )
        refunding.book(payment, wanted, by=_actor(provider), now=now)
    if is_new or ended:
        _report(dispute, payment.invoice, now)
    return _Outcome(_State.APPLIED, "", payment.invoice)


def _report(dispute: PaymentDispute, invoice: Invoice, now: datetime) -> None:
    after = {"state": dispute.state, "amount_minor": dispute.amount_minor}
    actor = _actor(dispute.source)
    audit.record(actor, "invoice.dispute", states.subject_of(invoice), after=after)
    outbox.write(
        "payment.disputed",
        tenant=invoice.tenant,
        key=f"{dispute.pk}:{dispute.state}",
        fields={
            "invoice": invoice.id,
            "number": invoice.number,
            "amount": money.display(dispute.amount_minor, invoice.currency),
            "state": dispute.state,
        },
        now=now,
    )


def _ignored(provider: str, event: ProviderEvent, now: datetime) -> _Outcome:
    return _Outcome(_State.IGNORED, "", _named(event))


def _actor(provider: str) -> Actor:
    return Actor(f"provider:{provider}")


_EFFECTS: Mapping[EventKind, Callable[[str, ProviderEvent, datetime], _Outcome]] = {
    EventKind.PAID: _paid,
    EventKind.PAYMENT_FAILED: _payment_failed,
    EventKind.REFUNDED: _refunded,
    EventKind.REFUND_FAILED: _refund_failed,
    EventKind.DISPUTE_OPENED: _disputed,
    EventKind.DISPUTE_WON: _disputed,
    EventKind.DISPUTE_LOST: _disputed,
    EventKind.OTHER: _ignored,
}
