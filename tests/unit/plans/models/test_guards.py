"""What the database refuses, whatever the code does."""

from collections.abc import Callable
from datetime import date, timedelta
from functools import partial

import pytest
from django.db import DatabaseError, connection, transaction

from controlplane.core import audit
from controlplane.core.errors import Conflict
from controlplane.core.models import AuditEvent
from plans.catalog import publishing
from plans.ledger import posting
from plans.models import (
    AddressPlan,
    CatalogVersion,
    Invoice,
    InvoiceEvent,
    InvoiceLine,
    InvoiceNumberSeries,
    LedgerEntry,
    LedgerPosting,
    Payment,
    Plan,
    PlanSubscription,
    SpacePlan,
)
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import ENDS_AT, STAFF, STARTS_AT
from tests.unit.plans.invoicing.test_issuing import pay

pytestmark = pytest.mark.django_db


def refused(change: Callable[[], object], words: str) -> None:
    def committed() -> None:
        with transaction.atomic():
            change()
            connection.check_constraints()

    with pytest.raises(DatabaseError, match=words):
        committed()


def test_an_audit_event_is_never_changed_or_deleted() -> None:
    audit.record(STAFF, "tenant.update", audit.Subject("tenant", "t", "T"))

    refused(lambda: AuditEvent.objects.update(actor="nobody"), "append-only")
    refused(lambda: AuditEvent.objects.all().delete(), "append-only")


def test_history_ledger_and_payments_are_append_only() -> None:
    pay(rows.issued(rows.tenant()), 100)

    for rows_of in (InvoiceEvent, LedgerEntry, LedgerPosting, Payment):
        refused(partial(rows_of.objects.update, id=99), "append-only")
        refused(partial(rows_of.objects.all()._raw_delete, "default"), "append-only")


def test_an_issued_invoice_changes_in_nothing_but_its_state_of_payment() -> None:
    invoice = rows.issued(rows.tenant())
    same = Invoice.objects.filter(pk=invoice.pk)

    refused(lambda: same.update(document="{}"), "is issued")
    refused(lambda: same.update(number="WP-7"), "is issued")
    refused(lambda: same.update(net_minor=1, total_minor=932), "is issued")
    refused(lambda: same.update(state="draft"), "is issued")
    refused(lambda: same._raw_delete("default"), "is issued")
    assert same.update(state="paid") == 1


def test_lines_of_an_issued_invoice_are_frozen() -> None:
    invoice = rows.issued(rows.tenant())
    line = InvoiceLine.objects.first()
    assert line is not None

    refused(lambda: InvoiceLine.objects.update(amount_minor=1), "never change")
    refused(lambda: InvoiceLine.objects.all().delete(), "never change")
    line.pk, line.position = None, 99
    refused(line.save, "never change")
    assert invoice.lines.count() == 2


def test_a_line_cannot_move_out_of_an_issued_invoice() -> None:
    invoice, draft = rows.issued(rows.tenant()), rows.drafted(rows.tenant())

    refused(
        lambda: invoice.lines.filter(position=1).update(invoice=draft, position=50),
        "never change",
    )


def test_a_ledger_entry_sums_to_zero_at_commit() -> None:
    owner = rows.tenant()

    def lopsided() -> None:
        entry = LedgerEntry.objects.create(
            reference="x", tenant=owner, currency="EUR", text="", booked_at=STARTS_AT
        )
        LedgerPosting.objects.create(entry=entry, account="tax", amount_minor=5)

    refused(lopsided, "sums to 5")


def test_posting_refuses_what_is_not_balanced_before_the_database_does() -> None:
    with pytest.raises(posting.EntryNotBalanced):
        posting.post(posting.Booking("x", rows.tenant().id, "EUR", "", {"tax": 5}), at=STARTS_AT)


def test_posting_is_booked_once_by_reference() -> None:
    owner = rows.tenant()
    booking = posting.Booking("x", owner.id, "EUR", "", {"tax": 5, "receivable": -5})

    assert posting.post(booking, at=STARTS_AT) == posting.post(booking, at=STARTS_AT)
    assert posting.balance(owner.id, "tax", "EUR") == 5
    other = posting.Booking("x", owner.id, "EUR", "", {"tax": 6, "receivable": -6})
    with pytest.raises(Conflict, match="booked already"):
        posting.post(other, at=STARTS_AT)


def test_a_number_series_counts_up_by_one_only() -> None:
    rows.issued(rows.tenant())
    series = InvoiceNumberSeries.objects.all()

    for number in (0, 1, 3):
        refused(partial(series.update, last_number=number), "counts up by one")
    refused(lambda: series.delete(), "counts up by one")


def test_the_database_refuses_too_much_money_and_money_for_a_draft() -> None:
    issued, draft = rows.issued(rows.tenant()), rows.drafted(rows.tenant())

    for invoice, amount in ((issued, issued.total_minor + 1), (draft, 1)):
        payment = Payment(
            invoice=invoice,
            source="manual",
            reference="x",
            amount_minor=amount,
            recorded_by="x",
            received_on=date(2026, 5, 1),
        )
        refused(payment.save, "never exceeds")


def test_plan_versions_that_priced_an_issued_invoice_never_change() -> None:
    owner = rows.tenant()
    space = rows.space(owner)
    rows.address(space)
    used = rows.used(rows.cell(space, "messages_in", 7, address="orders"))
    plans = {
        model: model.objects.filter(pk=row.pk)
        for model, row in (
            (Plan, publishing.plan("team")),
            (SpacePlan, publishing.space_plan("standard-small")),
            (AddressPlan, publishing.address_plan("standard-small-queue")),
        )
    }
    for of_plan in plans.values():
        assert of_plan.update(title="before") == 1
    rows.issued(owner, used)

    for of_plan in plans.values():
        refused(partial(of_plan.update, definition={}), "priced invoice")
        refused(partial(of_plan._raw_delete, "default"), "priced invoice")
        assert of_plan.update(retired=True) == 1
    refused(lambda: CatalogVersion.objects.update(document={}), "append-only")
    refused(lambda: CatalogVersion.objects.all()._raw_delete("default"), "append-only")


def test_a_subscription_does_not_change_in_a_period_that_was_invoiced() -> None:
    owner = rows.tenant()
    rows.issued(owner)
    other = publishing.plan("business")
    mine = PlanSubscription.objects.filter(tenant=owner)
    day = timedelta(days=1)

    for change in (
        {"plan": other},
        {"starts_at": STARTS_AT + day},
        {"ends_at": ENDS_AT - day},
        {"tenant": rows.tenant()},
    ):
        refused(partial(mine.update, **change), "billed this subscription")
    trial = {"trial_ends_at": STARTS_AT + timedelta(days=3)}  # a trial is free of the fee
    refused(partial(mine.update, **trial), "billed this subscription")
    refused(lambda: mine.delete(), "billed this subscription")
    begun = PlanSubscription(tenant=owner, plan=other, starts_at=STARTS_AT, ends_at=ENDS_AT)
    refused(begun.save, "billed this subscription")

    assert mine.update(starts_at=STARTS_AT - day, ends_at=ENDS_AT + day) == 1
    PlanSubscription.objects.create(tenant=owner, plan=other, starts_at=ENDS_AT + day)
