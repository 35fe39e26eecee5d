"""/tenants/{tenant}/invoices: bills, their documents, and the proof that they are right."""

from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import OperationSerializer
from controlplane.api.usage import attachment
from controlplane.api.views import TenantView, accepted
from controlplane.core.errors import Conflict, Missing
from plans import invoicing
from plans.invoicing import rendering, verification_requests
from plans.models import Invoice
from tenants.models import Tenant
from tenants.permissions import Permission


class NoDocument(Conflict):
    """The invoice has no document yet."""

    code = "invoice.no_document"


class HeldReasonSerializer(serializers.Serializer[Any]):
    """Why an invoice is held back."""

    code = serializers.CharField()
    message = serializers.CharField()


class InvoiceSerializer(serializers.Serializer[Any]):
    """A bill for one period; amounts are integers in minor units of ``currency``."""

    id = serializers.CharField()
    number = serializers.CharField(allow_null=True, help_text="Null until issued.")
    state = serializers.ChoiceField(Invoice.State.choices)
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()
    currency = serializers.CharField(allow_blank=True)
    net_minor = serializers.IntegerField()
    tax_minor = serializers.IntegerField()
    total_minor = serializers.IntegerField()
    credit_minor = serializers.IntegerField(
        help_text="Of the total: settled by earlier credit; below zero kept as credit."
    )
    payable_minor = serializers.IntegerField(help_text="Total less credit; never below zero.")
    issued_at = serializers.DateTimeField(allow_null=True)
    due_at = serializers.DateTimeField(allow_null=True)
    held_reasons = HeldReasonSerializer(many=True)


class InvoiceDetailSerializer(InvoiceSerializer):
    """A bill with its document: seller, buyer, lines, taxes, usage, quality, manifest."""

    document = serializers.DictField(allow_null=True)


class PreviewSerializer(serializers.Serializer[Any]):
    """What the running period costs so far."""

    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()
    as_of = serializers.DateTimeField(allow_null=True)
    total_minor = serializers.IntegerField()
    credit_minor = serializers.IntegerField(
        help_text="Credit of earlier invoices that the next ones use first."
    )
    document = serializers.DictField()


class InvoicesView(TenantView):
    """The bills of a tenant."""

    needs = {"GET": Permission.VIEW_BILLING}

    @schema.describe(
        "List invoices", response=schema.page_of(InvoiceSerializer), parameters=schema.PAGE
    )
    def get(self, request: Request, tenant: str) -> Response:
        """Newest period first."""
        rows = _of(self.tenant).defer("document", "manifest")
        page = pagination.page(request, rows, "starts_at", descending=True)
        return Response(pagination.body(page, InvoiceSerializer))


class PreviewView(TenantView):
    """The running period."""

    needs = {"GET": Permission.VIEW_BILLING}

    @schema.describe("Preview the running period", response=PreviewSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Whole fee and allowances, usage so far; nothing is written."""
        made = invoicing.preview(self.tenant)
        return Response(
            {
                "starts_at": made.period.starts_at,
                "ends_at": made.period.ends_at,
                "as_of": made.as_of,
                "total_minor": made.total_minor,
                "credit_minor": made.credit_minor,
                "document": made.document,
            }
        )


class InvoiceView(TenantView):
    """One bill."""

    needs = {"GET": Permission.VIEW_BILLING}

    @schema.describe("Get an invoice", response=InvoiceDetailSerializer)
    def get(self, request: Request, tenant: str, invoice: str) -> Response:
        """By number or id; ``document`` is null until the period was closed."""
        row = get_invoice(self.tenant, invoice)
        document = document_of(row) if row.document else None
        return Response({**InvoiceSerializer(row).data, "document": document})


class InvoicePdfView(TenantView):
    """One bill to print."""

    needs = {"GET": Permission.VIEW_BILLING}

    @schema.describe(
        "Get an invoice as PDF", response={(200, "application/pdf"): OpenApiTypes.BINARY}
    )
    def get(self, request: Request, tenant: str, invoice: str) -> HttpResponse:
        """By number or id."""
        row = get_invoice(self.tenant, invoice)
        content = rendering.pdf(document_of(row))
        return attachment(content, "application/pdf", f"{row.number or row.pk}.pdf")


class InvoiceCsvView(TenantView):
    """The lines of one bill as a file."""

    needs = {"GET": Permission.VIEW_BILLING}

    @schema.describe(
        "Get an invoice's lines as CSV", response={(200, "text/csv"): OpenApiTypes.STR}
    )
    def get(self, request: Request, tenant: str, invoice: str) -> HttpResponse:
        """By number or id."""
        row = get_invoice(self.tenant, invoice)
        content = rendering.csv(document_of(row))
        return attachment(content, "text/csv", f"{row.number or row.pk}.csv")


class InvoiceJsonView(TenantView):
    """One bill for programs."""

    needs = {"GET": Permission.VIEW_BILLING}

    @schema.describe(
        "Get an invoice's document as JSON",
        response={(200, "application/json"): OpenApiTypes.OBJECT},
    )
    def get(self, request: Request, tenant: str, invoice: str) -> HttpResponse:
        """By number or id; the very bytes that a verification compares."""
        row = get_invoice(self.tenant, invoice)
        content = rendering.json(document_of(row))
        return attachment(content, "application/json", f"{row.number or row.pk}.json")


class InvoiceVerifyView(TenantView):
    """The proof."""

    needs = {"POST": Permission.VIEW_BILLING}

    @schema.describe(
        "Verify an invoice",
        response=OperationSerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str, invoice: str) -> Response:
        """Recompute it from its samples; the operation succeeds if every byte is the same."""
        row = get_invoice(self.tenant, invoice)
        return accepted(
            verification_requests.request_verify(invoice=row, by=self.actor), self.tenant
        )


def get_invoice(tenant: Tenant, name: str) -> Invoice:
    """Return the tenant's invoice with this number or id.

    Raises:
        Missing: there is none, or it is another tenant's.
    """
    row = _of(tenant).filter(Q(number=name) | Q(pk=name)).first()
    if row is None:
        raise Missing("There is no such invoice; list them to see their numbers.")
    return row


def document_of(invoice: Invoice) -> dict[str, Any]:
    """Return the document of ``invoice``.

    Raises:
        NoDocument: the period was not closed yet.
    """
    if not invoice.document:
        raise NoDocument("This period is not closed yet; the running one has a preview.")
    return invoicing.loaded(invoice.document)


def _of(tenant: Tenant) -> QuerySet[Invoice]:
    return Invoice.objects.filter(tenant=tenant)
