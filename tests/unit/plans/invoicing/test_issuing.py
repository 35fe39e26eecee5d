"""From a draft to money: approval, gapless numbers, ledger, payments."""

import contextlib
import threading
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connection

from controlplane.core.errors import Invalid
from controlplane.core.models import AuditEvent
from plans.invoicing import document, invoice_closing, issuing, receiving, states
from plans.ledger import posting
from plans.models import Invoice, InvoiceEvent, InvoiceNumberSeries, LedgerEntry, Payment
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import AFTER_GRACE, STAFF

TOTAL = 5831  # a fee of 49.00 and 19 % tax


def pay(invoice: Invoice, amount_minor: int, reference: str = "r1", **changes: Any) -> Payment:
    return issuing.record_payment(
        **{
            "invoice": invoice,
            "amount_minor": amount_minor,
            "source": "manual",
            "reference": reference,
            "received_on": date(2026, 5, 20),
            "by": STAFF,
            **changes,
        }
    )


@pytest.mark.django_db
def test_issue_numbers_freezes_and_books() -> None:
    owner = rows.tenant()

    invoice = rows.issued(owner)

    assert (invoice.number, invoice.state) == ("WP-000001", Invoice.State.ISSUED)
    assert invoice.due_at == AFTER_GRACE + timedelta(days=14)
    frozen = document.loaded(invoice.document)
    assert (frozen["number"], frozen["issued_at"]) == ("WP-000001", "2026-05-04T00:00:00+00:00")
    assert frozen["buyer"]["name"] == "Example Ltd"
    assert _balances(invoice) == {
        "receivable": TOTAL,
        "revenue:plan_fee": -4900,
        "tax": -931,
    }
    moves = list(InvoiceEvent.objects.order_by("id").values_list("to_state", flat=True))
    assert moves == ["closing", "draft", "approved", "issuing", "issued"]


@pytest.mark.django_db
def test_numbers_of_a_legal_entity_have_no_gap() -> None:
    numbers = [rows.issued(rows.tenant()).number for _ in range(3)]

    assert numbers == ["WP-000001", "WP-000002", "WP-000003"]


@pytest.mark.django_db
def test_issue_and_approve_twice_change_nothing() -> None:
    invoice = rows.issued(rows.tenant())
    before = (invoice.document, InvoiceEvent.objects.count(), LedgerEntry.objects.count())

    issuing.approve(invoice=invoice, by=STAFF)
    again = issuing.issue(invoice=invoice, by=STAFF, now=AFTER_GRACE + timedelta(days=1))

    assert (again.document, InvoiceEvent.objects.count(), LedgerEntry.objects.count()) == before


