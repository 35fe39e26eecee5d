"""/staff/invoices: staff list, read, close, approve and issue invoices, and record payments."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import listing, pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.invoices import (
    InvoiceDetailSerializer,
    InvoiceSerializer,
    detail_of,
    find_in,
)
from controlplane.api.serializers import OperationSerializer, StrictSerializer
from controlplane.api.views import StaffView, accepted
from plans.invoicing import invoice_closing, issuing, receiving, releasing
from plans.models import Invoice, Payment
from tenants import queries

# The id too: periods of several tenants begin at the same instant.
_LISTING = listing.Listing(
    sorts={"starts_at": ("starts_at", "id"), "total_minor": ("total_minor", "id")},
    default="-starts_at",
    filters=(
        listing.choice("state", "Invoices in this state.", Invoice.State.values),
        listing.Filter("tenant", "Invoices of the tenant with this slug.", ("tenant__slug",)),
    ),
)
_PAYMENTS = listing.Listing(
    sorts={"recorded": ("id",), "received_on": ("received_on", "id")}, default="recorded"
)


class CloseNowSerializer(StrictSerializer):
    """The slug of the tenant whose running billing period is to be closed."""

    tenant = serializers.CharField(max_length=63)


class ApproveSerializer(StrictSerializer):
    """An optional reason for the approval, which the audit log shows."""

    reason = serializers.CharField(max_length=1000, required=False, default="")


class ReleaseSerializer(StrictSerializer):
    """Why the missing samples cannot be had any more. The invoice and the audit log state it."""

    reason = serializers.CharField(max_length=releasing.REASON_LENGTH)


class PaymentCreateSerializer(StrictSerializer):
    """A received payment, in minor units of the invoice's currency.

    `source` and `reference` together identify the payment. With `surplus_to_credit`, what exceeds
    the amount due becomes credit of the tenant.
    """

    amount_minor = serializers.IntegerField(min_value=1, max_value=10**15)
    source = serializers.CharField(  # type: ignore[assignment]  # Field has an attribute of this name
        max_length=40, required=False, default="manual"
    )
    reference = serializers.CharField(max_length=120)
    received_on = serializers.DateField()
    surplus_to_credit = serializers.BooleanField(required=False, default=False)


class PaymentSerializer(serializers.Serializer[Any]):
    """A recorded payment of an invoice, in minor units of `currency`, that of the invoice."""

    source = serializers.CharField()  # type: ignore[assignment]  # as above
    reference = serializers.CharField()
    amount_minor = serializers.IntegerField()
    credit_minor = serializers.IntegerField(
        help_text="The part that exceeded what was due, and became credit of the tenant."
    )
    currency = serializers.CharField(source="invoice.currency")
    received_on = serializers.DateField()
    recorded_by = serializers.CharField()
    invoice = serializers.CharField(source="invoice_id")


class StaffInvoiceSerializer(InvoiceSerializer):
    """An invoice of any tenant; `tenant` is the slug."""

    tenant = serializers.CharField(source="tenant.slug")


class StaffInvoiceDetailSerializer(InvoiceDetailSerializer):
    """An invoice of any tenant with its document; `tenant` is the slug.

    `document` is null until the period has been closed successfully.
    """

    tenant = serializers.CharField(source="tenant.slug")


class StaffInvoicesView(StaffView):
    """Lists the invoices of all tenants (GET)."""

    @schema.describe(
        "List all invoices",
        response=schema.page_of(StaffInvoiceSerializer),
        parameters=_LISTING.parameters,
    )
    def get(self, request: Request) -> Response:
        """Return the invoices of all tenants, or those that the filters select."""
        rows = Invoice.objects.select_related("tenant")
        rows = rows.defer("document", "manifest")  # large, and not in a list
        page = _LISTING.page(request, receiving.with_due(rows))
        return Response(pagination.body(page, StaffInvoiceSerializer))


class StaffInvoiceView(StaffView):
    """Shows one invoice of any tenant (GET)."""

    @schema.describe("Get an invoice as staff", response=StaffInvoiceDetailSerializer)
    def get(self, request: Request, invoice: str) -> Response:
        """Return the invoice of this number or id, with its document.

        `document` is null until the period has been closed successfully.
        """
        row = find_invoice(invoice)
        return Response({**StaffInvoiceSerializer(row).data, **detail_of(row)})


class CloseNowView(StaffView):
    """Begins to close a tenant's running period before its end (POST)."""

    @schema.describe(
        "Close a tenant's running period now",
        request=CloseNowSerializer,
        response=OperationSerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """End the tenant's billing period at this instant and begin to close it at once.

        There is no grace period. The next period begins at this instant. `subject_id` of the
        operation is the id of the invoice, which becomes a draft or is held.
        """
        serializer = CloseNowSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        tenant = queries.get_tenant(serializer.validated_data["tenant"])
        _, operation = invoice_closing.close_now(tenant=tenant, by=self.actor)
        return accepted(operation, tenant)


class CloseAgainView(StaffView):
    """Begins to close the period of a held or draft invoice again (POST)."""

    @schema.describe(
        "Close a held or draft invoice again",
        response=OperationSerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, invoice: str) -> Response:
        """Begin to validate and price the period of the invoice again, without the grace period.

        Use it for a held invoice after its cause was corrected, or for a draft that must be made
        again. `invoice` is the id. An approved or issued invoice is refused (409).
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


class ReleaseView(StaffView):
    """Releases a held invoice whose samples are gone for good (POST)."""

    @schema.describe(
        "Release a held invoice",
        request=ReleaseSerializer,
        response=OperationSerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, invoice: str) -> Response:
        """Accept that samples of the held invoice with this id are missing, and close it again.

        Accepts the reasons `samples.hole_at_end`, `samples.fall` and `samples.none` that the
        invoice has now. Any other reason holds the invoice again. What was not seen is not billed.
        The invoice states the reason that you give. An invoice without such a reason is refused
        (409).
        """
        serializer = ReleaseSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        row, operation = releasing.release(
            invoice=find_invoice(invoice),
            reason=serializer.validated_data["reason"],
            by=self.actor,
        )
        return accepted(operation, row.tenant)


class ApproveView(StaffView):
    """Approves a draft invoice (POST)."""

    @schema.describe(
        "Approve an invoice",
        request=ApproveSerializer,
        response=StaffInvoiceSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, invoice: str) -> Response:
        """Approve the draft invoice with this id. Approving again changes nothing.

        The request is refused (409) while the previous invoice of the same month is not approved.
        """
        serializer = ApproveSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        reason = serializer.validated_data["reason"]
        row = issuing.approve(invoice=find_invoice(invoice), by=self.actor, reason=reason)
        return Response(StaffInvoiceSerializer(row).data)


class IssueView(StaffView):
    """Issues an approved invoice (POST)."""

    @schema.describe(
        "Issue an invoice",
        response=StaffInvoiceSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, invoice: str) -> Response:
        """Give the approved invoice with this id its number, and post it to the ledger.

        Credit of the tenant settles as much of the total as it can. Issuing again changes nothing.
        """
        row = issuing.issue(invoice=find_invoice(invoice), by=self.actor)
        return Response(StaffInvoiceSerializer(row).data)


class PaymentsView(StaffView):
    """Lists the payments of an invoice (GET) and records one (POST)."""

    @schema.describe(
        "List payments",
        response=schema.page_of(PaymentSerializer),
        parameters=_PAYMENTS.parameters,
    )
    def get(self, request: Request, invoice: str) -> Response:
        """Return the payments of the invoice of this number or id."""
        page = _PAYMENTS.page(request, find_invoice(invoice).payments.all())
        return Response(pagination.body(page, PaymentSerializer))

    @schema.describe(
        "Record a payment",
        request=PaymentCreateSerializer,
        response=PaymentSerializer,
        status=201,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, invoice: str) -> Response:
        """Record a payment of the issued invoice of this number or id.

        The invoice becomes paid or partly paid. The same source and reference again is the same
        payment, and changes nothing. More than what is due is refused (409), unless the rest
        becomes credit.
        """
        serializer = PaymentCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = dict(serializer.validated_data)
        surplus_to_credit = values.pop("surplus_to_credit")
        row = receiving.receive(
            invoice=find_invoice(invoice),
            payment=Payment(**values),
            by=self.actor,
            surplus_to_credit=surplus_to_credit,
        )
        return Response(PaymentSerializer(row).data, status=201)


def find_invoice(name: str) -> Invoice:
    """Return the invoice whose number or id is ``name``, of any tenant.

    Raises:
        Missing: there is no invoice with this number or id.
    """
    # A number is unique among the invoices of all tenants.
    return find_in(Invoice.objects.select_related("tenant"), name)
