"""The mails of dunning and payments, in the mailbox that an embedded installation has."""

from datetime import timedelta

import pytest
from pytest_django import Settings

from plans.invoicing import issuing
from plans.payments import dunning
from tenants.models import Membership, Role, User
from tests.support.notifications import mails
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import STAFF

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def test_owners_billing_members_and_the_email_for_invoices_get_each_step_and_nobody_else(
    settings: Settings,
) -> None:
    settings.DUNNING_REMINDER_DAYS = (3, 10)
    settings.DUNNING_LIMIT_DAYS, settings.DUNNING_SUSPEND_DAYS = 21, 30
    invoice = rows.issued(rows.tenant())
    outsider = rows.tenant()
    for role in (Role.OWNER, Role.BILLING, Role.DEVELOPER):
        _member(invoice.tenant_id, role)
    _member(outsider.pk, Role.OWNER, "outsider")
    assert invoice.due_at is not None

    for days in (1, 3, 10, 21, 30):
        now = invoice.due_at + days * DAY
        issuing.mark_overdue(by=STAFF, now=now)
        dunning.advance_all(now)
    issuing.record_payment(
        invoice=invoice,
        amount_minor=5831,
        source="manual",
        reference="bank-1",
        received_on=invoice.due_at.date(),
        by=STAFF,
    )
    dunning.advance(invoice.tenant_id, invoice.due_at + 31 * DAY)

    found, number = mails.delivered(), invoice.number
    to_owner = [mail for mail in found if "owner@a.test" in mail.recipients]
    subjects = [mail.subject for mail in to_owner]
    for part in (
        f"{number} is overdue",
        f"Reminder: invoice {number}",
        "clients can no longer send",
        "connections are refused",
        f"58.31 EUR received for invoice {number}",
        "works again",
    ):
        assert any(part in subject for subject in subjects), (part, subjects)
    reminder = next(mail for mail in to_owner if mail.subject.startswith("Reminder"))
    limit = invoice.due_at + 21 * DAY
    assert f"From {limit:%Y-%m-%d %H:%M} UTC your clients can no longer send" in reminder.text
    assert f"/invoices/{invoice.pk}/" in reminder.text
    receivers = {address for mail in found for address in mail.recipients}
    assert receivers == {"owner@a.test", "billing@a.test", "bills@example.org"}
    to_books = {mail.subject for mail in found if "bills@example.org" in mail.recipients}
    assert to_books == {
        f"Invoice {number}: 58.31 EUR to pay",
        f"Invoice {number} is overdue",
        f"Reminder: invoice {number} was due on {invoice.due_at:%Y-%m-%d}",
    }


def _member(tenant_id: str, role: str, name: str = "") -> None:
    email = f"{name or role}@a.test"
    user = User.objects.create(username=email, email=email)
    Membership.objects.create(tenant_id=tenant_id, user=user, role=role)
