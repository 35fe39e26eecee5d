"""What makes the product write events about payments and unpaid invoices, by its own code."""

from collections.abc import Callable
from datetime import timedelta

from django.test import override_settings
from django.utils import timezone

from plans.invoicing import credit_notes, document, granting, issuing, receiving
from plans.invoicing.granting import PayBack, Wish
from plans.models import Invoice, PaymentEvent
from plans.payments import dunning, events
from plans.rating.credits import PREPAID
from tenants.notifications.models import Channel
from tests.support.domain import Cast
from tests.support.portal import rows

Happen = Callable[[Cast, Channel], None]


def unpaid_for(days: int) -> Happen:
    """Return what leaves an invoice unpaid for that long, and has dunning act each day."""

    def happen(cast: Cast, _: Channel) -> None:
        _leave_unpaid(rows.issued(cast.tenant), days)

    return happen


def paid_late(cast: Cast, _: Channel) -> None:
    """Pay an invoice after connections were refused."""
    invoice = rows.issued(cast.tenant)
    _leave_unpaid(invoice, 60)
    _pay(invoice)
    assert invoice.due_at is not None
    dunning.advance(cast.tenant.pk, invoice.due_at + timedelta(days=61))


def paid(cast: Cast, _: Channel) -> None:
    """Pay an invoice in time."""
    _pay(rows.issued(cast.tenant))


def credited(cast: Cast, _: Channel) -> None:
    """Take back a part of an invoice."""
    invoice = rows.issued(cast.tenant)
    line = next(n for n in document.loaded(invoice.document)["lines"] if n["amount_minor"] > 0)
    credit_notes.issue(
        invoice=invoice, wanted={line["position"]: 1}, reason="an outage", by=rows.STAFF
    )


def paid_back(cast: Cast, _: Channel) -> None:
    """Pay prepaid credit back."""
    credit = Wish(PREPAID, 3000, "prepaid-1", "agreed")
    row = granting.grant(tenant=cast.tenant, wish=credit, by=rows.STAFF)
    back = PayBack(1000, "bank-118", "they leave")
    granting.pay_back(tenant=cast.tenant, grant_id=row.pk, wish=back, by=rows.STAFF)


def voided(cast: Cast, _: Channel) -> None:
    """Take back all of an invoice."""
    credit_notes.void(invoice=rows.issued(cast.tenant), reason="wrong buyer", by=rows.STAFF)


def reported(kind: str) -> Happen:
    """Return what has the provider of payments report an event about a payment."""

    def happen(cast: Cast, _: Channel) -> None:
        invoice = rows.issued(cast.tenant)
        about = {"invoice": invoice.number or "", "payment": "pay-1", "currency": invoice.currency}
        amount = receiving.outstanding_minor(invoice)
        if kind != "payment.failed":
            _report("payment.succeeded", {**about, "amount_minor": amount})
        _report(kind, {**about, "amount_minor": amount, "reference": "r-1", "message": "Declined."})

    return happen


@override_settings(
    DUNNING_REMINDER_DAYS=(3,),
    DUNNING_LIMIT_DAYS=21,
    DUNNING_SUSPEND_DAYS=30,
    DUNNING_NOTICE_DAYS=7,
)
def _leave_unpaid(invoice: Invoice, days: int) -> None:
    assert invoice.due_at is not None
    for day in range(1, days + 1):
        now = invoice.due_at + timedelta(days=day)
        issuing.mark_overdue(by=rows.STAFF, now=now)
        dunning.advance(invoice.tenant_id, now)


def _pay(invoice: Invoice) -> None:
    issuing.record_payment(
        invoice=invoice,
        amount_minor=receiving.outstanding_minor(invoice),
        source="manual",
        reference="bank-1",
        received_on=timezone.now().date(),
        by=rows.STAFF,
    )


def _report(kind: str, fields: dict[str, object]) -> None:
    """Store a verified event of a provider, and apply it."""
    now = timezone.now()
    row = PaymentEvent.objects.create(
        provider="webhook",
        event_id=f"evt-{kind}",
        kind=kind,
        occurred_at=now,
        received_at=now,
        fields=fields,
    )
    events.apply(row, now)
