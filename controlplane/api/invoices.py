"""/tenants/{tenant}/invoices: a tenant's invoices, their files and their verification."""

from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane import invoice_files
from controlplane.api import listing, pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.listing import Kind
from controlplane.api.serializers import OperationSerializer
from controlplane.api.views import TenantView, accepted
from controlplane.core.errors import Invalid, Missing
from plans.invoice_formats import INFO, FormatInfo, InvoiceFormat
from plans.invoicing import (
    invoice_verification,
    previewing,
    receiving,
    replacing,
)
from plans.models import Invoice
from tenants.models import Tenant
from tenants.permissions import Permission

# ``starts_at`` alone is a key here: it is unique within a tenant.
_LISTING = listing.Listing(
    sorts={"starts_at": ("starts_at",), "total_minor": ("total_minor", "id")},
    default="-starts_at",
    filters=(
        listing.choice("state", "Invoices in this state.", Invoice.State.values),
        listing.Filter(
            "since", "Periods from this instant.", ("starts_at__gte",), (), Kind.INSTANT
        ),
        listing.Filter("until", "Periods up to this instant.", ("ends_at__lte",), (), Kind.INSTANT),
    ),
)


class HeldReasonSerializer(serializers.Serializer[Any]):
    """One reason why an invoice is held: a problem that the close of its period found."""

    code = serializers.CharField()
    message = serializers.CharField()


class InvoiceSerializer(serializers.Serializer[Any]):
    """An invoice of one billing period; amounts are integers in minor units of `currency`.

    If the invoice is held, `held_reasons` says why.
    """

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
        help_text="The part of the total that credit settles. 0 before the invoice is issued: "
        "credit is used then. If it is negative, the invoice adds to the credit."
    )
    payable_minor = serializers.IntegerField(
        help_text="Total minus credit; never negative once issued."
    )
    outstanding_minor = serializers.SerializerMethodField(help_text="What is still to pay.")
    issued_at = serializers.DateTimeField(allow_null=True)
    due_at = serializers.DateTimeField(allow_null=True)
    held_reasons = HeldReasonSerializer(many=True)

    def get_outstanding_minor(self, row: Invoice) -> int:
        """Return what is due, which rows of lists have already."""
        known: int | None = getattr(row, "known_due_minor", None)
        return receiving.due_minor(row) if known is None else known


class InvoiceDetailSerializer(InvoiceSerializer):
    """An invoice with its document: seller, buyer, lines, taxes, usage, quality, manifest.

    `document` is null until the period has been closed successfully.
    """

    replaces = serializers.CharField(
        allow_null=True, help_text="Number of the voided invoice in whose place this one is."
    )
    replaced_by = serializers.CharField(
        allow_null=True, help_text="Number of the invoice in place of this voided one."
    )
    document = serializers.DictField(allow_null=True)


class PreviewSerializer(serializers.Serializer[Any]):
    """The cost of the running period so far, priced as an invoice, in minor units.

    Usage is known up to `as_of`, which is null before any usage was computed.
    """

    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()
    as_of = serializers.DateTimeField(allow_null=True)
    total_minor = serializers.IntegerField()
    credit_minor = serializers.IntegerField(
        help_text="All credit that can pay the invoice of this period: from earlier invoices, and "
        "granted credit that does not expire before the end of the period."
    )
    document = serializers.DictField()


class InvoicesView(TenantView):
    """Lists the invoices of a tenant (GET)."""

    needs = {"GET": Permission.VIEW_BILLING}

    @schema.describe(
        "List invoices",
        response=schema.page_of(InvoiceSerializer),
        parameters=_LISTING.parameters,
    )
    def get(self, request: Request, tenant: str) -> Response:
        """Return the invoices of the tenant in every state."""
        # Document and manifest are large and not shown in a list.
        rows = Invoice.objects.filter(tenant=self.tenant).defer("document", "manifest")
        page = _LISTING.page(request, receiving.with_due(rows))
        return Response(pagination.body(page, InvoiceSerializer))


