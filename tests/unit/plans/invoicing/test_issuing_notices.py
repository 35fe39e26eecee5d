"""Invoices write events when they are issued and when they become overdue."""

from datetime import timedelta

import pytest

from plans.invoicing import issuing
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


def test_a_notice_of_an_invoice_with_nothing_to_pay_says_so() -> None:
    owner = rows.tenant(to=rows.plan("free"))
    invoice = rows.issued(owner)

    assert invoice.state == "paid"
    text = rendering.message(Event.objects.get(kind="invoice.issued")).text
    assert text == (
        f"The invoice {invoice.number} of {owner.name} is issued. There is nothing to pay."
    )
