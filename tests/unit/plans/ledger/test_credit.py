"""An invoice under nothing is nothing to pay: its credit pays the next ones, and all money adds up.

Prices: 1.00 a message, 0.50 where a month has more than 1,000; 19 % tax.
"""

import threading
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from hypothesis import given
from hypothesis import strategies as st

from plans.catalog import publishing
from plans.invoicing import (
    document,
    invoice_closing,
    invoice_verification,
    issuing,
    receiving,
    rendering,
    states,
)
from plans.ledger import credit, posting
from plans.models import Invoice, LedgerPosting, Payment
from plans.usage.reading import UsageCell
from tenants.models import Tenant
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import AFTER_GRACE, ENDS_AT, STAFF, STARTS_AT

MIDDLE = STARTS_AT + timedelta(days=15)
JUNE, JULY = (datetime(2026, month, 1, tzinfo=UTC) for month in (6, 7))
SPANS = ((STARTS_AT, MIDDLE, 900), (MIDDLE, ENDS_AT, 200), (ENDS_AT, JUNE, 300), (JUNE, JULY, 300))
LATER = datetime(2026, 7, 9, tzinfo=UTC)


@pytest.fixture
def owner(db: None) -> Tenant:
    return buyer()


def buyer() -> Tenant:
    owner = rows.tenant(to=rows.plan("bulk"))
    space = rows.space(owner, space_plan=publishing.space_plan("free-of-charge"))
    rows.used(*(rows.cell(space, "messages_in", n, at=start) for start, _, n in SPANS))
    return owner


def cells(owner: Tenant) -> list[UsageCell]:
    space = owner.spaces.get()
    return [rows.cell(space, "messages_in", n, at=start) for start, _, n in SPANS]


def approved(owner: Tenant, n: int) -> Invoice:
    starts_at, ends_at, _ = SPANS[n]
    invoice, _ = invoice_closing.request_close(
        tenant=owner, starts_at=starts_at, ends_at=ends_at, by=STAFF, now_forced=True, now=LATER
    )
    evidence = rows.evidence([cells(owner)[n]], as_of=ends_at, earlier=rows.earlier(invoice))
    return issuing.approve(
        invoice=invoice_closing.close(invoice=invoice, evidence=evidence, by=STAFF), by=STAFF
    )


def issued(owner: Tenant, count: int) -> list[Invoice]:
    """Return the first invoices of the tenant: 1,071.00, -416.50, 357.00, 357.00 with tax."""
    return [issuing.issue(invoice=approved(owner, n), by=STAFF, now=LATER) for n in range(count)]


def last_reason(invoice: Invoice) -> str:
    event = invoice.events.last()
    assert event is not None
    return event.reason


def test_an_invoice_under_nothing_is_settled_by_carrying_it_on(owner: Tenant) -> None:
    first, second = issued(owner, 2)

    assert [invoice.total_minor for invoice in (first, second)] == [107100, -41650]
    assert (second.state, second.payable_minor) == (Invoice.State.PAID, 0)
    assert receiving.outstanding_minor(second) == 0
    assert posting.balance(owner.id, posting.RECEIVABLE, "EUR") == 107100
    assert credit.before(owner.id, "wp", "EUR") == 41650
    assert last_reason(second).startswith("the total is negative: 416.50 EUR")


def test_credit_pays_the_next_invoices_first(owner: Tenant) -> None:
    made = issued(owner, 4)

    assert [invoice.credit_minor for invoice in made] == [0, -41650, 35700, 5950]
    assert [invoice.payable_minor for invoice in made] == [107100, 0, 0, 29750]
    assert [invoice.state for invoice in made] == ["issued", "paid", "paid", "issued"]
    assert credit.before(owner.id, "wp", "EUR") == 0
    assert posting.balance(owner.id, posting.RECEIVABLE, "EUR") == 107100 + 29750
    assert posting.balance(owner.id, posting.TAX, "EUR") == -sum(x.tax_minor for x in made)
    assert sum(LedgerPosting.objects.values_list("amount_minor", flat=True)) == 0


