"""The provider *webhook*: the operator's own payment system, by the Standard Webhooks scheme.

Payers are sent to a page of the operator. The operator's system reports payments, refunds and
disputes as signed webhooks: ``{"type": "payment.succeeded", "timestamp": "…", "data": {…}}``. They
are signed by the same scheme as the webhooks which Waypost sends (standardwebhooks.com).
"""

import hmac
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from standardwebhooks import Webhook

from plans.payments.port import (
    TOLERANCE_SECONDS,
    CheckoutRequest,
    EventKind,
    OpenedCheckout,
    ProviderEvent,
    ProviderRefuses,
    RefundAnswer,
    RefundRequest,
    SignatureWrong,
)

_OPEN_FOR = timedelta(days=1)


class _Values(BaseModel):
    """What an event reports; ``invoice`` is the number or id of the invoice."""

    model_config = ConfigDict(extra="ignore", strict=True)
    invoice: str = Field("", max_length=60)
    payment: str = Field("", max_length=120)
    reference: str = Field("", max_length=120)
    amount_minor: int = Field(0, ge=0, le=10**15)
    currency: str = Field("", max_length=3)
    received_on: str = Field("", max_length=10)
    message: str = Field("", max_length=300)


class _Delivery(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)
    type: str = Field(max_length=60)
    data: _Values


class SignedWebhook:
    """Leads payers to ``page``, and takes events that are signed with one of ``secrets``."""

    name = "webhook"
    title = "our payment page"
    has_checkout = True
    has_refunds = False

    def __init__(self, page: str, secrets: Sequence[str]) -> None:
        self.page, self.secrets = page, secrets

    def open_checkout(self, request: CheckoutRequest, now: datetime) -> OpenedCheckout:
        values = {
            "invoice": request.invoice,
            "number": request.number,
            "amount_minor": str(request.amount_minor),
            "currency": request.currency,
            "tenant": request.tenant,
        }
        url = self.page.format(**{name: quote(value) for name, value in values.items()})
        return OpenedCheckout(request.key, url, now + _OPEN_FOR)

    def refund(self, request: RefundRequest) -> RefundAnswer:
        raise ProviderRefuses(
            "Send the money back in your payment system, then enter its reference here. Or let the "
            "system report the refund."
        )

    def verified(self, body: bytes, headers: Mapping[str, str], now: datetime) -> ProviderEvent:
        event_id, at = headers.get("webhook-id", ""), _signed_at(headers, now)
        if not event_id or len(event_id) > 200:
            raise SignatureWrong("The header webhook-id must have 1 to 200 characters.")
        try:
            text = body.decode()
        except UnicodeDecodeError:
            raise SignatureWrong("The body is not UTF-8.") from None
        sent = headers.get("webhook-signature", "").split()
        expected = [Webhook(secret).sign(event_id, at, text) for secret in self.secrets]
        # Bytes, because a header may contain what is not ASCII.
        if not any(hmac.compare_digest(one.encode(), own.encode())
                   for one in sent for own in expected):  # fmt: skip
            raise SignatureWrong("No signature of the delivery is right. Is the secret the same?")
        return _event(event_id, at, text)


def _signed_at(headers: Mapping[str, str], now: datetime) -> datetime:
    text = headers.get("webhook-timestamp", "")
    # ``isdigit`` alone accepts digits such as ², which ``int`` refuses.
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise SignatureWrong("The header webhook-timestamp must be seconds since 1970.")
    # Compared as a number: ``datetime`` has no year above 9999.
    if abs(now.timestamp() - int(text)) > TOLERANCE_SECONDS:
        raise SignatureWrong("The delivery was signed over 5 minutes ago, or in the future.")
    return datetime.fromtimestamp(int(text), UTC)


def _event(event_id: str, at: datetime, text: str) -> ProviderEvent:
    try:
        delivery = _Delivery.model_validate_json(text)
        values = delivery.data
        day = date.fromisoformat(values.received_on) if values.received_on else at.date()
    except (ValidationError, ValueError) as error:
        raise SignatureWrong(f"The content of the event is not as it must be: {error}") from None
    # Another kind has no effect, so the operator's system may send more kinds than these.
    known = delivery.type in set(EventKind)
    return ProviderEvent(
        event_id,
        EventKind(delivery.type) if known else EventKind.OTHER,
        at,
        invoice=values.invoice,
        payment=values.payment,
        reference=values.reference,
        amount_minor=values.amount_minor,
        currency=values.currency,
        received_on=day,
        message=values.message,
    )
