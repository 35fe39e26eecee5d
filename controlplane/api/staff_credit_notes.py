"""/staff/credit-notes: credit notes of all tenants, their files and their verification.

Files and verification are those of ``controlplane.api.credit_notes``, which members of a tenant
call.
"""

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane import invoice_files
from controlplane.api import listing, pagination, schema
from controlplane.api.credit_notes import (
    CreditNoteDetailSerializer,
    CreditNoteSerializer,
    CreditNoteVerificationSerializer,
    detail_of,
    file_response,
    file_summary,
    get_note,
    verification_of,
)
from controlplane.api.idempotency import idempotent
from controlplane.api.listing import Filter, Kind
from controlplane.api.views import StaffView
from plans.invoice_formats import CREDIT_NOTE_FORMATS, INFO, InvoiceFormat
from plans.models import CreditNote

_LISTING = listing.Listing(
    sorts={"issued_at": ("issued_at", "number"), "total_minor": ("total_minor", "number")},
    default="-issued_at",
    filters=(
        Filter("tenant", "Credit notes of the tenant with this slug.", ("tenant__slug",)),
        Filter("legal_entity", "Credit notes of the seller with this key."),
        Filter("since", "Issued at or after this instant.", ("issued_at__gte",), (), Kind.INSTANT),
        Filter("until", "Issued before this instant.", ("issued_at__lt",), (), Kind.INSTANT),
    ),
)


class StaffCreditNoteSerializer(CreditNoteSerializer):
    """A credit note of any tenant; `tenant` is the slug, `legal_entity` the key of the seller."""

    tenant = serializers.CharField(source="tenant.slug")
    legal_entity = serializers.CharField()


class StaffCreditNoteDetailSerializer(CreditNoteDetailSerializer):
    """A credit note of any tenant with its document; `tenant` is the slug."""

    tenant = serializers.CharField(source="tenant.slug")


class StaffCreditNoteListView(StaffView):
    """Lists the credit notes of all tenants (GET)."""

    @schema.describe(
        "List all credit notes",
        response=schema.page_of(StaffCreditNoteSerializer),
        parameters=_LISTING.parameters,
        operation_id="list_all_credit_notes",
    )
    def get(self, request: Request) -> Response:
        """Return the credit notes of all tenants, or those that the filters select."""
        rows = CreditNote.objects.select_related("invoice", "tenant")
        # Both documents are large and not in a list.
        page = _LISTING.page(request, rows.defer("document", "invoice__document"))
        return Response(pagination.body(page, StaffCreditNoteSerializer))


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
