"""/staff/credit-notes/{credit_note}: a credit note of any tenant, its files and its verification.

They are those of ``controlplane.api.credit_notes``, which a tenant's members call.
"""

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane import invoice_files
from controlplane.api import schema
from controlplane.api.credit_notes import (
    CreditNoteDetailSerializer,
    CreditNoteVerificationSerializer,
    detail_of,
    file_response,
    file_summary,
    get_note,
    verification_of,
)
from controlplane.api.idempotency import idempotent
from controlplane.api.views import StaffView
from plans.invoice_formats import CREDIT_NOTE_FORMATS, INFO, InvoiceFormat


class StaffCreditNoteDetailSerializer(CreditNoteDetailSerializer):
    """A credit note of any tenant with its document; `tenant` is the slug."""

    tenant = serializers.CharField(source="tenant.slug")


class StaffCreditNoteView(StaffView):
    """Shows one credit note of any tenant (GET)."""

    @schema.describe("Get a credit note as staff", response=StaffCreditNoteDetailSerializer)
    def get(self, request: Request, credit_note: str) -> Response:
        """Return the credit note of this number, with its document."""
        row = get_note(None, credit_note)
        return Response({**detail_of(row), "tenant": row.tenant.slug})


def file_view(kind: InvoiceFormat) -> type[StaffView]:
    """Return a new view class, whose GET answers with a credit note as a file of ``kind``."""

    def get(self: StaffView, request: Request, credit_note: str) -> HttpResponse:
        """Return the credit note of this number as a file."""
        return invoice_files.of_credit_note(get_note(None, credit_note), kind)

    described = schema.describe(
        f"{file_summary(kind)}, as staff",
        response=file_response(kind),
        operation_id=INFO[kind].staff_note_operation,
    )
    return type(
        f"StaffCreditNote{kind.name.title()}View",
        (StaffView,),
        {
            "__doc__": f"One credit note of any tenant as {INFO[kind].title} (GET).",
            "get": described(get),
        },
    )


# The longest suffix first: a path that ends with .facturx.pdf also ends with .pdf.
FILE_VIEWS = {
    kind: file_view(kind) for kind in sorted(CREDIT_NOTE_FORMATS, key=lambda kind: -len(kind))
}


class StaffCreditNoteVerifyView(StaffView):
    """Verifies one credit note of any tenant (POST)."""

    @schema.describe(
        "Verify a credit note as staff",
        response=CreditNoteVerificationSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, credit_note: str) -> Response:
        """Compute the credit note again from its invoice, and compare document, amounts, ledger."""
        return Response(verification_of(get_note(None, credit_note)))
