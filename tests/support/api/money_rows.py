"""Rows about money that tests of the API ask for: invoices, payments, close runs, back-tests."""

from datetime import UTC, datetime, timedelta

from django.utils import timezone

from controlplane.core.audit import SYSTEM
from plans.catalog import publishing
from plans.models import (
    BackTest,
    BackTestRow,
    CloseRun,
    CloseRunInvoice,
    Invoice,
    InvoiceNumberSeries,
    Payment,
    PaymentEvent,
)
from tenants.actions import catalog_drafts
from tenants.models import Tenant


def furnish(draft: Invoice, other: Tenant) -> dict[str, str]:
    """Store one object of each kind, and return the path parameters that name them.

    ``draft`` is an invoice with a line of messages. A close run held an invoice of ``other``.
    """
    line = draft.lines.filter(detail__has_key="used_base", meter="messages")[0]
    test = back_tested(draft.tenant)
    return {
        "position": str(line.position),
        "overdue": overdue(draft.tenant).pk,
        "run": close_run(draft, other).pk,
        "held": held(other).pk,
        "back_test": test.pk,
        "draft": test.draft_id,
        "payment": str(payment(overdue(draft.tenant, 2)).pk),
    }


def back_tested(tenant: Tenant) -> BackTest:
    """Store a draft in which Team costs more, and a back-test of it with one month."""
    yaml = publishing.default_yaml().replace("monthly_fee_minor: 4900", "monthly_fee_minor: 5900")
    test = BackTest.objects.create(
        draft=catalog_drafts.prepare(yaml=yaml, note="Team costs 59", by=SYSTEM),
        months=1,
        source=BackTest.Source.COPY,
        until=timezone.now(),
        state=BackTest.State.SUCCEEDED,
        n_tenants=1,
        n_rated=1,
        finished_at=timezone.now(),
    )
    BackTestRow.objects.create(
        back_test=test,
        tenant=tenant,
        month_starts_at=datetime(2026, 10, 1, tzinfo=UTC),
        month_ends_at=datetime(2026, 11, 1, tzinfo=UTC),
        plan="team",
        follows=True,
        currency="EUR",
        present_net_minor=4900,
        present_total_minor=5831,
        draft_net_minor=5900,
        draft_total_minor=7021,
        invoiced_net_minor=4900,
    )
    return test


def payment(invoice: Invoice) -> Payment:
    """Store a part payment of the invoice, and the event of a provider that reported it."""
    InvoiceNumberSeries.objects.get_or_create(legal_entity=invoice.legal_entity)
    assert invoice.issued_at is not None
    PaymentEvent.objects.create(
        provider="webhook",
        event_id="evt-1",
        kind="payment.succeeded",
        occurred_at=invoice.issued_at,
        received_at=invoice.issued_at,
        state=PaymentEvent.State.APPLIED,
        invoice=invoice,
    )
    return Payment.objects.create(
        invoice=invoice,
        source="manual",
        reference="bank-0",
        amount_minor=50,
        recorded_by="user:staff@seller.example",
        received_on=invoice.issued_at.date(),
    )


def overdue(tenant: Tenant, month: int = 1) -> Invoice:
    """Store an overdue invoice of a month long ago."""
    starts_at = datetime(2025, month, 1, tzinfo=UTC)
    return Invoice.objects.create(
        tenant=tenant,
        starts_at=starts_at,
        ends_at=starts_at + timedelta(days=28),
        state=Invoice.State.OVERDUE,
        legal_entity="waypost",
        number=f"WAYPOST-00999{month}",
        currency="EUR",
        net_minor=100,
        tax_minor=19,
        total_minor=119,
        issued_at=starts_at + timedelta(days=34),
        due_at=starts_at + timedelta(days=48),
    )


def held(tenant: Tenant) -> Invoice:
    """Store an invoice of December 2024 that is held because a space has no samples."""
    starts_at = datetime(2024, 12, 1, tzinfo=UTC)
    message = "Space main was active from 2024-12-01T00:00:00+00:00 on but has no sample."
    return Invoice.objects.create(
        tenant=tenant,
        starts_at=starts_at,
        ends_at=starts_at + timedelta(days=31),
        state=Invoice.State.HELD,
        held_reasons=[{"code": "samples.none", "message": message}],
    )


def close_run(draft: Invoice, other: Tenant) -> CloseRun:
    """Store a close run that made ``draft``, and that held an invoice of ``other``."""
    starts_at, now = datetime(2025, 1, 1, tzinfo=UTC), timezone.now()
    held = Invoice.objects.create(
        tenant=other,
        starts_at=starts_at,
        ends_at=starts_at + timedelta(days=31),
        state=Invoice.State.HELD,
        held_reasons=[{"code": "billing_details.missing", "message": "Fill in the country."}],
    )
    run = CloseRun.objects.create(requested_by="system", requested_at=now, finished_at=now)
    for invoice in (draft, held):
        CloseRunInvoice.objects.create(run=run, invoice=invoice, done_at=now)
    return run
