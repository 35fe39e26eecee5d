"""The provider *stripe*: checkout pages, refunds and events, by Stripe's own library.

Stripe counts in the currency's smallest unit, as invoices do (docs.stripe.com/currencies).
Currencies in which Stripe counts in another unit or rounds amounts are refused.
"""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from plans.payments.port import (
    TOLERANCE_SECONDS,
    CheckoutRequest,
    CurrencyNotTaken,
    EventKind,
    OpenedCheckout,
    ProviderAway,
    ProviderEvent,
    ProviderRefuses,
    RefundAnswer,
    RefundRequest,
    SignatureWrong,
)

if TYPE_CHECKING:
    import stripe

# Stripe counts ISK and UGX with two decimals although ISO 4217 says none. It rounds amounts of the
# others in payments (BHD, JOD, KWD, OMR, TND, to tens) or in payouts (HUF, TWD).
_OTHER_UNITS = frozenset({"ISK", "UGX", "HUF", "TWD", "BHD", "JOD", "KWD", "OMR", "TND"})
_ENDED_DISPUTES = {"won": EventKind.DISPUTE_WON, "lost": EventKind.DISPUTE_LOST}
# By the state of a refund; others, such as pending, have no effect yet.
_REFUNDS = {"succeeded": EventKind.REFUNDED, "failed": EventKind.REFUND_FAILED,
            "canceled": EventKind.REFUND_FAILED}  # fmt: skip


class Stripe:
    """Speaks to Stripe with ``key``; ``api`` is another base address, for tests.

    ``webhook_secrets`` are those of the endpoint, newest first.
    """

    name = "stripe"
    title = "Stripe"
    has_checkout = True
    has_refunds = True

    def __init__(self, key: str, webhook_secrets: tuple[str, ...], api: str = "") -> None:
        self.key, self.webhook_secrets, self.api = key, webhook_secrets, api

    def open_checkout(self, request: CheckoutRequest, now: datetime) -> OpenedCheckout:
        if request.currency in _OTHER_UNITS:
            raise CurrencyNotTaken(
                f"Invoices in {request.currency} cannot be paid by Stripe here: pay by transfer."
            )
        marks = {"invoice": request.invoice, "number": request.number}
        product = {"name": f"Invoice {request.number}"}
        price = {
            "currency": request.currency.lower(),
            "unit_amount": request.amount_minor,
            "product_data": product,
        }
        params: dict[str, Any] = {
            "mode": "payment",
            "line_items": [{"price_data": price, "quantity": 1}],
            "client_reference_id": request.invoice,
            "metadata": marks,
            # Refunds and disputes name the payment, not the page.
            "payment_intent_data": {"metadata": marks, "description": product["name"]},
            "success_url": f"{request.return_url}?paid=1",
            "cancel_url": request.return_url,
        }
        if request.email:
            params["customer_email"] = request.email
        made = self._called(
            lambda client: client.v1.checkout.sessions.create(
                params=params,  # type: ignore[arg-type]  # a TypedDict of the library
                options={"idempotency_key": request.key},
            )
        )
        return OpenedCheckout(
            made["id"], made["url"] or "", datetime.fromtimestamp(made["expires_at"], UTC)
        )

    def refund(self, request: RefundRequest) -> RefundAnswer:
        made = self._called(
            lambda client: client.v1.refunds.create(
                params={
                    "payment_intent": request.payment,
                    "amount": request.amount_minor,
                    "metadata": {"refund": request.key, "invoice": request.invoice},
                },
                options={"idempotency_key": request.key},
            )
        )
        if made["status"] in {"failed", "canceled"}:
            raise ProviderRefuses(f"Stripe did not refund it: {made['status']}.")
        return RefundAnswer(made["id"], made["status"] == "succeeded")

    def verified(self, body: bytes, headers: Mapping[str, str], now: datetime) -> ProviderEvent:
        from stripe import SignatureVerificationError, WebhookSignature

        header = headers.get("stripe-signature", "")
        try:
            for n, secret in enumerate(self.webhook_secrets):
                try:
                    # Without a tolerance: the library compares with the clock of the machine.
                    WebhookSignature.verify_header(body, header, secret)
                    break
                except SignatureVerificationError:
                    if n + 1 == len(self.webhook_secrets):
                        raise
            signed_at = int(dict(part.split("=", 1) for part in header.split(","))["t"])
            if abs(now.timestamp() - signed_at) > TOLERANCE_SECONDS:
                raise SignatureWrong("The delivery was signed over 5 minutes ago.")
            return _event(json.loads(body))
        except (SignatureVerificationError, UnicodeDecodeError) as error:
            raise SignatureWrong(f"The signature is not Stripe's: {error}") from None
        except (KeyError, TypeError, ValueError, AttributeError):
            raise SignatureWrong("The delivery is no event of Stripe.") from None

    def _called(self, call: "Callable[[stripe.StripeClient], Any]") -> Any:
        import stripe

        addresses: Any = {"api": self.api} if self.api else {}
        client = stripe.StripeClient(self.key, base_addresses=addresses, max_network_retries=1)
        try:
            return call(client)
        except (stripe.APIConnectionError, stripe.RateLimitError, stripe.APIError) as error:
            raise ProviderAway(f"Stripe does not answer: {error.user_message or error}") from error
        except (stripe.AuthenticationError, stripe.PermissionError) as error:
            raise ProviderAway("Stripe does not take the key of this installation.") from error
        except stripe.StripeError as error:
            if isinstance(error, stripe.IdempotencyError) or error.http_status == 409:
                # An earlier attempt with the key is still carried out: its end is not known.
                raise ProviderAway("Stripe still works on an earlier attempt.") from error
            raise ProviderRefuses(f"Stripe: {error.user_message or error}") from error


