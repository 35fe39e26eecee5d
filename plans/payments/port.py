"""The port to payment providers: what each adapter does, and the values it takes and returns.

An adapter never sees or stores a card or a bank account: payers enter them on the provider's page.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any, Protocol, Self

from controlplane.core.errors import Conflict, Invalid, Unavailable

TOLERANCE_SECONDS = (
    300  # between the signed time of a delivery and its arrival, as both schemes say
)


class NoCheckout(Conflict):
    """The installation has no provider with a page on which invoices are paid."""

    code = "payment.no_checkout"


class CurrencyNotTaken(Conflict):
    """The provider does not take the currency of the invoice in the unit that invoices use."""

    code = "payment.currency"


class SignatureWrong(Invalid):
    """A delivery of an event is not signed, wrongly signed, too old, or cannot be read."""

    status = 400
    code = "payment_event.signature"


class ProviderAway(Unavailable):
    """The provider does not answer, or refuses the installation's key."""

    code = "payment.provider_away"


class ProviderRefuses(Conflict):
    """The provider has refused what was requested; the message says why, or what to do instead."""

    code = "payment.provider_refuses"


class EventKind(StrEnum):
    """What an event reports. ``OTHER`` has no effect."""

    PAID = "payment.succeeded"
    PAYMENT_FAILED = "payment.failed"
    REFUNDED = "refund.succeeded"
    REFUND_FAILED = "refund.failed"
    DISPUTE_OPENED = "dispute.opened"
    DISPUTE_WON = "dispute.won"
    DISPUTE_LOST = "dispute.lost"
    OTHER = "other"


@dataclass(frozen=True)
class CheckoutRequest:
    """What is to be paid: ``invoice`` is the id, ``number`` what the payer sees.

    ``key`` is the same for each attempt to open the same page. ``return_url`` is where the payer
    comes back to.
    """

    key: str
    invoice: str
    number: str
    tenant: str
    email: str
    amount_minor: int
    currency: str
    return_url: str


@dataclass(frozen=True)
class OpenedCheckout:
    """A page of the provider on which the payer pays, until ``expires_at``."""

    reference: str
    url: str
    expires_at: datetime


@dataclass(frozen=True)
class RefundRequest:
    """Money to send back: ``amount_minor`` of a payment.

    ``payment`` is the provider's reference of the payment. ``key`` is the same for each attempt of
    one refund.
    """

    key: str
    payment: str
    amount_minor: int
    currency: str
    invoice: str


@dataclass(frozen=True)
class RefundAnswer:
    """The provider's reference of a refund; ``is_final``: the money has gone."""

    reference: str
    is_final: bool


@dataclass(frozen=True)
class ProviderEvent:
    """An event of a provider, verified and translated to Waypost's fields.

    ``payment`` is the provider's reference of the payment, ``reference`` that of the refund or
    dispute. ``refund`` is Waypost's id of a refund that Waypost requested.
    """

    id: str
    kind: EventKind
    occurred_at: datetime
    invoice: str = ""
    payment: str = ""
    reference: str = ""
    refund: str = ""
    amount_minor: int = 0
    currency: str = ""
    received_on: date | None = None
    message: str = ""

    def fields(self) -> dict[str, Any]:
        """Return the values that are stored with the event, for JSON."""
        found = asdict(self)
        for name in ("id", "kind", "occurred_at"):
            del found[name]
        found["received_on"] = self.received_on.isoformat() if self.received_on else None
        return found

    @classmethod
    def of_stored(cls, id: str, kind: str, occurred_at: datetime, stored: dict[str, Any]) -> Self:
        """Return the event whose ``fields`` are ``stored``."""
        day = stored.get("received_on")
        return cls(id, EventKind(kind), occurred_at, **{
            **stored, "received_on": date.fromisoformat(day) if day else None})  # fmt: skip


class PaymentProvider(Protocol):
    """A provider of payments. Each call may be repeated with the same values and the same effect.

    ``name`` is the source of its payments; ``title`` is for people.
    """

    name: str
    title: str
    has_checkout: bool
    has_refunds: bool

    def open_checkout(self, request: CheckoutRequest, now: datetime) -> OpenedCheckout:
        """Open a page on which the invoice is paid; the same ``key`` gives the same page.

        Raises:
            NoCheckout, CurrencyNotTaken, ProviderAway, ProviderRefuses.
        """

    def refund(self, request: RefundRequest) -> RefundAnswer:
        """Send money back; the same ``key`` sends it once.

        Raises:
            ProviderAway, ProviderRefuses.
        """

    def verified(self, body: bytes, headers: Mapping[str, str], now: datetime) -> ProviderEvent:
        """Return the event of a delivery, after its signature and its time were checked.

        ``headers`` has lower-case names.

        Raises:
            SignatureWrong: signature, time or content are not as they must be.
        """
