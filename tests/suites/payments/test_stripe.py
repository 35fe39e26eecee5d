"""Stripe: requests against stripe-mock, which checks them by Stripe's own API document, and events.

stripe-mock keeps no state and sends no events, so the tests sign events themselves, by the
library's own scheme.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from pytest_django import Settings
from stripe import WebhookSignature

from plans.invoicing import credit_notes, receiving, refunding
from plans.ledger import credit, posting
from plans.models import Checkout, Invoice, Payment, PaymentDispute, PaymentEvent, Refund
from plans.payments import checkouts, events, refunds
from plans.payments.port import CurrencyNotTaken, ProviderAway, ProviderRefuses, SignatureWrong
from plans.payments.stripe_provider import Stripe
from tests.support.payments import stripe_mock
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import AFTER_GRACE, STAFF

pytestmark = pytest.mark.django_db
SECRET = "whsec_of_the_endpoint"
NOW = AFTER_GRACE + timedelta(days=1)


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base address of a running stripe-mock."""
    with stripe_mock.running(tmp_path_factory.mktemp("stripe")) as address:
        yield address


@pytest.fixture(autouse=True)
def _stripe(settings: Settings, api: str) -> None:
    settings.PAYMENT_PROVIDER = "stripe"
    settings.STRIPE_KEY = "sk_test_123"
    settings.STRIPE_WEBHOOK_SECRET = SECRET
    settings.STRIPE_API = api


def _event(event_id: str, kind: str, thing: Mapping[str, Any], now: datetime = NOW) -> bytes:
    made = {
        "id": event_id,
        "object": "event",
        "type": kind,
        "created": int(now.timestamp()),
        "data": {"object": dict(thing)},
    }
    return json.dumps(made).encode()


def _header(body: bytes, at: datetime = NOW, secret: str = SECRET) -> Mapping[str, str]:
    signed = WebhookSignature.generate_signature_header(body.decode(), secret, int(at.timestamp()))
    return {"stripe-signature": signed}


def _deliver(event_id: str, kind: str, **thing: Any) -> PaymentEvent:
    body = _event(event_id, kind, thing)
    return events.receive("stripe", body, _header(body), NOW)


def _paid(invoice: Invoice, amount: int = 5831, event_id: str = "evt_1") -> PaymentEvent:
    return _deliver(
        event_id,
        "checkout.session.completed",
        id="cs_1",
        payment_intent="pi_1",
        payment_status="paid",
        amount_total=amount,
        currency="eur",
        metadata={"invoice": invoice.pk, "number": invoice.number},
    )


def test_a_checkout_is_opened_once_and_the_event_pays_the_invoice() -> None:
    invoice = rows.issued(rows.tenant())

    first = checkouts.begin(invoice=invoice, by=STAFF, now=datetime(2009, 2, 1, tzinfo=NOW.tzinfo))
    again = checkouts.begin(invoice=invoice, by=STAFF, now=datetime(2009, 2, 1, tzinfo=NOW.tzinfo))
    assert first.pk == again.pk
    assert "checkout.stripe.com/" in first.url
    assert Checkout.objects.get().amount_minor == 5831

    assert _paid(invoice).state == "applied"
    assert _paid(invoice).state == "applied"
    payment = Payment.objects.get()
    assert (payment.source, payment.reference, payment.amount_minor) == ("stripe", "pi_1", 5831)
    invoice.refresh_from_db()
    assert invoice.state == "paid"
    with pytest.raises(checkouts.NothingDue):
        checkouts.begin(invoice=invoice, by=STAFF, now=NOW)


def test_a_page_that_waits_for_the_money_pays_nothing_yet() -> None:
    invoice = rows.issued(rows.tenant())
    thing = {
        "id": "cs_1",
        "payment_intent": "pi_1",
        "payment_status": "unpaid",
        "amount_total": 5831,
        "currency": "eur",
        "metadata": {"invoice": invoice.pk},
    }

    assert _deliver("evt_1", "checkout.session.completed", **thing).state == "ignored"
    assert not Payment.objects.exists()
    paid = {**thing, "payment_status": "paid"}
    assert _deliver("evt_2", "checkout.session.async_payment_succeeded", **paid).state == "applied"
    assert Payment.objects.get().amount_minor == 5831


