"""Answers of docs/billing.md, "Questions that finance asks", that only the database can show."""

import json
from datetime import date

import pytest
from django.db import DatabaseError, transaction
from django.db.models import ProtectedError

from controlplane.core.models import AuditEvent
from plans.catalog import parsing, publishing
from plans.invoicing import credit_notes, document, granting, invoice_verification, issuing
from plans.invoicing.granting import Wish
from plans.ledger import posting
from plans.models import Invoice, LedgerEntry
from plans.usage.reading import UsageCell
from tenants.models import Tenant
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import AFTER_GRACE, STAFF, STARTS_AT
from tests.support.plans.worked_examples import shown, written

pytestmark = pytest.mark.django_db
MILLION = 10**6


@pytest.fixture
def owner() -> Tenant:
    """A tenant on the plan Team of the page: 5 million messages included, 0.90, then 0.60."""
    made = json.loads(rows.CATALOG)
    team = made["plans"]["team"]
    team["included"]["messages"] = 5 * MILLION
    team["prices"]["messages"]["tiers"] = [["100", "0.90"], [None, "0.60"]]
    publishing.publish(parsing.parse(json.dumps(made)), by=STAFF)
    return rows.tenant(to=publishing.plan("team"))


def used(owner: Tenant) -> list[UsageCell]:
    space = rows.space(owner, space_plan=publishing.space_plan("free-of-charge"))
    return rows.used(rows.cell(space, "messages_in", 60 * MILLION, address="orders"))


def example_1(owner: Tenant) -> Invoice:
    """Return the invoice of example 1, which verifies."""
    cells = used(owner)
    invoice = rows.issued(owner, cells)
    assert (invoice.net_minor, invoice.total_minor) == (9850, 11722)
    assert invoice_verification.verify(invoice=invoice, cells=cells).same
    return invoice


def test_a_credit_note_is_booked_as_example_17_says(owner: Tenant) -> None:
    invoice = example_1(owner)
    issuing.record_payment(
        invoice=invoice, amount_minor=11_000, source="manual", reference="bank-1",
        received_on=date(2026, 5, 20), by=STAFF,
    )  # fmt: skip
    (fee,) = [line for line in document.loaded(invoice.document)["lines"] if line["kind"] == "fee"]

    note = credit_notes.issue(
        invoice=invoice, wanted={fee["position"]: 1000}, reason="an outage", by=STAFF
    )

    booked = posting.booked(posting.credit_note_reference(note.pk))
    assert sum(booked.values()) == 0
    wanted = written(17)
    assert shown((account, booked[account]) for account, _ in wanted) == wanted
    assert len(booked) == len(wanted)


def test_prepaid_credit_is_deferred_as_example_18_says(owner: Tenant) -> None:
    wish = Wish("prepaid", 30_000, "bank-1", "paid in advance")
    granting.grant(tenant=owner, wish=wish, by=STAFF, now=STARTS_AT)
    granted = -posting.balance(owner.pk, "prepaid:wp", "EUR")

    example_1(owner)

    left = -posting.balance(owner.pk, "prepaid:wp", "EUR")
    figures = [
        ("Prepaid", granted),
        ("Used by the invoice", left - granted),
        ("Prepaid owed", left),
    ]
    assert shown(figures) == written(18)


def test_a_voided_number_stays_and_the_series_goes_on(owner: Tenant) -> None:
    invoice = example_1(owner)
    credit_notes.void(invoice=invoice, reason="never ordered", by=STAFF)

    other = rows.issued(rows.tenant())

    invoice.refresh_from_db()
    assert (invoice.state, invoice.number, other.number) == ("voided", "WP-000001", "WP-000002")
    assert document.loaded(invoice.document)["number"] == "WP-000001"
    assert LedgerEntry.objects.filter(reference=f"invoice:{invoice.pk}").exists()


def test_what_is_kept_is_never_deleted(owner: Tenant) -> None:
    invoice = issuing.approve(invoice=rows.drafted(owner), by=STAFF)
    issuing.issue(invoice=invoice, by=STAFF, now=AFTER_GRACE)

    for kept in (AuditEvent.objects.all(), LedgerEntry.objects.all(), Invoice.objects.all()):
        assert kept.exists()
        with pytest.raises((DatabaseError, ProtectedError)), transaction.atomic():
            kept.delete()
