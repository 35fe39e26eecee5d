"""Refunds and disputes: which payment they belong to, and that one of them stops no others."""

from datetime import datetime, timedelta
from itertools import count
from typing import Any

import psycopg
import pytest
from django.db import IntegrityError, OperationalError

from controlplane.console import payment_reads
from plans.invoicing import issuing, receiving, refunding
from plans.ledger import posting
from plans.models import Invoice, Payment, PaymentDispute, PaymentEvent
from plans.payments import events, refunds
from plans.payments.port import EventKind, ProviderEvent
from tenants.notifications.models import Event
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import AFTER_GRACE, STAFF

pytestmark = pytest.mark.django_db
NOW = AFTER_GRACE + timedelta(days=1)
State = PaymentEvent.State
_numbers = count(1)


def _paid(reference: str, amount: int = 5831) -> Payment:
    """Return a payment of a new tenant's invoice of 58.31."""
    invoice = rows.issued(rows.tenant())
    payment = Payment(
        source="webhook", reference=reference, amount_minor=amount, received_on=NOW.date()
    )
    return receiving.receive(invoice=invoice, payment=payment, by=STAFF, surplus_to_credit=True)


def _event(kind: EventKind, **fields: Any) -> PaymentEvent:
    """Store and apply an event of the provider."""
    number = f"evt-{next(_numbers)}"
    row = PaymentEvent.objects.create(
        provider="webhook",
        event_id=number,
        kind=kind,
        occurred_at=NOW,
        received_at=NOW,
        fields=ProviderEvent(number, kind, NOW, **fields).fields(),
    )
    events.apply(row, NOW)
    row.refresh_from_db()
    return row


def _back(amount: int = 831, reference: str = "SAMMEL-11") -> refunding.Wanted:
    return refunding.Wanted(amount, "paid twice", reopens=True, reference=reference)


def _cash(invoice: Invoice) -> int:
    return posting.balance(invoice.tenant_id, posting.CASH_CLEARING, "EUR")


def test_two_payments_have_refunds_with_one_collective_reference() -> None:
    one, two = _paid("pay-1"), _paid("pay-2")

    first = refunding.book(one, _back(), by=STAFF, now=NOW)
    second = refunding.book(two, _back(), by=STAFF, now=NOW)
    again = refunding.book(two, _back(), by=STAFF, now=NOW)

    assert (first.payment, second.payment, again) == (one, two, second)
    assert (_cash(one.invoice), _cash(two.invoice)) == (5000, 5000)
    with pytest.raises(refunding.RefundReferenceReused):
        refunding.book(two, _back(900), by=STAFF, now=NOW)


def test_events_about_one_reference_change_the_payment_that_they_name() -> None:
    one, two = _paid("pay-1"), _paid("pay-2")
    told: dict[str, Any] = {"reference": "SAMMEL-11", "amount_minor": 831}

    for payment in ("pay-1", "pay-2"):
        assert _event(EventKind.REFUNDED, payment=payment, **told).state == State.APPLIED
    _event(EventKind.REFUND_FAILED, payment="pay-2", **told)

    assert (one.refunds.get().state, two.refunds.get().state) == ("succeeded", "failed")
    assert _event(EventKind.REFUND_FAILED, **told).state == State.IGNORED
    assert one.refunds.get().state == "succeeded"


def test_an_event_of_a_refund_leaves_a_chargeback_with_its_reference_alone() -> None:
    payment = _paid("pay-1")
    told: dict[str, Any] = {"payment": "pay-1", "reference": "x-1", "amount_minor": 831}

    _event(EventKind.DISPUTE_LOST, **told)
    _event(EventKind.REFUNDED, **told)

    assert sorted(payment.refunds.values_list("kind", flat=True)) == ["chargeback", "refund"]


def test_disputes_of_two_payments_with_one_reference_take_their_own_amounts() -> None:
    one, two = _paid("pay-1"), _paid("pay-2")

    _event(EventKind.DISPUTE_LOST, payment="pay-1", reference="dp", amount_minor=5831)
    _event(EventKind.DISPUTE_LOST, payment="pay-2", reference="dp", amount_minor=831)

    assert PaymentDispute.objects.count() == 2
    assert (one.refunds.get().amount_minor, two.refunds.get().amount_minor) == (5831, 831)


