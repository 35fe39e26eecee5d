"""/staff/invoices/{invoice}: the files of an invoice of any tenant, and its verification.

They are those of ``controlplane.api.invoices``, which a tenant's members call.
"""

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane import invoice_files
from controlplane.api import schema
from controlplane.api.idempotency import idempotent
from controlplane.api.invoices import WITH_FILES, file_response, with_files
from controlplane.api.serializers import OperationSerializer
from controlplane.api.staff_invoices import find_invoice
from controlplane.api.views import StaffView, accepted_at
from plans.invoice_formats import INFO, InvoiceFormat
from plans.invoicing import invoice_verification


def file_view(kind: InvoiceFormat) -> type[StaffView]:
    """Return a new view class, whose GET answers with an invoice as a file of the format ``kind``.

    As in ``controlplane.api.invoices``, each format has a class of its own.
    """
    info = INFO[kind]

    def get(self: StaffView, request: Request, invoice: str) -> HttpResponse:
        return invoice_files.of_invoice(find_invoice(invoice), kind)

    get.__doc__ = info.description
    described = schema.describe(
        f"{info.summary}, as staff",
        response=file_response(kind),
        operation_id=info.staff_operation,
    )
    return type(
        f"StaffInvoice{kind.name.title()}View",
        (StaffView,),
        {"__doc__": f"One invoice of any tenant as {info.title} (GET).", "get": described(get)},
    )


# The longest suffix first: a path that ends with .facturx.pdf also ends with .pdf.
FILE_VIEWS = {kind: file_view(kind) for kind in sorted(INFO, key=lambda kind: -len(kind))}


class StaffInvoiceVerifyView(StaffView):
    """Begins to verify one invoice of any tenant (POST)."""

    @schema.describe(
        "Verify an invoice as staff",
        response=OperationSerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY, WITH_FILES],
    )
    @idempotent
    def post(self, request: Request, invoice: str) -> Response:
        """Begin to compute the invoice of this number or id again, as its tenant can.

        Poll the operation at the path in `Location`, which staff may read. It succeeds if each
        place where the figures stand is the same. Otherwise it fails, and its steps name what
        differs in each place.
        """
        row, files = find_invoice(invoice), with_files(request)
        operation = invoice_verification.request_verify(invoice=row, by=self.actor, files=files)
        return accepted_at(operation, f"/staff/invoices/{row.pk}/verifications/{operation.pk}")


class StaffVerificationView(StaffView):
    """Shows one verification of an invoice of any tenant (GET)."""

    @schema.describe("Get a verification of an invoice as staff", response=OperationSerializer)
    def get(self, request: Request, invoice: str, operation: str) -> Response:
        """Return the operation that verifies the invoice, or has verified it.

        Poll it at most once a second, until `state` is not Running.
        """
        row = invoice_verification.get_request(find_invoice(invoice), operation)
        return Response(OperationSerializer(row).data)