@pytest.mark.django_db
@pytest.mark.parametrize("step", ["_next_number", "posting.post", "document.numbered"])
def test_issue_crashed_anywhere_takes_no_number(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    invoice = issuing.approve(invoice=rows.drafted(rows.tenant()), by=STAFF)
    holder, _, name = step.rpartition(".")
    _crash_after(monkeypatch, getattr(issuing, holder) if holder else issuing, name)

    with pytest.raises(KeyboardInterrupt):
        issuing.issue(invoice=invoice, by=STAFF, now=AFTER_GRACE)
    monkeypatch.undo()
    invoice.refresh_from_db()
    assert (invoice.state, invoice.number) == (Invoice.State.APPROVED, None)
    assert not InvoiceNumberSeries.objects.filter(last_number__gt=0).exists()

    invoice = issuing.issue(invoice=invoice, by=STAFF, now=AFTER_GRACE)
    assert invoice.number == "WP-000001"
    assert LedgerEntry.objects.count() == 1


@pytest.mark.django_db
def test_issue_needs_an_approval() -> None:
    invoice = rows.drafted(rows.tenant())

    with pytest.raises(states.WrongState, match="draft and cannot become issuing; it can"):
        issuing.issue(invoice=invoice, by=STAFF)


@pytest.mark.django_db
def test_approve_needs_a_draft() -> None:
    invoice = rows.drafted(rows.tenant(billing_name=""))

    with pytest.raises(states.WrongState, match="held"):
        issuing.approve(invoice=invoice, by=STAFF)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_parallel_issues_make_no_gap_and_no_duplicate() -> None:
    """Real connections: eight threads issue four invoices, each invoice twice."""
    approved = [issuing.approve(invoice=rows.drafted(rows.tenant()), by=STAFF) for _ in range(4)]
    barrier = threading.Barrier(8)

    def issue(invoice: Invoice) -> None:
        barrier.wait()
        issuing.issue(invoice=invoice, by=STAFF, now=AFTER_GRACE)

    failures = _in_threads([partial(issue, invoice) for invoice in approved * 2])

    assert failures == []
    numbers = sorted(invoice.number or "" for invoice in Invoice.objects.all())
    assert numbers == [f"WP-{n:06d}" for n in range(1, 5)]
    assert LedgerEntry.objects.count() == 4


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_parallel_closes_make_one_draft_and_parallel_payments_one_row() -> None:
    owner = rows.tenant()
    asked = rows.asked(owner)
    failures = _in_threads(
        [lambda: invoice_closing.close(invoice=asked, evidence=rows.evidence(), by=STAFF)] * 4
    )
    assert failures == []
    assert InvoiceEvent.objects.filter(to_state="draft").count() == 1

    approved = issuing.approve(invoice=asked, by=STAFF)
    invoice = issuing.issue(invoice=approved, by=STAFF, now=AFTER_GRACE)
    failures = _in_threads([lambda: pay(invoice, TOTAL)] * 4)

    assert failures == []
    assert Payment.objects.count() == 1
    invoice.refresh_from_db()
    assert invoice.state == Invoice.State.PAID


@pytest.mark.django_db
def test_payments_lead_to_partly_paid_and_paid() -> None:
    invoice = rows.issued(rows.tenant())

    states = []
    for number, amount in enumerate([1000, 2000, TOTAL - 3000]):
        pay(invoice, amount, reference=f"r{number}")
        invoice.refresh_from_db()
        states.append(invoice.state)

    assert states == ["partly_paid", "partly_paid", "paid"]
    assert receiving.outstanding_minor(invoice) == 0
    assert posting.balance(invoice.tenant_id, posting.RECEIVABLE, "EUR") == 0
    assert posting.balance(invoice.tenant_id, posting.CASH_CLEARING, "EUR") == TOTAL
    assert AuditEvent.objects.filter(action="invoice.payment").count() == 3


@pytest.mark.django_db
def test_the_same_payment_twice_is_recorded_once() -> None:
    invoice = rows.issued(rows.tenant())

    assert pay(invoice, 1000) == pay(invoice, 1000)
    assert Payment.objects.count() == 1


@pytest.mark.django_db
def test_a_reference_names_one_payment() -> None:
    first, second = rows.issued(rows.tenant()), rows.issued(rows.tenant())
    pay(first, 1000)

    for invoice, amount in ((first, 999), (second, 1000)):
        with pytest.raises(receiving.PaymentReferenceReused):
            pay(invoice, amount)


@pytest.mark.django_db(transaction=True)
def test_one_reference_for_two_invoices_at_once_is_refused_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Real connections: both look for the reference before either has written it."""
    invoices = [rows.issued(rows.tenant()) for _ in range(2)]
    together, real = threading.Barrier(2), receiving.outstanding_minor

    def meet(invoice: Invoice) -> int:
        with contextlib.suppress(threading.BrokenBarrierError):
            together.wait(1.0)  # a lock may keep the other one away
        return real(invoice)

    monkeypatch.setattr(receiving, "outstanding_minor", meet)
    failures = _in_threads([partial(pay, invoice, 1000) for invoice in invoices])

    [refused] = failures
    assert isinstance(refused, receiving.PaymentReferenceReused)
    assert (refused.error_code, refused.status) == ("payment.reference_reused", 409)
    assert Payment.objects.count() == 1


@pytest.mark.django_db
def test_more_than_is_due_is_refused_and_says_how_much_is() -> None:
    invoice = rows.issued(rows.tenant())
    pay(invoice, 31)

    with pytest.raises(receiving.PaymentExceedsInvoice, match=r"Only 58\.00 EUR is due"):
        pay(invoice, TOTAL, reference="r2")


@pytest.mark.django_db
@pytest.mark.parametrize("amount", [0, -5])
def test_a_payment_is_a_positive_amount(amount: int) -> None:
    with pytest.raises(Invalid, match="positive amount"):
        pay(rows.issued(rows.tenant()), amount)


@pytest.mark.django_db
def test_a_draft_takes_no_payment() -> None:
    with pytest.raises(states.WrongState, match="Only an issued invoice"):
        pay(rows.drafted(rows.tenant()), 5)


@pytest.mark.django_db
def test_overdue_comes_by_time_once_and_can_still_be_paid() -> None:
    invoice = rows.issued(rows.tenant())
    assert invoice.due_at is not None

    late = datetime(2026, 5, 19, tzinfo=UTC)
    for early in (invoice.due_at + timedelta(seconds=1), late - timedelta(seconds=1)):
        assert issuing.mark_overdue(by=STAFF, now=early) == []
    assert issuing.mark_overdue(by=STAFF, now=late) == [invoice.id]
    assert issuing.mark_overdue(by=STAFF, now=late) == []

    pay(invoice, TOTAL)
    invoice.refresh_from_db()
    assert invoice.state == Invoice.State.PAID


@pytest.mark.django_db
def test_write_off_moves_what_is_due_to_bad_debt() -> None:
    invoice = rows.issued(rows.tenant())
    pay(invoice, 831)
    issuing.mark_overdue(by=STAFF, now=AFTER_GRACE + timedelta(days=30))

    invoice = issuing.write_off(invoice=invoice, by=STAFF, reason="insolvent")

    assert invoice.state == Invoice.State.UNCOLLECTIBLE
    assert posting.balance(invoice.tenant_id, posting.BAD_DEBT, "EUR") == 5000
    assert posting.balance(invoice.tenant_id, posting.RECEIVABLE, "EUR") == 0


@pytest.mark.django_db
def test_write_off_needs_an_overdue_invoice() -> None:
    with pytest.raises(states.WrongState):
        issuing.write_off(invoice=rows.issued(rows.tenant()), by=STAFF, reason="")


def _balances(invoice: Invoice) -> dict[str, int]:
    (entry,) = LedgerEntry.objects.filter(tenant_id=invoice.tenant_id)
    return dict(entry.postings.values_list("account", "amount_minor"))


def _in_threads(calls: list[Callable[[], object]]) -> list[BaseException]:
    failures: list[BaseException] = []

    def run(call: Callable[[], object]) -> None:
        try:
            call()
        except BaseException as error:  # noqa: BLE001 - any failure fails the test
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def _crash_after(monkeypatch: pytest.MonkeyPatch, target: Any, name: str) -> None:
    real = getattr(target, name)

    def crash(*args: Any, **kwargs: Any) -> None:
        real(*args, **kwargs)
        raise KeyboardInterrupt

    monkeypatch.setattr(target, name, crash)