@pytest.mark.parametrize(
    "kind", [EventKind.REFUNDED, EventKind.REFUND_FAILED, EventKind.DISPUTE_LOST]
)
def test_what_goes_back_in_another_currency_is_kept_for_staff(kind: EventKind) -> None:
    payment = _paid("pay-1")
    refunding.book(payment, _back(), by=STAFF, now=NOW)

    row = _event(kind, payment="pay-1", reference="SAMMEL-11", amount_minor=831, currency="USD")

    assert (row.state, row.message) == (State.REFUSED, "It is in USD, the invoice in EUR.")
    assert payment.refunds.get().state == "succeeded"
    assert not PaymentDispute.objects.exists()


def _overdue_mails() -> list[str]:
    found = Event.objects.filter(kind="invoice.overdue").order_by("occurred_at")
    return [event.fields["outstanding"] for event in found]


def test_an_invoice_that_is_due_again_after_its_day_is_reported_as_overdue_each_time() -> None:
    payment = _paid("pay-1")
    invoice, late = payment.invoice, payment.invoice.late_from
    assert late is not None

    def back(amount: int, reference: str, kind: str = "refund") -> None:
        wanted = refunding.Wanted(amount, "why", reopens=True, reference=reference, kind=kind)
        refunding.book(payment, wanted, by=STAFF, now=late)

    def pay(amount: int) -> None:
        paid = Payment(
            source="manual", reference=f"{amount}", amount_minor=amount, received_on=NOW.date()
        )
        receiving.receive(invoice=invoice, payment=paid, by=STAFF)
        issuing.mark_overdue(by=STAFF, now=late)

    for reference in ("r-1", "r-1", "r-2"):
        back(100, reference)
    pay(50)  # of 2.00
    assert _overdue_mails() == ["1.00 EUR"]

    pay(150)
    back(300, "x-1", "chargeback")
    assert _overdue_mails() == ["1.00 EUR", "3.00 EUR"]


def test_an_invoice_that_is_due_again_before_its_day_is_over_is_not_overdue() -> None:
    payment = _paid("pay-1")
    late = payment.invoice.late_from
    assert late is not None

    refunding.book(payment, _back(5831), by=STAFF, now=late - timedelta(seconds=1))
    assert (Invoice.objects.get().state, _overdue_mails()) == ("issued", [])
    issuing.mark_overdue(by=STAFF, now=late)
    assert _overdue_mails() == ["58.31 EUR"]


def test_a_refund_that_cannot_be_sent_or_booked_back_stops_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, two = _paid("pay-1"), _paid("pay-2")
    wanted = refunding.Wanted(831, "sorry", reopens=True)
    first = refunding.book(one, wanted, by=STAFF, now=NOW - timedelta(hours=2))
    second = refunding.book(two, wanted, by=STAFF, now=NOW - timedelta(hours=1))
    tried = []

    def send(refund: object, **_: object) -> None:
        tried.append(refund)
        if refund == first:
            raise refunding.RefundSettled("It was paid meanwhile.")

    monkeypatch.setattr(refunds, "send", send)

    refunds.send_requested(NOW)

    assert tried == [first, second]
    first.refresh_from_db()
    assert (first.state, first.message) == ("requested", "It was paid meanwhile.")


def test_an_event_that_fails_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    bad = _event(EventKind.REFUNDED, payment="pay-1", reference="r-1", amount_minor=1)
    good = _event(EventKind.REFUNDED, payment="pay-2", reference="r-2", amount_minor=1)
    _paid("pay-1")
    _paid("pay-2")
    _failing_for(monkeypatch, "pay-1")

    events.apply_waiting(NOW)

    bad.refresh_from_db()
    good.refresh_from_db()
    assert (bad.state, good.state) == (State.WAITING, State.APPLIED)


def _failing_for(monkeypatch: pytest.MonkeyPatch, reference: str) -> None:
    """Let the database refuse each refund of the payment."""
    real = refunding.book

    def book(payment: Payment, *args: Any, **values: Any) -> object:
        if payment.reference == reference:
            raise IntegrityError("refunds never exceed the payment")
        return real(payment, *args, **values)

    monkeypatch.setattr(refunding, "book", book)


