"""Queries of payments, and of what dunning does about an invoice."""

from collections.abc import Sequence

from django.db.models import QuerySet
from django.utils import timezone

from controlplane.core.errors import Missing
from plans.models import Invoice, Payment, PaymentEvent
from plans.payments import dunning
from tenants.models import Tenant

# JSON columns that are large, and that lists do not show.
_LARGE = ("invoice__document", "invoice__manifest", "invoice__quality")


def of(tenant: Tenant) -> QuerySet[Payment]:
    """Return the payments of a tenant, the newest first, with their refunds and disputes."""
    return everyone().filter(invoice__tenant=tenant)


def everyone() -> QuerySet[Payment]:
    """Return the payments of all tenants, the newest first, with their refunds and disputes."""
    rows = Payment.objects.select_related("invoice__tenant").defer(*_LARGE)
    rows = rows.prefetch_related("refunds", "disputes")
    # By id too: a bank reports many payments with the same day.
    return rows.order_by("-received_on", "-id")


def get(pk: int) -> Payment:
    """Return the payment with this id, of any tenant.

    Raises:
        Missing: there is none.
    """
    row = everyone().filter(pk=pk).first()
    if row is None:
        raise Missing("There is no such payment; see the list of payments.", code="payment.missing")
    return row


def events_to_look_at() -> Sequence[PaymentEvent]:
    """Return the twenty newest events of providers that were refused, or whose effect fails."""
    # Through the index ``payment_event_to_look_at``: almost all events were applied.
    rows = PaymentEvent.objects.filter(PaymentEvent.TO_LOOK_AT)
    return list(rows.order_by("-received_at", "-id")[:20])


def dunning_of(invoice: Invoice) -> str:
    """Return what happens if the invoice stays unpaid; empty if nothing was announced."""
    # At most one: the constraint ``dunning_case_once``.
    case = invoice.dunning_cases.filter(ended_at__isnull=True).first()
    return dunning.consequence(case, timezone.now()) if case else ""