def _event(found: Mapping[str, Any]) -> ProviderEvent:
    """Return an event of Stripe (docs.stripe.com/api/events) in Waypost's words.

    Raises:
        KeyError, TypeError, ValueError: it lacks what every event of Stripe has.
    """
    kind, thing = found["type"], found["data"]["object"]
    event_id, at = str(found["id"]), datetime.fromtimestamp(int(found["created"]), UTC)
    marks = thing.get("metadata") or {}
    common: dict[str, Any] = {
        "invoice": str(marks.get("invoice", "")),
        "payment": str(thing.get("payment_intent") or ""),
        "currency": str(thing.get("currency") or "").upper(),
        "received_on": at.date(),
    }
    if kind in {"checkout.session.completed", "checkout.session.async_payment_succeeded"}:
        # A completed page may still wait for the money, such as a direct debit.
        is_paid = thing.get("payment_status") == "paid"
        common["amount_minor"] = int(thing.get("amount_total") or 0)
        return ProviderEvent(event_id, EventKind.PAID if is_paid else EventKind.OTHER, at, **common)
    if kind == "checkout.session.async_payment_failed":
        return ProviderEvent(event_id, EventKind.PAYMENT_FAILED, at, **common)
    if kind == "payment_intent.payment_failed":
        error = thing.get("last_payment_error") or {}
        common |= {"payment": str(thing["id"]), "message": str(error.get("message") or "")[:300]}
        return ProviderEvent(event_id, EventKind.PAYMENT_FAILED, at, **common)
    common |= {"reference": str(thing.get("id") or ""), "refund": str(marks.get("refund", ""))}
    common["amount_minor"] = int(thing.get("amount") or 0)
    if kind in {"refund.created", "refund.updated", "refund.failed"}:
        common["message"] = str(thing.get("failure_reason") or "")[:300]
        state = "failed" if kind == "refund.failed" else str(thing.get("status"))
        return ProviderEvent(event_id, _REFUNDS.get(state, EventKind.OTHER), at, **common)
    common["message"] = str(thing.get("reason") or "")[:200]
    if kind == "charge.dispute.created":
        return ProviderEvent(event_id, EventKind.DISPUTE_OPENED, at, **common)
    if kind == "charge.dispute.closed":
        ended = _ENDED_DISPUTES.get(str(thing.get("status")), EventKind.OTHER)
        return ProviderEvent(event_id, ended, at, **common)
    return ProviderEvent(event_id, EventKind.OTHER, at)