def test_every_invoice_says_where_credit_came_from_and_went(owner: Tenant) -> None:
    _, second, third, fourth = (document.loaded(x.document) for x in issued(owner, 4))

    assert [made["credit"] for made in (second, third, fourth)] == [
        {"before_minor": 0, "used_minor": -41650, "after_minor": 41650},
        {"before_minor": 41650, "used_minor": 35700, "after_minor": 5950},
        {"before_minor": 5950, "used_minor": 5950, "after_minor": 0},
    ]
    assert [made["payable_minor"] for made in (second, third, fourth)] == [0, 0, 29750]
    assert "Kept as credit for the next invoices" in rendering.html(second)
    pages = [rendering.html(made) for made in (third, fourth)]
    assert all("Credit from earlier invoices" in page for page in pages)
    assert "-357.00 EUR" in pages[0]
    assert "nothing to pay" in pages[0]
    assert "297.50 EUR" in pages[1]
    assert "payable by" in pages[1]


def test_invoices_with_credit_recompute_to_the_same_bytes(owner: Tenant) -> None:
    for invoice in issued(owner, 4):
        assert invoice_verification.verify(invoice=invoice, cells=cells(owner)).differences == ()


def test_credit_that_the_ledger_does_not_know_is_a_difference(owner: Tenant) -> None:
    *_, third = issued(owner, 3)
    made = document.loaded(third.document)
    made["credit"] = {**made["credit"], "before_minor": 50000, "after_minor": 14300}
    third.document = document.canonical(made)

    found = invoice_verification.verify(invoice=third, cells=cells(owner)).differences

    assert "credit.before_minor: 50000, now 41650" in found


def test_nothing_due_takes_no_payment_and_is_never_overdue(owner: Tenant) -> None:
    *_, second, third = issued(owner, 3)

    for invoice in (second, third):
        with pytest.raises(states.WrongState):
            issuing.record_payment(
                invoice=invoice, amount_minor=1, source="manual", reference=invoice.id,
                received_on=date(2026, 7, 9), by=STAFF,
            )  # fmt: skip
    late = issuing.mark_overdue(by=STAFF, now=LATER + timedelta(days=365))
    assert set(late).isdisjoint({second.id, third.id})


@pytest.mark.django_db
def test_an_invoice_over_nothing_is_settled_when_it_is_issued() -> None:
    invoice = rows.issued(rows.tenant(to=rows.plan("free")))

    assert (invoice.total_minor, invoice.state) == (0, Invoice.State.PAID)
    assert last_reason(invoice) == "nothing to pay"
    assert issuing.mark_overdue(by=STAFF, now=LATER + timedelta(days=365)) == []


def test_the_database_refuses_to_charge_what_credit_has_paid(owner: Tenant) -> None:
    *_, fourth = issued(owner, 4)
    payment = Payment(
        invoice=fourth, source="manual", reference="x", amount_minor=fourth.payable_minor + 1,
        recorded_by="x", received_on=date(2026, 7, 9),
    )  # fmt: skip

    with pytest.raises(IntegrityError, match="never exceeds"), transaction.atomic():
        payment.save()


def test_the_database_refuses_an_issued_invoice_under_nothing_to_pay(owner: Tenant) -> None:
    issued(owner, 1)
    second = approved(owner, 1)

    with pytest.raises(IntegrityError, match="invoice_payable"), transaction.atomic():
        Invoice.objects.filter(pk=second.pk).update(number="WP-000002")


def test_a_credit_is_of_one_seller_and_currency(owner: Tenant) -> None:
    _, second = issued(owner, 2)

    assert credit.before(owner.id, "wp", "USD") == 0
    assert credit.before(owner.id, "another", "EUR") == 0
    assert credit.before(owner.id, second.legal_entity, "EUR") == 41650


@pytest.mark.django_db(transaction=True)
def test_two_invoices_issued_at_once_use_a_credit_once() -> None:
    owner = buyer()
    issued(owner, 2)
    waiting = [approved(owner, n) for n in (2, 3)]

    in_threads(waiting)

    found = Invoice.objects.filter(pk__in=[invoice.pk for invoice in waiting])
    assert sorted(found.values_list("credit_minor", flat=True)) == [5950, 35700]
    assert credit.before(owner.id, "wp", "EUR") == 0


@given(totals=st.lists(st.integers(-10_000, 10_000), max_size=8))
def test_what_is_paid_and_what_is_left_is_what_was_billed(totals: Sequence[int]) -> None:
    left, payable = 0, []
    for total in totals:
        used = credit.used(total, left)
        left -= used
        payable.append(total - used)

    assert min([left, *payable], default=0) >= 0
    assert sum(payable) - left == sum(totals)


def in_threads(invoices: Sequence[Invoice]) -> None:
    def issue(invoice: Invoice) -> None:
        issuing.issue(invoice=invoice, by=STAFF, now=AFTER_GRACE)
        connection.close()

    threads = [threading.Thread(target=issue, args=(invoice,)) for invoice in invoices]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
