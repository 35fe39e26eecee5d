"""/staff/invoices/{invoice}/replacement: staff replace an invoice whose buyer or tax is wrong."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import schema
from controlplane.api.credit_notes import InvoiceReasonSerializer
from controlplane.api.idempotency import idempotent
from controlplane.api.staff_invoices import StaffInvoiceSerializer, find_invoice
from controlplane.api.views import StaffView
from plans.invoicing import replacing


class ReplacementPreviewSerializer(serializers.Serializer[Any]):
    """What the replacement of an invoice would be; amounts are in minor units of `currency`."""

    currency = serializers.CharField()
    net_minor = serializers.IntegerField()
    tax_minor = serializers.IntegerField()
    total_minor = serializers.IntegerField()
    document = serializers.DictField()


class ReplacementView(StaffView):
    """Shows what would replace an invoice (GET), and replaces it (POST)."""

    @schema.describe("Preview the replacement of an invoice", response=ReplacementPreviewSerializer)
    def get(self, request: Request, invoice: str) -> Response:
        """Return the invoice that would replace the issued invoice of this number or id.

        It has the same lines, and the billing details and the tax that the tenant has now. Nothing
        is stored. An invoice that is not issued, or is replaced already, is refused (409).
        """
        made = replacing.preview(find_invoice(invoice))
        shown = ("currency", "net_minor", "tax_minor", "total_minor")
        return Response({**{name: made[name] for name in shown}, "document": made})

    @schema.describe(
        "Replace an invoice",
        request=InvoiceReasonSerializer,
        response=StaffInvoiceSerializer,
        status=201,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, invoice: str) -> Response:
        """Void the issued invoice of this number or id, and issue a new one in its place.

        An invoice that is void already is replaced, too. Returns the new invoice. Replacing again
        changes nothing. The credit note that voids the invoice prints the reason.
        """
        serializer = InvoiceReasonSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        row = replacing.replace(
            invoice=find_invoice(invoice),
            reason=serializer.validated_data["reason"],
            by=self.actor,
        )
        return Response(StaffInvoiceSerializer(row).data, status=201)
