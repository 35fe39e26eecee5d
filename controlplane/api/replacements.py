"""/staff/invoices/{invoice}/replacement: staff replace an invoice whose buyer or tax is wrong."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import schema
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import StrictSerializer
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
    sha256 = serializers.CharField(
        help_text="Of the document. Send it as `confirmed` to replace the invoice by this one only."
    )


class ReplacementCreateSerializer(StrictSerializer):
    """Why the invoice is replaced, which the credit note prints.

    With `confirmed`, the `sha256` of a preview, the request is refused (409) if the billing details
    or the tax have changed since.
    """

    reason = serializers.CharField(max_length=1000)
    confirmed = serializers.CharField(max_length=64, required=False, default="")


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
        amounts = {name: made[name] for name in shown}
        return Response({**amounts, "document": made, "sha256": replacing.digest(made)})

    @schema.describe(
        "Replace an invoice",
        request=ReplacementCreateSerializer,
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
        serializer = ReplacementCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        row = replacing.replace(
            invoice=find_invoice(invoice), by=self.actor, **serializer.validated_data
        )
        return Response(StaffInvoiceSerializer(row).data, status=201)
