"""Invoices write events when they are issued and when they become overdue."""

from datetime import UTC, date, datetime, timedelta

import pytest
from pytest_django import Settings

from plans.invoicing import document, granting, invoice_closing, issuing
from plans.invoicing import rendering as invoice_rendering
from plans.models import Invoice
from plans.payments import dunning
from plans.rating.periods import month_of
from tenants.notifications import rendering
from tenants.notifications.models import Event
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import STAFF

pytestmark = pytest.mark.django_db


def test_issue_and_overdue_are_reported_once_with_amounts_and_dates() -> None:
    invoice = rows.issued(rows.tenant())
    issuing.issue(invoice=invoice, by=STAFF)
    assert invoice.due_at is not None
    for days in (1, 2):
        issuing.mark_overdue(by=STAFF, now=invoice.due_at + timedelta(days=days))

    issued, overdue = Event.objects.order_by("occurred_at")
    assert (issued.kind, overdue.kind) == ("invoice.issued", "invoice.overdue")
    assert issued.fields["number"] == "WP-000001"
    assert issued.fields["payable"] == overdue.fields["outstanding"] == "58.31 EUR"
    assert issued.fields["to_pay"] == "58.31 EUR are due by 2026-05-18."
    assert overdue.fields["due_on"] == "2026-05-18"
    assert issued.tenant_id == invoice.tenant_id


def test_a_notice_names_what_credit_pays() -> None:
    owner = rows.tenant()
    wish = granting.Wish("prepaid", 2000, "bank-1", "paid", None)
    granting.grant(tenant=owner, wish=wish, by=STAFF)
    rows.issued(owner)

    made = rendering.message(Event.objects.get(kind="invoice.issued"))

    assert made.subject == "Invoice WP-000001: 38.31 EUR to pay"
    assert made.text.endswith(
        "is issued. Its total is 58.31 EUR, of which credit pays 20.00 EUR. 38.31 EUR are due by "
        "2026-05-18."
    )


def test_a_notice_of_an_invoice_with_nothing_to_pay_says_so() -> None:
    owner = rows.tenant(to=rows.plan("free"))
    invoice = rows.issued(owner)

    assert invoice.state == "paid"
    text = rendering.message(Event.objects.get(kind="invoice.issued")).text
    assert text == (
        f"The invoice {invoice.number} of {owner.name} is issued. There is nothing to pay."
    )


def test_mails_name_the_day_that_the_document_names(settings: Settings) -> None:
    settings.DUNNING_REMINDER_DAYS = (3,)
    invoice = _issued_late_in_berlin()
    shown = invoice_rendering.context(document.loaded(invoice.document))
    assert invoice.due_at is not None
    now = invoice.due_at + timedelta(days=4)
    issuing.mark_overdue(by=STAFF, now=now)
    dunning.advance_all(now)

    assert invoice.due_at.date() == date(2026, 5, 18)  # in UTC
    assert shown["due_on"] == "19 May 2026"
    assert Invoice.objects.get().due_on == date(2026, 5, 19)
    fields = {event.kind: event.fields for event in Event.objects.all()}
    assert fields["invoice.issued"]["to_pay"] == "58.31 EUR are due by 2026-05-19."
    assert fields["invoice.overdue"]["due_on"] == "2026-05-19"
    assert fields["invoice.reminder"]["due_on"] == "2026-05-19"
    invoice.time_zone = ""  # as of an invoice of a version that had no such column
    assert invoice.due_on == date(2026, 5, 19)


def test_an_invoice_is_overdue_when_its_day_is_over_in_its_time_zone() -> None:
    invoice = _issued_late_in_berlin()  # payable by 19 May there
    over = datetime(2026, 5, 19, 22, tzinfo=UTC)
    assert invoice.due_at == datetime(2026, 5, 18, 22, 30, tzinfo=UTC)

    assert issuing.mark_overdue(by=STAFF, now=over - timedelta(seconds=1)) == []
    invoice.refresh_from_db()
    assert invoice.late_from == over
    assert issuing.mark_overdue(by=STAFF, now=over) == [invoice.id]


def test_a_draft_has_no_day_by_which_to_pay() -> None:
    assert rows.drafted(rows.tenant()).due_on is None
    assert Invoice.objects.get().late_from is None


def _issued_late_in_berlin() -> Invoice:
    """Return the invoice of April, issued on 5 May 00:30 in Berlin, which is 4 May in UTC."""
    month = month_of(rows.STARTS_AT + timedelta(days=14), "Europe/Berlin")
    owner = rows.tenant(month.starts_at, billing_time_zone="Europe/Berlin")
    asked, _ = invoice_closing.request_close(
        tenant=owner,
        starts_at=month.starts_at,
        ends_at=month.ends_at,
        by=STAFF,
        now=rows.AFTER_GRACE,
    )
    draft = invoice_closing.close(invoice=asked, evidence=rows.evidence([]), by=STAFF)
    approved = issuing.approve(invoice=draft, by=STAFF)
    return issuing.issue(invoice=approved, by=STAFF, now=datetime(2026, 5, 4, 22, 30, tzinfo=UTC))