def test_a_refund_pays_out_the_credit_of_a_credit_note() -> None:
    invoice = rows.issued(rows.tenant())
    _paid(invoice)
    payment = Payment.objects.select_related("invoice__tenant").get()
    wanted = refunding.Wanted(1190, "ordered by mistake")
    with pytest.raises(refunding.RefundNeedsCredit):
        refunds.request(payment=payment, wanted=wanted, by=STAFF, now=NOW)
    credit_notes.issue(invoice=invoice, wanted={1: 1000}, reason="mistake", by=STAFF, now=NOW)

    refund = refunds.request(payment=payment, wanted=wanted, by=STAFF, now=NOW)

    # stripe-mock answers with a refund that has succeeded.
    assert (refund.state, refund.credit_minor, refund.reopened_minor) == ("succeeded", 1190, 0)
    assert refund.reference.startswith("re_")
    assert credit.before(invoice.tenant_id, invoice.legal_entity, "EUR") == 0
    invoice.refresh_from_db()
    assert (invoice.state, receiving.outstanding_minor(invoice)) == ("paid", 0)
    report = _deliver(
        "evt_2",
        "refund.updated",
        id=refund.reference,
        payment_intent="pi_1",
        status="succeeded",
        amount=1190,
        currency="eur",
        metadata={"refund": refund.pk},
    )
    assert (report.state, Refund.objects.count()) == ("applied", 1)


def test_a_refund_that_fails_later_is_booked_back() -> None:
    invoice = rows.issued(rows.tenant())
    _paid(invoice)
    payment = Payment.objects.select_related("invoice__tenant").get()
    wanted = refunding.Wanted(831, "sorry", reopens=True)
    refund = refunds.request(payment=payment, wanted=wanted, by=STAFF, now=NOW)
    assert receiving.outstanding_minor(invoice) == 831

    row = _deliver(
        "evt_2",
        "refund.failed",
        id=refund.reference,
        payment_intent="pi_1",
        status="failed",
        failure_reason="lost_or_stolen_card",
        amount=831,
        currency="eur",
        metadata={"refund": refund.pk},
    )

    assert row.state == "applied"
    refund.refresh_from_db()
    assert (refund.state, refund.message) == ("failed", "lost_or_stolen_card")
    invoice.refresh_from_db()
    assert (invoice.state, receiving.outstanding_minor(invoice)) == ("paid", 0)
    assert posting.balance(invoice.tenant_id, posting.CASH_CLEARING, "EUR") == 5831


def test_while_stripe_is_away_a_refund_waits_and_is_sent_later(settings: Settings) -> None:
    invoice = rows.issued(rows.tenant())
    _paid(invoice)
    payment = Payment.objects.select_related("invoice__tenant").get()
    there, settings.STRIPE_API = settings.STRIPE_API, "http://127.0.0.1:1"

    wanted = refunding.Wanted(831, "sorry", reopens=True)
    refund = refunds.request(payment=payment, wanted=wanted, by=STAFF, now=NOW)
    assert (refund.state, refund.reference) == ("requested", "")
    refunds.send_requested(NOW + timedelta(minutes=2))
    settings.STRIPE_API = there
    refunds.send_requested(NOW + timedelta(seconds=30))
    refund.refresh_from_db()
    assert refund.state == "requested"

    refunds.send_requested(NOW + timedelta(minutes=4))
    refund.refresh_from_db()
    assert refund.state == "succeeded"
    assert posting.balance(invoice.tenant_id, posting.CASH_CLEARING, "EUR") == 5000


