"""Sends money of payments back: books the refund first, then asks the provider for it.

A refund that is booked and not sent, because a process was killed or the provider was away, is sent
by a periodic task. The provider sends the money once, because the refund's id is its key.
"""

from datetime import datetime, timedelta

import structlog
from django.db.models import Q

from controlplane.core.audit import SYSTEM, Actor
from controlplane.core.errors import Invalid, Missing, WaypostError
from plans.invoicing import refunding
from plans.invoicing.refunding import Wanted
from plans.models import Payment, Refund
from plans.payments import providers
from plans.payments.port import ProviderAway, ProviderRefuses, RefundRequest

logger = structlog.get_logger(__name__)
# Younger ones are probably being sent by the request that made them.
_BEING_SENT = timedelta(minutes=1)
_LONGEST_WAIT = timedelta(hours=1)


def request(*, payment: Payment, wanted: Wanted, by: Actor, now: datetime) -> Refund:
    """Book a refund of the payment, and have its provider send the money; return the refund.

    Call it outside a transaction. Raises all errors of ``book`` and ``finish``.
    """
    return finish(book(payment=payment, wanted=wanted, by=by, now=now), by=by, now=now)


def book(*, payment: Payment, wanted: Wanted, by: Actor, now: datetime) -> Refund:
    """Book a refund of the payment, which ``finish`` sends once it is committed.

    With ``wanted.reference`` the money was sent already, by that reference of the bank. Without a
    reference the provider sends it.

    Raises:
        Invalid: the provider sends no money back by itself, and there is no reference.
        All errors of ``refunding.book``.
    """
    if not wanted.reference and not providers.of_source(payment.source).has_refunds:
        raise Invalid(
            "Send the money back by your bank, then enter the bank's reference.",
            code="refund.reference",
            reference=["Needed: this payment did not come through a provider that refunds."],
        )
    return refunding.book(payment, wanted, by=by, now=now)


def finish(refund: Refund, *, by: Actor, now: datetime) -> Refund:
    """Have the provider send the money of a booked refund, if it has not yet; return the refund.

    Call it outside the transaction that booked the refund. A refund that is rolled back after the
    provider has sent its money would be booked again with another id, and sent twice. While the
    provider is away, the refund stays ``requested``. Idempotent.

    Raises:
        ProviderRefuses: the provider does not refund it; it is booked back.
    """
    if refund.state == Refund.State.REQUESTED:
        send(refund, by=by, now=now)
        refund.refresh_from_db()
    if refund.state == Refund.State.FAILED:
        raise ProviderRefuses(refund.message)
    return refund


def send_requested(now: datetime) -> None:
    """Send the refunds that were booked over a minute ago and not sent.

    One that fails, such as by ``RefundSettled``, is tried again, and stops no other. Each time it
    waits for as long as it has waited already, but at most an hour.
    """
    waiting = Refund.objects.filter(
        Q(next_attempt_at=None) | Q(next_attempt_at__lte=now),
        state=Refund.State.REQUESTED,
        requested_at__lt=now - _BEING_SENT,
    )
    for refund in waiting.order_by("requested_at"):
        message = refund.message
        try:
            send(refund, by=SYSTEM, now=now)
        except Exception as error:
            logger.exception("a refund was not sent", refund=refund.pk)
            message = "It could not be sent: see the log of workers."
            if isinstance(error, WaypostError):
                message = error.message
        # Of a provider that is away, too.
        again_at = now + min(now - refund.requested_at, _LONGEST_WAIT)
        Refund.objects.filter(pk=refund.pk, state=Refund.State.REQUESTED).update(
            message=message, next_attempt_at=again_at
        )


def send(refund: Refund, *, by: Actor, now: datetime) -> None:
    """Ask the provider to send a requested refund, and store its answer. Idempotent.

    A refund that the provider refuses is booked back. If the provider does not answer, or is not
    configured any more, the refund does not change.
    """
    wanted = RefundRequest(
        refund.pk,
        refund.payment.reference,
        refund.amount_minor,
        refund.invoice.currency,
        refund.invoice_id,
    )
    try:
        answer = providers.of_source(refund.payment.source).refund(wanted)
    except (ProviderAway, Missing) as error:  # missing: its keys are not configured any more
        logger.warning("a refund waits for its provider", refund=refund.pk, message=error.message)
    except ProviderRefuses as error:
        refunding.fail(refund, message=error.message, by=by, now=now)
    else:
        refunding.confirm(refund, reference=answer.reference, is_final=answer.is_final)
