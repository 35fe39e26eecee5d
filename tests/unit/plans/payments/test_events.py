"""Events of the operator's own payment system: signatures, replays, any order, what each does."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pytest_django import Settings
from standardwebhooks import Webhook

from plans.invoicing import credit_notes, issuing, receiving
from plans.ledger import credit, posting
from plans.models import Invoice, Payment, PaymentDispute, PaymentEvent, Refund
from plans.payments import events
from plans.payments.port import SignatureWrong
from tenants.notifications import outbox
from tenants.notifications.models import Event
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import AFTER_GRACE, STAFF

pytestmark = pytest.mark.django_db
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
NOW = AFTER_GRACE + timedelta(days=1)
State = PaymentEvent.State


@pytest.fixture(autouse=True)
def _provider(settings: Settings) -> None:
    settings.PAYMENT_PROVIDER = "webhook"
    settings.PAYMENT_WEBHOOK_SECRET = SECRET
    settings.PAYMENT_PAGE = "https://pay.example/{number}"


def _signed(event_id: str, at: datetime, body: str, *, secret: str = SECRET) -> Mapping[str, str]:
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(secret).sign(event_id, at.astimezone(UTC), body),
    }


def _deliver(event_id: str, kind: str, now: datetime = NOW, **values: Any) -> PaymentEvent:
    body = json.dumps({"type": kind, "timestamp": now.isoformat(), "data": values})
    return events.receive("webhook", body.encode(), _signed(event_id, now, body), now)


def _paid(invoice: Invoice, amount: int = 5831, payment: str = "pay-1") -> dict[str, Any]:
    return {
        "invoice": invoice.number,
        "payment": payment,
        "amount_minor": amount,
        "currency": "EUR",
    }


def _back(reference: str, amount: int) -> dict[str, Any]:
    return {"payment": "pay-1", "reference": reference, "amount_minor": amount, "currency": "EUR"}


def _books(invoice: Invoice) -> dict[str, int]:
    accounts = (posting.RECEIVABLE, posting.CASH_CLEARING, posting.credit("wp"), posting.BAD_DEBT)
    found = {name: posting.balance(invoice.tenant_id, name, "EUR") for name in accounts}
    return {name: amount for name, amount in found.items() if amount}


def test_a_payment_is_recorded_once_however_often_it_is_delivered() -> None:
    invoice = rows.issued(rows.tenant())

    first = _deliver("evt-1", "payment.succeeded", **_paid(invoice))
    again = _deliver("evt-1", "payment.succeeded", **_paid(invoice))
    other_event = _deliver("evt-2", "payment.succeeded", **_paid(invoice))

    assert (first.state, again.pk, other_event.state) == ("applied", first.pk, "applied")
    assert Payment.objects.get().amount_minor == 5831
    invoice.refresh_from_db()
    assert invoice.state == "paid"
    assert _books(invoice) == {posting.CASH_CLEARING: 5831}
    assert Event.objects.filter(kind="payment.received").count() == 1


def test_parts_add_up_and_what_exceeds_the_invoice_becomes_credit() -> None:
    invoice = rows.issued(rows.tenant())

    _deliver("evt-1", "payment.succeeded", **_paid(invoice, 831, "pay-1"))
    invoice.refresh_from_db()
    assert invoice.state == "partly_paid"
    last = _deliver("evt-2", "payment.succeeded", **_paid(invoice, 6000, "pay-2"))

    invoice.refresh_from_db()
    assert (invoice.state, receiving.outstanding_minor(invoice)) == ("paid", 0)
    assert last.message == "10.00 EUR became credit."
    assert credit.before(invoice.tenant_id, "wp", "EUR") == 1000
    assert _books(invoice) == {posting.CASH_CLEARING: 6831, posting.credit("wp"): -1000}


def test_money_for_a_written_off_invoice_reduces_the_bad_debt() -> None:
    invoice = rows.issued(rows.tenant())
    issuing.mark_overdue(by=rows.STAFF, now=NOW + timedelta(days=60))
    issuing.write_off(invoice=invoice, by=rows.STAFF, reason="bankrupt", now=NOW)

    _deliver("evt-1", "payment.succeeded", **_paid(invoice, 831))

    invoice.refresh_from_db()
    assert invoice.state == "uncollectible"
    assert _books(invoice) == {posting.CASH_CLEARING: 831, posting.BAD_DEBT: 5000}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"invoice": "WP-9"}, "names no invoice"),
        ({"currency": "USD"}, "USD was paid"),
        ({"payment": ""}, "EUR was paid"),
        ({"amount_minor": 0}, "positive amount"),
    ],
)
def test_what_cannot_be_applied_is_kept_for_staff(change: dict[str, Any], reason: str) -> None:
    invoice = rows.issued(rows.tenant())

    row = _deliver("evt-1", "payment.succeeded", **{**_paid(invoice), **change})

    assert row.state == State.REFUSED
    assert reason in row.message
    assert not Payment.objects.exists()


def test_money_for_a_draft_is_kept_for_staff() -> None:
    draft = rows.drafted(rows.tenant())

    row = _deliver("evt-1", "payment.succeeded", **{**_paid(draft), "invoice": draft.pk})

    assert (row.state, row.invoice) == (State.REFUSED, draft)


def test_a_second_delivery_that_says_something_else_is_refused() -> None:
    invoice = rows.issued(rows.tenant())
    _deliver("evt-1", "payment.succeeded", **_paid(invoice, 100))

    with pytest.raises(events.EventChanged):
        _deliver("evt-1", "payment.succeeded", **_paid(invoice, 200))


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({"webhook-signature": ""}, "No signature"),
        ({"webhook-signature": "v1,AAAA"}, "No signature"),
        ({"webhook-signature": "v1,ä"}, "No signature"),
        ({"webhook-timestamp": "yesterday"}, "seconds since 1970"),
        ({"webhook-timestamp": "1"}, "over 5 minutes ago"),
        ({"webhook-id": ""}, "webhook-id"),
        ({"webhook-id": "evt-2"}, "No signature"),
    ],
)
def test_a_delivery_that_is_not_signed_right_is_refused(
    headers: dict[str, str], reason: str
) -> None:
    body = json.dumps({"type": "payment.succeeded", "data": {}})

    with pytest.raises(SignatureWrong, match=reason):
        events.receive("webhook", body.encode(), {**_signed("evt-1", NOW, body), **headers}, NOW)
    assert not PaymentEvent.objects.exists()


@pytest.mark.parametrize("late", [timedelta(seconds=301), timedelta(seconds=-301)])
def test_an_old_delivery_is_refused_though_its_signature_is_right(late: timedelta) -> None:
    body = json.dumps({"type": "payment.succeeded", "data": {}})

    with pytest.raises(SignatureWrong, match="5 minutes"):
        events.receive("webhook", body.encode(), _signed("evt-1", NOW, body), NOW + late)


def test_a_delivery_signed_with_another_secret_or_changed_is_refused() -> None:
    body = json.dumps({"type": "payment.succeeded", "data": {}})
    other = _signed("evt-1", NOW, body, secret="whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD")

    with pytest.raises(SignatureWrong):
        events.receive("webhook", body.encode(), other, NOW)
    with pytest.raises(SignatureWrong):
        events.receive("webhook", body.encode() + b" ", _signed("evt-1", NOW, body), NOW)
    with pytest.raises(SignatureWrong, match="not as it must be"):
        events.receive("webhook", b"[]", _signed("evt-1", NOW, "[]"), NOW)


def test_the_secret_can_be_changed_while_both_sign(settings: Settings) -> None:
    settings.PAYMENT_WEBHOOK_SECRET = f"whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD,{SECRET}"

    assert _deliver("evt-1", "something.else").state == State.IGNORED


def test_a_failed_payment_is_reported_to_the_tenant() -> None:
    invoice = rows.issued(rows.tenant())

    _deliver("evt-1", "payment.failed", invoice=invoice.number, message="Card declined.")

    assert Event.objects.get(kind="payment.failed").fields["reason"] == "Card declined."


def test_a_refund_by_the_provider_makes_the_invoice_due_again_once() -> None:
    invoice = rows.issued(rows.tenant())
    _deliver("evt-1", "payment.succeeded", **_paid(invoice))
    values: dict[str, Any] = {
        "payment": "pay-1",
        "reference": "re-1",
        "amount_minor": 831,
        "currency": "EUR",
    }

    _deliver("evt-2", "refund.succeeded", **values)
    _deliver("evt-3", "refund.succeeded", **values)

    refund = Refund.objects.get()
    assert (refund.credit_minor, refund.reopened_minor, refund.state) == (0, 831, "succeeded")
    invoice.refresh_from_db()
    assert receiving.outstanding_minor(invoice) == 831
    assert invoice.state in {"partly_paid", "overdue"}
    assert _books(invoice) == {posting.CASH_CLEARING: 5000, posting.RECEIVABLE: 831}


def test_a_refund_that_comes_before_its_payment_waits_for_it() -> None:
    invoice = rows.issued(rows.tenant())
    values: dict[str, Any] = {
        "payment": "pay-1",
        "reference": "re-1",
        "amount_minor": 831,
        "currency": "EUR",
    }

    early = _deliver("evt-2", "refund.succeeded", **values)
    assert early.state == State.WAITING
    _deliver("evt-1", "payment.succeeded", **_paid(invoice))

    early.refresh_from_db()
    assert early.state == State.APPLIED
    assert Refund.objects.get().amount_minor == 831


def test_an_event_waits_three_days_for_its_payment() -> None:
    early = _deliver("evt-2", "refund.succeeded", payment="no", reference="re-1", amount_minor=1)

    events.apply_waiting(NOW + timedelta(days=2))
    early.refresh_from_db()
    assert early.state == State.WAITING
    events.apply_waiting(NOW + timedelta(days=4))
    early.refresh_from_db()
    assert early.state == State.REFUSED


@pytest.mark.parametrize("order", [("opened", "lost"), ("lost", "opened")])
def test_a_lost_dispute_takes_the_money_back_in_any_order(order: tuple[str, str]) -> None:
    invoice = rows.issued(rows.tenant())
    _deliver("evt-1", "payment.succeeded", **_paid(invoice))
    values: dict[str, Any] = {
        "payment": "pay-1",
        "reference": "dp-1",
        "amount_minor": 5831,
        "currency": "EUR",
    }

    for kind in order:
        _deliver(f"evt-{kind}", f"dispute.{kind}", **values)

    assert PaymentDispute.objects.get().state == "lost"
    assert Refund.objects.get().kind == "chargeback"
    invoice.refresh_from_db()
    assert invoice.state in {"issued", "overdue"}
    assert _books(invoice) == {posting.RECEIVABLE: 5831}


def test_a_lost_dispute_of_a_voided_invoice_is_a_loss_until_the_tenant_pays_it() -> None:
    invoice = rows.issued(rows.tenant())
    _deliver("evt-1", "payment.succeeded", **_paid(invoice))
    credit_notes.void(invoice=invoice, reason="never ordered", by=STAFF)
    # The credit that came of it settles another invoice.
    used = {posting.credit("wp"): 5831, posting.RECEIVABLE: -5831}
    next_one = posting.Booking("next", invoice.tenant_id, "EUR", "Next invoice", used, "wp")
    posting.post(next_one, at=NOW)
    before = _books(invoice)

    _deliver("evt-2", "dispute.lost", **_back("dp-1", 5831))
    lost = _books(invoice)
    _deliver("evt-3", "payment.succeeded", **_paid(invoice, payment="pay-2"))

    assert before == {posting.CASH_CLEARING: 5831, posting.RECEIVABLE: -5831}
    assert lost == {posting.BAD_DEBT: 5831, posting.RECEIVABLE: -5831}
    assert _books(invoice) == before


def test_a_refund_that_succeeds_after_it_failed_is_kept_for_staff() -> None:
    invoice = rows.issued(rows.tenant())
    _deliver("evt-1", "payment.succeeded", **_paid(invoice))
    _deliver("evt-2", "refund.succeeded", **_back("re-1", 831))
    _deliver("evt-3", "refund.failed", **_back("re-1", 831))
    books = _books(invoice)

    again = _deliver("evt-4", "refund.succeeded", **_back("re-1", 831))

    assert again.state == State.REFUSED
    assert "booked back as failed" in again.message
    assert _books(invoice) == books == {posting.CASH_CLEARING: 5831}


def test_a_won_dispute_changes_no_money_and_both_steps_are_reported() -> None:
    invoice = rows.issued(rows.tenant())
    _deliver("evt-1", "payment.succeeded", **_paid(invoice))
    values: dict[str, Any] = {
        "payment": "pay-1",
        "reference": "dp-1",
        "amount_minor": 5831,
        "currency": "EUR",
    }

    _deliver("evt-2", "dispute.opened", **values)
    _deliver("evt-3", "dispute.won", **values)

    assert PaymentDispute.objects.get().state == "won"
    assert not Refund.objects.exists()
    reported = Event.objects.filter(kind="payment.disputed").order_by("id")
    assert sorted(event.fields["state"] for event in reported) == ["open", "won"]


def test_a_killed_effect_leaves_the_event_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    invoice = rows.issued(rows.tenant())
    with monkeypatch.context() as crash:
        crash.setattr(outbox, "write", _killed)
        with pytest.raises(KeyboardInterrupt):
            _deliver("evt-1", "payment.succeeded", **_paid(invoice))
    assert not Payment.objects.exists()
    assert PaymentEvent.objects.get().state == State.WAITING

    events.apply_waiting(NOW)

    assert PaymentEvent.objects.get().state == State.APPLIED
    assert Payment.objects.get().amount_minor == 5831


def _killed(*_: object, **__: object) -> None:
    raise KeyboardInterrupt