def test_an_event_that_keeps_failing_is_shown_at_once_and_refused_after_three_days(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bad = _event(EventKind.REFUNDED, payment="pay-1", reference="r-1", amount_minor=1)
    _paid("pay-1")
    _failing_for(monkeypatch, "pay-1")

    events.apply_waiting(NOW + timedelta(minutes=1))
    bad.refresh_from_db()
    assert (bad.state, list(payment_reads.events_to_look_at())) == (State.WAITING, [bad])
    assert bad.message == (
        "Its effect failed (IntegrityError); the log has the reason. It is tried again."
    )

    events.apply_waiting(NOW + timedelta(days=3, minutes=1))
    bad.refresh_from_db()
    assert (bad.state, list(payment_reads.events_to_look_at())) == (State.REFUSED, [bad])
    assert "record by hand" in bad.message


def test_an_event_whose_effect_failed_once_has_it_the_next_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    event = _event(EventKind.REFUNDED, payment="pay-1", reference="r-1", amount_minor=1)
    _paid("pay-1")
    with monkeypatch.context() as once:
        _failing_for(once, "pay-1")
        events.apply_waiting(NOW)

    events.apply_waiting(NOW + timedelta(minutes=1))

    event.refresh_from_db()
    assert (event.state, event.message) == (State.APPLIED, "")
    assert not payment_reads.events_to_look_at()


def test_the_database_being_away_is_no_failure_of_an_event(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    event = _event(EventKind.REFUNDED, payment="pay-1", reference="r-1", amount_minor=1)
    _paid("pay-1")

    def away(*_: Any, **__: Any) -> None:
        raise OperationalError("server closed the connection") from psycopg.OperationalError()

    monkeypatch.setattr(refunding, "book", away)
    with pytest.raises(OperationalError):
        events.apply_waiting(NOW + timedelta(days=4))

    event.refresh_from_db()
    assert (event.state, event.message) == (State.WAITING, "")


def test_a_refund_that_fails_does_not_fail_the_payment_it_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refund = _event(EventKind.REFUNDED, payment="pay-1", reference="r-1", amount_minor=1)
    _failing_for(monkeypatch, "pay-1")
    invoice = rows.issued(rows.tenant())

    paid = _event(
        EventKind.PAID, invoice=invoice.pk, payment="pay-1", amount_minor=5831, currency="EUR"
    )

    refund.refresh_from_db()
    assert (paid.state, refund.state) == (State.APPLIED, State.WAITING)
    assert "IntegrityError" in refund.message


def test_a_refund_that_cannot_be_sent_is_asked_for_less_and_less_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted = refunding.Wanted(831, "sorry", reopens=True)
    refund = refunding.book(_paid("pay-1"), wanted, by=STAFF, now=NOW)
    asked: list[int] = []

    def send(*_: object, now: datetime, **__: object) -> None:
        asked.append(int((now - NOW).total_seconds()) // 60)
        raise refunding.RefundSettled("It was paid meanwhile.")

    monkeypatch.setattr(refunds, "send", send)
    for minute in range(24 * 60):
        refunds.send_requested(NOW + timedelta(minutes=minute))

    # Each time it waits for as long as it has waited already, but at most an hour.
    assert asked[:9] == [2, 4, 8, 16, 32, 64, 124, 184, 244]
    assert len(asked) < 32
    refund.refresh_from_db()
    assert (refund.state, refund.message) == ("requested", "It was paid meanwhile.")


def test_a_provider_that_is_away_is_asked_less_and_less_often_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted = refunding.Wanted(831, "sorry", reopens=True)
    refunding.book(_paid("pay-1"), wanted, by=STAFF, now=NOW)
    asked: list[datetime] = []

    def send(*_: object, now: datetime, **__: object) -> None:
        asked.append(now)

    monkeypatch.setattr(refunds, "send", send)
    for minute in range(60):
        refunds.send_requested(NOW + timedelta(minutes=minute))

    assert len(asked) == 5


@pytest.mark.parametrize("kind", [EventKind.REFUNDED, EventKind.REFUND_FAILED])
@pytest.mark.parametrize("reference", ["", "SAMMEL-11"])
def test_an_event_of_another_amount_than_its_refund_is_kept_for_staff(
    kind: EventKind, reference: str
) -> None:
    payment = _paid("pay-1")
    refund = refunding.book(payment, _back(reference=reference), by=STAFF, now=NOW)

    row = _event(kind, payment="pay-1", refund=refund.pk, reference="SAMMEL-11", amount_minor=500)

    assert (row.state, row.message) == (
        State.REFUSED,
        "It is of 5.00 EUR, the refund of 8.31 EUR: compare both with the provider.",
    )
    before = refund.state
    refund.refresh_from_db()
    assert (refund.state, refund.reference) == (before, reference)
    assert _cash(payment.invoice) == 5000


def test_an_event_without_an_amount_is_of_the_whole_refund() -> None:
    payment = _paid("pay-1")
    refund = refunding.book(payment, _back(reference=""), by=STAFF, now=NOW)

    row = _event(EventKind.REFUNDED, payment="pay-1", refund=refund.pk, reference="r-1")

    refund.refresh_from_db()
    assert (row.state, refund.state) == (State.APPLIED, "succeeded")
