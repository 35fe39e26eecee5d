"""The provider *manual*: staff record what the bank reports, and send money back by the bank."""

from collections.abc import Mapping
from datetime import datetime

from plans.payments.port import (
    CheckoutRequest,
    NoCheckout,
    OpenedCheckout,
    ProviderEvent,
    ProviderRefuses,
    RefundAnswer,
    RefundRequest,
    SignatureWrong,
)


class Manual:
    """Offers no page, sends no events, and refunds nothing by itself."""

    name = "manual"
    title = "bank transfer"
    has_checkout = False
    has_refunds = False

    def open_checkout(self, request: CheckoutRequest, now: datetime) -> OpenedCheckout:
        raise NoCheckout(
            "Invoices are paid by bank transfer here: see the invoice for the account."
        )

    def refund(self, request: RefundRequest) -> RefundAnswer:
        raise ProviderRefuses("Send the money back by your bank, then enter the bank's reference.")

    def verified(self, body: bytes, headers: Mapping[str, str], now: datetime) -> ProviderEvent:
        raise SignatureWrong("No events are taken for manual payments.")
