"""Credit notes: a tenant reads and verifies them; staff issue them, void and write off invoices."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane import invoice_files
from controlplane.api import listing, pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import StrictSerializer
from controlplane.api.staff_invoices import StaffInvoiceSerializer, find_invoice
from controlplane.api.views import StaffView, TenantView
from controlplane.core.errors import Missing
from plans.invoice_formats import CREDIT_NOTE_FORMATS, INFO, InvoiceFormat
from plans.invoicing import credit_notes, document, issuing
from plans.models import CreditNote
from tenants.models import Tenant
from tenants.permissions import Permission

_LISTING = listing.Listing(
    sorts={"issued_at": ("issued_at", "number"), "total_minor": ("total_minor", "number")},
    default="-issued_at",
)


class CreditNoteSerializer(serializers.Serializer[Any]):
    """A credit note; amounts are positive integers in minor units of `currency`.

    `receivable_minor` of the total reduces what is due for the invoice. `credit_minor` was paid
    before and became credit of the tenant.
    """

    id = serializers.CharField()
    number = serializers.CharField()
    invoice = serializers.CharField(source="invoice.number")
    issued_at = serializers.DateTimeField()
    currency = serializers.CharField()
    net_minor = serializers.IntegerField()
    tax_minor = serializers.IntegerField()
    total_minor = serializers.IntegerField()
    receivable_minor = serializers.IntegerField()
    credit_minor = serializers.IntegerField()
    reason = serializers.CharField()


class CreditNoteDetailSerializer(CreditNoteSerializer):
    """A credit note with its document: seller, buyer, lines, taxes, the corrected invoice."""

    document = serializers.DictField()


class CreditNoteVerificationSerializer(serializers.Serializer[Any]):
    """Whether a credit note equals the one computed again; `differences` are texts for people."""

    same = serializers.BooleanField()
    differences = serializers.ListField(child=serializers.CharField())


class CreditLineSerializer(StrictSerializer):
    """What to take back of one line of the invoice, before tax, in minor units."""

    position = serializers.IntegerField(min_value=1)
    amount_minor = serializers.IntegerField(min_value=1, max_value=10**15)


class CreditNoteCreateSerializer(StrictSerializer):
    """The lines to take back, each once, and the reason, which the credit note prints."""

    reason = serializers.CharField(max_length=1000)
    lines = CreditLineSerializer(many=True, allow_empty=False)


class InvoiceReasonSerializer(StrictSerializer):
    """The reason for the change of an invoice."""

    reason = serializers.CharField(max_length=1000)


class CreditNotesView(TenantView):
    """Lists the credit notes of a tenant (GET)."""

    needs = {"GET": Permission.VIEW_BILLING}

    @schema.describe(
        "List credit notes",
        response=schema.page_of(CreditNoteSerializer),
        parameters=_LISTING.parameters,
    )
    def get(self, request: Request, tenant: str) -> Response:
        """Return one page of the credit notes of the tenant, without their documents."""
        rows = CreditNote.objects.filter(tenant=self.tenant).select_related("invoice")
        # Both documents are large and not in a list.
        page = _LISTING.page(request, rows.defer("document", "invoice__document"))
        return Response(pagination.body(page, CreditNoteSerializer))


class CreditNoteView(TenantView):
    """Shows one credit note of a tenant (GET)."""

    needs = {"GET": Permission.VIEW_BILLING}

    @schema.describe("Get a credit note", response=CreditNoteDetailSerializer)
    def get(self, request: Request, tenant: str, credit_note: str) -> Response:
        """Return the credit note of this number, with its document."""
        return Response(detail_of(get_note(self.tenant, credit_note)))


def file_view(kind: InvoiceFormat) -> type[TenantView]:
    """Return a new view class, whose GET answers with a credit note as a file of ``kind``."""
    info = INFO[kind]

    def get(self: TenantView, request: Request, tenant: str, credit_note: str) -> HttpResponse:
        """Return the credit note of this number as a file."""
        return invoice_files.of_credit_note(get_note(self.tenant, credit_note), kind)

    described = schema.describe(
        file_summary(kind),
        response=file_response(kind),
        operation_id=info.note_operation,
    )
    return type(
        f"CreditNote{kind.name.title()}View",
        (TenantView,),
        {
            "__doc__": f"One credit note as {info.title}.",
            "needs": {"GET": Permission.VIEW_BILLING},
            "get": described(get),
        },
    )


def file_summary(kind: InvoiceFormat) -> str:
    """Return the summary of the operation that answers with a credit note as ``kind``."""
    return INFO[kind].summary.replace("an invoice", "a credit note")


def file_response(kind: InvoiceFormat) -> dict[tuple[int, str], OpenApiTypes]:
    """Return the documentation of an answer with a credit note as ``kind``."""
    info = INFO[kind]
    # Of the formats of credit notes, JSON alone is a text: generated clients parse it.
    type_ = OpenApiTypes.BINARY if not info.is_text else OpenApiTypes.OBJECT
    return {(200, info.media_type): type_}


# The longest suffix first: a path that ends with .facturx.pdf also ends with .pdf.
FILE_VIEWS = {
    kind: file_view(kind) for kind in sorted(CREDIT_NOTE_FORMATS, key=lambda kind: -len(kind))
}


class CreditNoteVerifyView(TenantView):
    """Verifies one credit note of a tenant (POST)."""

    needs = {"POST": Permission.VIEW_BILLING}

    @schema.describe(
        "Verify a credit note",
        response=CreditNoteVerificationSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str, credit_note: str) -> Response:
        """Compute the credit note again from its invoice, and compare document, amounts, ledger."""
        return Response(verification_of(get_note(self.tenant, credit_note)))


class StaffCreditNotesView(StaffView):
    """Issues a credit note for lines of an invoice (POST)."""

    @schema.describe(
        "Issue a credit note",
        request=CreditNoteCreateSerializer,
        response=CreditNoteSerializer,
        status=201,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, invoice: str) -> Response:
        """Take back amounts of lines of the issued invoice of this number or id.

        More than is left of a line, or of the invoice, is refused (409). The amount of a line is
        before discounts, which have lines of their own: subtract the share of the discounts, or
        more is taken back than the tenant was charged for the line.
        """
        serializer = CreditNoteCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        # A line that stands twice adds up, and the sum is compared with what is left of it.
        wanted: dict[int, int] = {}
        for line in serializer.validated_data["lines"]:
            wanted[line["position"]] = wanted.get(line["position"], 0) + line["amount_minor"]
        row = credit_notes.issue(
            invoice=find_invoice(invoice),
            wanted=wanted,
            reason=serializer.validated_data["reason"],
            by=self.actor,
        )
        return Response(CreditNoteSerializer(row).data, status=201)


class VoidView(StaffView):
    """Voids an issued invoice by a credit note (POST)."""

    @schema.describe(
        "Void an invoice",
        request=InvoiceReasonSerializer,
        response=CreditNoteSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, invoice: str) -> Response:
        """Take back all that is left of the issued invoice of this number or id.

        The invoice becomes voided. Returns the credit note. Voiding again changes nothing.
        """
        row = credit_notes.void(
            invoice=find_invoice(invoice), reason=_reason(request), by=self.actor
        )
        return Response(CreditNoteSerializer(row).data)


class WriteOffView(StaffView):
    """Writes off an overdue invoice (POST)."""

    @schema.describe(
        "Write off an invoice",
        request=InvoiceReasonSerializer,
        response=StaffInvoiceSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, invoice: str) -> Response:
        """Book what is due of the overdue invoice of this number or id to bad debt.

        The invoice becomes uncollectible and stays so.
        """
        row = issuing.write_off(
            invoice=find_invoice(invoice), reason=_reason(request), by=self.actor
        )
        return Response(StaffInvoiceSerializer(row).data)


def _reason(request: Request) -> str:
    serializer = InvoiceReasonSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    return str(serializer.validated_data["reason"])


def get_note(tenant: Tenant | None, number: str) -> CreditNote:
    """Return the tenant's credit note with this number; ``tenant`` None searches all tenants.

    Raises:
        Missing: the tenant has no such credit note.
    """
    rows = CreditNote.objects.filter(number=number).select_related("invoice", "tenant")
    row = (rows.filter(tenant=tenant) if tenant else rows).first()
    if row is None:
        raise Missing("There is no such credit note; list them to see their numbers.")
    return row


def detail_of(note: CreditNote) -> dict[str, Any]:
    """Return ``note`` as ``CreditNoteDetailSerializer`` describes it."""
    return {**CreditNoteSerializer(note).data, "document": document.loaded(note.document)}


def verification_of(note: CreditNote) -> dict[str, Any]:
    """Compute ``note`` again; return what ``CreditNoteVerificationSerializer`` describes."""
    found = credit_notes.verify(note)
    return {"same": found.same, "differences": list(found.differences)}