class PreviewView(TenantView):
    """Prices the running period of a tenant (GET)."""

    needs = {"GET": Permission.VIEW_BILLING}

    @schema.describe("Preview the running period", response=PreviewSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Return what the running period costs so far, as an invoice. Nothing is stored.

        The fee and the included amounts are those of the whole period.
        """
        # Not through the serializer, which only documents the answer: a preview is no row.
        preview = previewing.preview(self.tenant)
        return Response(
            {
                "starts_at": preview.period.starts_at,
                "ends_at": preview.period.ends_at,
                "as_of": preview.as_of,
                "total_minor": preview.total_minor,
                "credit_minor": preview.credit_minor,
                "document": preview.document,
            }
        )


class InvoiceView(TenantView):
    """Shows one invoice of a tenant (GET)."""

    needs = {"GET": Permission.VIEW_BILLING}

    @schema.describe("Get an invoice", response=InvoiceDetailSerializer)
    def get(self, request: Request, tenant: str, invoice: str) -> Response:
        """Return the invoice of this number or id, with its document.

        `document` is null until the period has been closed successfully.
        """
        row = get_invoice(self.tenant, invoice)
        return Response({**InvoiceSerializer(row).data, **detail_of(row)})


def file_view(kind: InvoiceFormat, info: FormatInfo) -> type[TenantView]:
    """Return a new view class, whose GET answers with an invoice as a file of the format ``kind``.

    ``info`` is the row of this format in the registry.
    """

    def get(self: TenantView, request: Request, tenant: str, invoice: str) -> HttpResponse:
        return invoice_files.of_invoice(get_invoice(self.tenant, invoice), kind)

    # One class for each format, so that each is an operation of its own in the OpenAPI document,
    # with its media type.
    get.__doc__ = info.description
    described = schema.describe(
        info.summary, response=file_response(kind), operation_id=info.operation
    )
    return type(
        f"Invoice{kind.name.title()}View",
        (TenantView,),
        {
            "__doc__": f"One invoice as {info.title}.",
            "needs": {"GET": Permission.VIEW_BILLING},
            "get": described(get),
        },
    )


def file_response(kind: InvoiceFormat) -> dict[tuple[int, str], OpenApiTypes]:
    """Return what ``schema.describe`` needs to describe an invoice as a file of ``kind``."""
    info = INFO[kind]
    type_ = OpenApiTypes.BINARY if not info.is_text else OpenApiTypes.STR
    # Generated clients parse the answer if the OpenAPI document says that it is an object.
    if kind is InvoiceFormat.JSON:
        type_ = OpenApiTypes.OBJECT
    return {(200, info.media_type): type_}


# The longest suffix first: a path that ends with .facturx.pdf also ends with .pdf.
FILE_VIEWS = {
    kind: file_view(kind, INFO[kind]) for kind in sorted(INFO, key=lambda kind: -len(kind))
}


WITH_FILES = OpenApiParameter(
    "files",
    str,
    enum=["true", "false"],
    description="`true`: whole files of samples are compared with the hashes that were recorded "
    "when they landed, too. The operation has the kind `invoice.verify_files`.",
)


class InvoiceVerifyView(TenantView):
    """Begins to verify one invoice of a tenant (POST)."""

    needs = {"POST": Permission.VIEW_BILLING}

    @schema.describe(
        "Verify an invoice",
        response=OperationSerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY, WITH_FILES],
    )
    @idempotent
    def post(self, request: Request, tenant: str, invoice: str) -> Response:
        """Begin to compute the invoice again from the samples and prices that it was made from.

        The operation succeeds if each place where the figures stand is the same: samples, gold, its
        copy, prices, subscriptions, document, row, lines and ledger. Otherwise it fails, and its
        steps name what differs in each place. While a verification of the invoice runs, a second
        request returns its operation.
        """
        row, files = get_invoice(self.tenant, invoice), with_files(request)
        operation = invoice_verification.request_verify(invoice=row, by=self.actor, files=files)
        return accepted(operation, self.tenant)


def with_files(request: Request) -> bool:
    """Return whether the query parameter ``files`` is ``true``; False without the parameter.

    Raises:
        Invalid: the value is neither ``true`` nor ``false``.
    """
    files = request.query_params.get("files", "false")
    if files not in ("true", "false"):
        raise Invalid(
            "`files` must be true or false: it decides whether whole files are checked.",
            code="request.invalid",
            files=["One of: true, false."],
        )
    return files == "true"


def get_invoice(tenant: Tenant, name: str) -> Invoice:
    """Return the tenant's invoice whose number or id is ``name``.

    Raises:
        Missing: the tenant has no such invoice.
    """
    return find_in(Invoice.objects.filter(tenant=tenant), name)


def find_in(rows: QuerySet[Invoice], name: str) -> Invoice:
    """Return the one of ``rows`` whose number or id is ``name``.

    Raises:
        Missing: none of them has this number or id.
    """
    # The id too, because an invoice has a number only after it is issued.
    row = rows.filter(Q(number=name) | Q(pk=name)).first()
    if row is None:
        raise Missing("There is no such invoice; list them to see their numbers.")
    return row


def detail_of(invoice: Invoice) -> dict[str, Any]:
    """Return what the detail of ``invoice`` has besides the fields of a list's row."""
    document = invoice_files.document_of(invoice) if invoice.document else None
    replacement = replacing.replacement_of(invoice)
    return {
        "replaces": invoice.replaces.number if invoice.replaces else None,
        "replaced_by": replacement.number if replacement else None,
        "document": document,
    }
