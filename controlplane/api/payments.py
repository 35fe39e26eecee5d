"""Payments of a tenant: the page on which an invoice is paid, and the list of payments."""

from typing import Any

from django.db.models import Prefetch
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import listing, pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.invoices import get_invoice
from controlplane.api.views import TenantView
from plans.models import Payment, PaymentDispute, Refund
from plans.payments import checkouts
from tenants.permissions import Permission

_LISTING = listing.Listing(
    sorts={"received_on": ("received_on", "id"), "amount_minor": ("amount_minor", "id")},
    default="-received_on",
)
# Loads the refunds and disputes of a page of payments by one query each.
WITH_RETURNS = (
    Prefetch("refunds", Refund.objects.order_by("requested_at", "id")),
    Prefetch("disputes", PaymentDispute.objects.order_by("opened_at", "id")),
)


class CheckoutSerializer(serializers.Serializer[Any]):
    """A page of the payment provider on which the invoice can be paid, until `expires_at`."""

    provider = serializers.CharField()
    url = serializers.CharField()
    amount_minor = serializers.IntegerField()
    currency = serializers.CharField(source="invoice.currency")
    expires_at = serializers.DateTimeField()


class RefundSerializer(serializers.Serializer[Any]):
    """Money of a payment that went back, or goes back, in minor units of `currency`.

    `credit_minor` of it came from the tenant's credit; `reopened_minor` is due again. A
    `chargeback` is what a lost dispute took.
    """

    id = serializers.CharField()
    kind = serializers.ChoiceField(Refund.Kind.choices)
    state = serializers.ChoiceField(Refund.State.choices)
    amount_minor = serializers.IntegerField()
    credit_minor = serializers.IntegerField()
    reopened_minor = serializers.IntegerField()
    currency = serializers.CharField(source="payment.invoice.currency")
    reference = serializers.CharField(allow_blank=True)
    reason = serializers.CharField()
    requested_at = serializers.DateTimeField()


class DisputeSerializer(serializers.Serializer[Any]):
    """A dispute: the payer's bank takes the payment back, unless the operator wins the dispute."""

    reference = serializers.CharField()
    state = serializers.ChoiceField(PaymentDispute.State.choices)
    amount_minor = serializers.IntegerField()
    reason = serializers.CharField(allow_blank=True)
    opened_at = serializers.DateTimeField()


class TenantPaymentSerializer(serializers.Serializer[Any]):
    """A payment, in minor units of `currency`; `credit_minor` of it exceeded what was due."""

    id = serializers.IntegerField()
    invoice = serializers.CharField(source="invoice.number")
    amount_minor = serializers.IntegerField()
    credit_minor = serializers.IntegerField()
    currency = serializers.CharField(source="invoice.currency")
    received_on = serializers.DateField()
    source = serializers.CharField()  # type: ignore[assignment]  # Field has an attribute of this name
    reference = serializers.CharField()
    refunds = RefundSerializer(many=True)
    disputes = DisputeSerializer(many=True)


class TenantPaymentsView(TenantView):
    """Lists the payments of a tenant (GET)."""

    needs = {"GET": Permission.VIEW_BILLING}

    @schema.describe(
        "List tenant payments",
        response=schema.page_of(TenantPaymentSerializer),
        parameters=_LISTING.parameters,
    )
    def get(self, request: Request, tenant: str) -> Response:
        """Return the tenant's payments of all invoices, with what went back of them."""
        rows = Payment.objects.filter(invoice__tenant=self.tenant).select_related("invoice")
        # Large columns of the invoices, of which the list shows number and currency only.
        rows = rows.defer("invoice__document", "invoice__manifest", "invoice__quality")
        page = _LISTING.page(request, rows.prefetch_related(*WITH_RETURNS))
        return Response(pagination.body(page, TenantPaymentSerializer))


class CheckoutView(TenantView):
    """Opens the page on which an invoice is paid (POST)."""

    needs = {"POST": Permission.MANAGE_BILLING}

    @schema.describe(
        "Pay an invoice",
        response=CheckoutSerializer,
        status=201,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str, invoice: str) -> Response:
        """Return the page of the payment provider on which what is due of the invoice is paid.

        Cards and accounts are entered there, and never reach Waypost. The invoice is paid when the
        provider reports the payment, some seconds after the payer is done.
        """
        row = get_invoice(self.tenant, invoice)
        made = checkouts.begin(invoice=row, by=self.actor, now=timezone.now())
        return Response(CheckoutSerializer(made).data, status=201)
