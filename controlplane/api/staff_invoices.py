"""/staff/invoices: invoice runs of the operator."""

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
from plans import invoicing
from plans.models import Invoice
from tenants import queries


class CloseNowSerializer(StrictSerializer):
    """Whose running period to close."""

    tenant = serializers.CharField(max_length=63)


class ApproveSerializer(StrictSerializer):
    """Why the draft is right, if there is something to say."""

    reason = serializers.CharField(max_length=1000, required=False, default="")


class PaymentCreateSerializer(StrictSerializer):
    """Money that came in; (source, reference) names it for ever."""

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
    """A bill, and whose."""

    tenant = serializers.CharField(source="tenant.slug")


class StaffInvoicesAskedSerializer(serializers.Serializer[Any]):
    """Which bills."""

    state = ChoiceOf(Invoice.State.choices, required=False)


class StaffInvoicesView(StaffView):
    """Every bill."""

    @schema.describe(
        "List all invoices",
        response=schema.page_of(StaffInvoiceSerializer),
        parameters=[*schema.PAGE, schema.query("state", "One state only.", Invoice.State.values)],
    )
    def get(self, request: Request) -> Response:
        """Newest period first."""
        asked = StaffInvoicesAskedSerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        rows = Invoice.objects.filter(**asked.validated_data).select_related("tenant")
        rows = rows.defer("document", "manifest")
        page = pagination.page(request, rows, "starts_at", "id", descending=True)
        return Response(pagination.body(page, StaffInvoiceSerializer))


class CloseNowView(StaffView):
    """Close a running period."""

    @schema.describe(
        "Close a tenant's running period now",
        request=CloseNowSerializer,
        response=OperationSerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Skip the grace, audited. ``subject_id`` of the operation is the invoice."""
        asked = CloseNowSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        tenant = queries.get_tenant(asked.validated_data["tenant"])
        _, operation = invoicing.close_now(tenant=tenant, by=self.actor)
        return accepted(operation, tenant)


class CloseAgainView(StaffView):
    """Close a held or draft period again."""

    @schema.describe(
        "Close a held or draft invoice again",
        response=OperationSerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, invoice: str) -> Response:
        """After what held it was mended."""
        row = _invoice(invoice)
        _, operation = invoicing.request_close(
            tenant=row.tenant,
            starts_at=row.starts_at,
            ends_at=row.ends_at,
            by=self.actor,
            now_forced=True,
        )
        return accepted(operation, row.tenant)


class ApproveView(StaffView):
    """Approve a draft."""

    @schema.describe(
        "Approve an invoice", request=ApproveSerializer, response=StaffInvoiceSerializer
    )
    def post(self, request: Request, invoice: str) -> Response:
        """Approving again changes nothing."""
        asked = ApproveSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        reason = asked.validated_data["reason"]
        row = invoicing.approve(invoice=_invoice(invoice), by=self.actor, reason=reason)
        return Response(StaffInvoiceSerializer(row).data)


class IssueView(StaffView):
    """Issue an approved invoice."""

    @schema.describe("Issue an invoice", response=StaffInvoiceSerializer)
    def post(self, request: Request, invoice: str) -> Response:
        """Gives it its number and books it; issuing again changes nothing."""
        row = invoicing.issue(invoice=_invoice(invoice), by=self.actor)
        return Response(StaffInvoiceSerializer(row).data)


class PaymentsView(StaffView):
    """The payments of an invoice."""

    @schema.describe("List payments", response=PaymentSerializer(many=True))
    def get(self, request: Request, invoice: str) -> Response:
        """In the order they were recorded."""
        rows = _invoice(invoice).payments.order_by("id")
        return Response(PaymentSerializer(rows, many=True).data)

    @schema.describe(
        "Record a payment", request=PaymentCreateSerializer, response=PaymentSerializer, status=201
    )
    def post(self, request: Request, invoice: str) -> Response:
        """The same source and reference again is the same payment."""
        asked = PaymentCreateSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        row = invoicing.record_payment(
            invoice=_invoice(invoice), by=self.actor, **asked.validated_data
        )
        return Response(PaymentSerializer(row).data, status=201)


def _invoice(pk: str) -> Invoice:
    row = Invoice.objects.select_related("tenant").filter(pk=pk).first()
    if row is None:
        raise Missing("There is no such invoice.")
    return row
