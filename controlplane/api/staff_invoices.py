"""/staff/invoices: the operator lists, closes, approves and issues invoices, records payments."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.invoices import InvoiceSerializer
from controlplane.api.serializers import ChoiceOf, OperationSerializer, StrictSerializer
from controlplane.api.views import StaffView, accepted
from controlplane.core.errors import Missing
from plans.invoicing import invoice_closing, issuing
from plans.models import Invoice
from tenants import queries


class CloseNowSerializer(StrictSerializer):
    """The tenant whose running period closes."""

    tenant = serializers.CharField(max_length=63)


class ApproveSerializer(StrictSerializer):
    """An optional reason for the approval."""

    reason = serializers.CharField(max_length=1000, required=False, default="")


class PaymentCreateSerializer(StrictSerializer):
    """A received payment. ``source`` and ``reference`` together identify it."""

    amount_minor = serializers.IntegerField(min_value=1, max_value=10**15)
    source = serializers.CharField(  # type: ignore[assignment]  # Field has an attribute of this name
        max_length=40, required=False, default="manual"
    )
    reference = serializers.CharField(max_length=120)
    received_on = serializers.DateField()


class PaymentSerializer(serializers.Serializer[Any]):
    """A recorded payment."""

    source = serializers.CharField()  # type: ignore[assignment]  # as above
    reference = serializers.CharField()
    amount_minor = serializers.IntegerField()
    received_on = serializers.DateField()
    recorded_by = serializers.CharField()
    invoice = serializers.CharField(source="invoice_id")


class StaffInvoiceSerializer(InvoiceSerializer):
    """An invoice and its tenant."""

    tenant = serializers.CharField(source="tenant.slug")


# Not a StrictSerializer: the query also has the parameters ``limit`` and ``cursor``.
class StaffInvoicesQuerySerializer(serializers.Serializer[Any]):
    """The filter of the list of invoices."""

    state = ChoiceOf(Invoice.State.choices, required=False)


class StaffInvoicesView(StaffView):
    """The invoices of all tenants."""

    @schema.describe(
        "List all invoices",
        response=schema.page_of(StaffInvoiceSerializer),
        parameters=[*schema.PAGE, schema.query("state", "One state only.", Invoice.State.values)],
    )
    def get(self, request: Request) -> Response:
        """Return the invoices, newest period first."""
        serializer = StaffInvoicesQuerySerializer(data=request.query_params)
        serializer.is_valid(raise_exception=True)
        rows = Invoice.objects.filter(**serializer.validated_data).select_related("tenant")
        rows = rows.defer("document", "manifest")  # large, and not in a list
        # The id too: periods of several tenants begin at the same instant.
        page = pagination.page(request, rows, "starts_at", "id", descending=True)
        return Response(pagination.body(page, StaffInvoiceSerializer))


class CloseNowView(StaffView):
    """Closes a running period before its end."""

    @schema.describe(
        "Close a tenant's running period now",
        request=CloseNowSerializer,
        response=OperationSerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """End the tenant's billing period at this instant and close it, without the grace period.

        The next period begins here. ``subject_id`` of the operation is the id of the invoice.
        """
        serializer = CloseNowSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        tenant = queries.get_tenant(serializer.validated_data["tenant"])
        _, operation = invoice_closing.close_now(tenant=tenant, by=self.actor)
        return accepted(operation, tenant)


class CloseAgainView(StaffView):
    """Closes the period of a held or draft invoice again."""

    @schema.describe(
        "Close a held or draft invoice again",
        response=OperationSerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, invoice: str) -> Response:
        """Validate and price the period again, without the grace period.

        For a held invoice after its cause was corrected, or for a draft that must be made again.
        """
        row = find_invoice(invoice)
        _, operation = invoice_closing.request_close(
            tenant=row.tenant,
            starts_at=row.starts_at,
            ends_at=row.ends_at,
            by=self.actor,
            now_forced=True,
        )
        return accepted(operation, row.tenant)


class ApproveView(StaffView):
    """Approves a draft."""

    @schema.describe(
        "Approve an invoice", request=ApproveSerializer, response=StaffInvoiceSerializer
    )
    def post(self, request: Request, invoice: str) -> Response:
        """Approve the draft. Approving again changes nothing."""
        serializer = ApproveSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        reason = serializer.validated_data["reason"]
        row = issuing.approve(invoice=find_invoice(invoice), by=self.actor, reason=reason)
        return Response(StaffInvoiceSerializer(row).data)


class IssueView(StaffView):
    """Issues an approved invoice."""

    @schema.describe("Issue an invoice", response=StaffInvoiceSerializer)
    def post(self, request: Request, invoice: str) -> Response:
        """Give the invoice its number and post it to the ledger. Issuing again changes nothing."""
        row = issuing.issue(invoice=find_invoice(invoice), by=self.actor)
        return Response(StaffInvoiceSerializer(row).data)


class PaymentsView(StaffView):
    """The payments of an invoice."""

    @schema.describe("List payments", response=PaymentSerializer(many=True))
    def get(self, request: Request, invoice: str) -> Response:
        """Return the payments in the order in which they were recorded."""
        rows = find_invoice(invoice).payments.order_by("id")
        return Response(PaymentSerializer(rows, many=True).data)

    @schema.describe(
        "Record a payment", request=PaymentCreateSerializer, response=PaymentSerializer, status=201
    )
    def post(self, request: Request, invoice: str) -> Response:
        """Record a payment. The same source and reference again is the same payment."""
        serializer = PaymentCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        row = issuing.record_payment(
            invoice=find_invoice(invoice), by=self.actor, **serializer.validated_data
        )
        return Response(PaymentSerializer(row).data, status=201)


def find_invoice(pk: str) -> Invoice:
    """Return the invoice with this id, of any tenant. Raises Missing if there is none."""
    row = Invoice.objects.select_related("tenant").filter(pk=pk).first()
    if row is None:
        raise Missing("There is no such invoice.")
    return row