def test_a_disputed_payment_is_shown_and_a_lost_one_is_due_again() -> None:
    invoice = rows.issued(rows.tenant())
    _paid(invoice)
    thing = {
        "id": "dp_1",
        "payment_intent": "pi_1",
        "amount": 5831,
        "currency": "eur",
        "reason": "fraudulent",
        "status": "needs_response",
        "metadata": {},
    }

    assert _deliver("evt_2", "charge.dispute.created", **thing).state == "applied"
    dispute = PaymentDispute.objects.get()
    assert (dispute.state, dispute.reason) == ("open", "fraudulent")
    assert _deliver("evt_3", "charge.dispute.closed", **{**thing, "status": "lost"}).state == (
        "applied"
    )

    assert receiving.outstanding_minor(invoice) == 5831
    assert Refund.objects.get().kind == "chargeback"


@pytest.mark.parametrize(
    ("at", "secret", "reason"),
    [
        (NOW - timedelta(minutes=6), SECRET, "5 minutes"),
        (NOW + timedelta(minutes=6), SECRET, "5 minutes"),
        (NOW, "whsec_other", "not Stripe's"),
    ],
)
def test_old_and_foreign_signatures_are_refused(at: datetime, secret: str, reason: str) -> None:
    body = _event("evt_1", "checkout.session.completed", {})

    with pytest.raises(SignatureWrong, match=reason):
        events.receive("stripe", body, _header(body, at, secret), NOW)
    assert not PaymentEvent.objects.exists()


@pytest.mark.parametrize("header", ["", "t=1", "v1=abc", "nonsense", "t=x,v1=y"])
def test_a_header_that_is_none_is_refused(header: str) -> None:
    with pytest.raises(SignatureWrong):
        events.receive("stripe", b"{}", {"stripe-signature": header}, NOW)


@pytest.mark.parametrize("body", [b"[]", b"{}", b'{"type": 1, "data": 2}', b"\xff", b"null"])
def test_a_signed_body_that_is_no_event_is_refused(body: bytes) -> None:
    header = _header(body) if body.isascii() else {"stripe-signature": "t=1,v1=0"}
    with pytest.raises(SignatureWrong):
        events.receive("stripe", body, header, NOW)


def test_two_secrets_are_good_while_one_replaces_the_other(settings: Settings) -> None:
    settings.STRIPE_WEBHOOK_SECRET = f"whsec_new,{SECRET}"

    assert _deliver("evt_1", "customer.created", id="cus_1").state == "ignored"


def test_a_wrong_key_and_a_currency_of_another_unit_are_said(settings: Settings) -> None:
    invoice = rows.issued(rows.tenant())
    settings.STRIPE_KEY = "wrong"
    with pytest.raises(ProviderAway, match="does not take the key"):
        checkouts.begin(invoice=invoice, by=STAFF, now=NOW)
    settings.STRIPE_KEY = "sk_test_123"

    invoice.currency = "ISK"
    with pytest.raises(CurrencyNotTaken):
        checkouts.begin(invoice=invoice, by=STAFF, now=NOW)


def test_what_stripe_refuses_is_said_and_nothing_stays_booked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    invoice = rows.issued(rows.tenant())
    _paid(invoice)
    payment = Payment.objects.select_related("invoice__tenant").get()
    # stripe-mock refuses what Stripe's API document does not have, and nothing else.
    real = Stripe._called
    monkeypatch.setattr(
        Stripe,
        "_called",
        lambda self, call: real(
            self,
            lambda client: client.v1.refunds.create(
                params={"no_such_field": 1}  # type: ignore[arg-type]
            ),
        ),
    )
    with pytest.raises(ProviderRefuses, match="Stripe"):
        refunds.request(
            payment=payment,
            wanted=refunding.Wanted(1, "x", reopens=True),
            by=STAFF,
            now=NOW,
        )

    assert Refund.objects.get().state == "failed"
    assert receiving.outstanding_minor(invoice) == 0
