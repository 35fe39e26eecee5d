"""/staff/payments and /staff/overdue: all payments, refunds, events of providers, and dunning."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import listing, pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.instants import InstantField
from controlplane.api.payments import WITH_RETURNS, RefundSerializer, TenantPaymentSerializer
from controlplane.api.serializers import StrictSerializer
from controlplane.api.views import StaffView
from controlplane.core.errors import Missing
from plans.invoicing import refunding
from plans.models import Payment, PaymentEvent, Refund
from plans.payments import dunning, refunds
from tenants import queries

_PAYMENTS = listing.Listing(
    sorts={"received_on": ("received_on", "id"), "amount_minor": ("amount_minor", "id")},
    default="-received_on",
    filters=(
        listing.Filter("tenant", "Payments of this tenant, by slug.", ("invoice__tenant__slug",)),
        listing.Filter("source", "Payments from this source, such as stripe.", ("source",)),
    ),
)
_EVENTS = listing.Listing(
    sorts={"received_at": ("received_at", "id")},
    default="-received_at",
    filters=(
        listing.choice("state", "Events in this state.", PaymentEvent.State.values),
        listing.Filter("provider", "Events of this provider.", ("provider",)),
    ),
)
_OVERDUE = listing.Listing(
    sorts={"due_at": ("due_at", "id"), "outstanding_minor": ("outstanding_minor", "id")},
    default="due_at",
    filters=(listing.Filter("tenant", "Invoices of the tenant of this slug.", ("tenant__slug",)),),
)


class StaffPaymentSerializer(TenantPaymentSerializer):
    """A payment of any tenant; `tenant` is the slug, `invoice_id` what the actions take."""

    tenant = serializers.CharField(source="invoice.tenant.slug")
    invoice_id = serializers.CharField()
    recorded_by = serializers.CharField()


class RefundCreateSerializer(StrictSerializer):
    """A refund: the part of a payment that goes back, in minor units of its currency.

    The tenant's credit pays the refund first. A refund above the credit is refused, unless
    `reopens` is true: then the rest is due again. `reference` is that of the bank, if staff sent
    the money back. Without it the provider of the payment sends the money.
    """

    amount_minor = serializers.IntegerField(min_value=1, max_value=10**15)
    reason = serializers.CharField(max_length=500)
    reopens = serializers.BooleanField(required=False, default=False)
    reference = serializers.CharField(max_length=120, required=False, default="", allow_blank=True)


class PaymentEventSerializer(serializers.Serializer[Any]):
    """An event that a payment provider reported; `message` says why it was refused."""

    id = serializers.CharField()
    provider = serializers.CharField()
    event_id = serializers.CharField()
    kind = serializers.CharField()
    state = serializers.ChoiceField(PaymentEvent.State.choices)
    message = serializers.CharField(allow_blank=True)
    invoice = serializers.CharField(source="invoice_id", allow_null=True)
    occurred_at = serializers.DateTimeField()
    received_at = serializers.DateTimeField()


class OverdueSerializer(serializers.Serializer[Any]):
    """An unpaid invoice whose day by which to pay is over.

    `limit_at` and `suspend_at` are when sending stops and connections are refused, as the tenant
    got notice of it. Null: never, or the tenant got no notice yet. `pause` is why dunning is
    paused.
    """

    tenant = serializers.CharField(source="tenant.slug")
    invoice = serializers.CharField(source="id")
    number = serializers.CharField()
    currency = serializers.CharField()
    outstanding_minor = serializers.IntegerField()
    due_at = serializers.DateTimeField()
    noticed_at = serializers.DateTimeField(allow_null=True)
    limit_at = serializers.DateTimeField(allow_null=True)
    suspend_at = serializers.DateTimeField(allow_null=True)
    stage = serializers.CharField(source="tenant.unpaid_stage", allow_blank=True)
    pause = serializers.CharField(allow_null=True)


class PauseSerializer(StrictSerializer):
    """Why dunning of a tenant pauses; the audit log shows it. Without `until`, staff resume it."""

    reason = serializers.CharField(max_length=500)
    until = InstantField(required=False, allow_null=True, default=None)


class PausedSerializer(serializers.Serializer[Any]):
    """A pause of dunning of one tenant."""

    reason = serializers.CharField()
    paused_by = serializers.CharField()
    paused_at = serializers.DateTimeField()
    until = serializers.DateTimeField(allow_null=True)


class StaffPaymentsView(StaffView):
    """Lists the payments of all tenants (GET)."""

    @schema.describe(
        "List all payments",
        response=schema.page_of(StaffPaymentSerializer),
        parameters=_PAYMENTS.parameters,
    )
    def get(self, request: Request) -> Response:
        """Return the payments of all tenants, with refunds and disputes."""
        rows = Payment.objects.select_related("invoice__tenant").prefetch_related(*WITH_RETURNS)
        # Large columns of the invoices, of which the list shows number and currency only.
        rows = rows.defer("invoice__document", "invoice__manifest", "invoice__quality")
        return Response(pagination.body(_PAYMENTS.page(request, rows), StaffPaymentSerializer))


class StaffRefundsView(StaffView):
    """Refunds a payment (POST)."""

    @schema.describe(
        "Refund a payment",
        request=RefundCreateSerializer,
        response=RefundSerializer,
        status=201,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    def post(self, request: Request, payment: int) -> Response:
        """Send money of the payment with this id back, and book it.

        While the provider is away the refund is `requested`, and it is sent later.
        """
        # The booking commits with the key before the provider is called. So a request that is
        # repeated after a crash finds this refund, whose id is the key of the provider.
        answer = self._book(request, payment)
        row = Refund.objects.select_related("payment", "invoice").get(pk=answer.data["id"])
        answer.data = RefundSerializer(refunds.finish(row, by=self.actor, now=timezone.now())).data
        return answer

    @idempotent
    def _book(self, request: Request, payment: int) -> Response:
        serializer = RefundCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        row = refunds.book(
            payment=find_payment(payment),
            wanted=refunding.Wanted(**serializer.validated_data),
            by=self.actor,
            now=timezone.now(),
        )
        return Response(RefundSerializer(row).data, status=201)


class StaffPaymentEventsView(StaffView):
    """Lists the events of payment providers (GET)."""

    @schema.describe(
        "List payment events",
        response=schema.page_of(PaymentEventSerializer),
        parameters=_EVENTS.parameters,
    )
    def get(self, request: Request) -> Response:
        """Return what providers reported. Refused events need a look by staff."""
        page = _EVENTS.page(request, PaymentEvent.objects.all())
        return Response(pagination.body(page, PaymentEventSerializer))


class OverdueView(StaffView):
    """Lists the overdue invoices of all tenants (GET)."""

    @schema.describe(
        "List overdue invoices",
        response=schema.page_of(OverdueSerializer),
        parameters=_OVERDUE.parameters,
    )
    def get(self, request: Request) -> Response:
        """Return the overdue invoices of all tenants, and what happens to each tenant when."""
        return Response(
            pagination.body(
                _OVERDUE.page(request, dunning.overdue(timezone.now())), OverdueSerializer
            )
        )


class PauseDunningView(StaffView):
    """Pauses dunning of a tenant (POST)."""

    @schema.describe(
        "Pause dunning",
        request=PauseSerializer,
        response=PausedSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str) -> Response:
        """Pause dunning: no reminders, and what unpaid invoices have stopped works again.

        A second pause replaces the first.
        """
        serializer = PauseSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        row = dunning.pause(
            tenant=queries.get_tenant(tenant),
            by=self.actor,
            now=timezone.now(),
            **serializer.validated_data,
        )
        return Response(PausedSerializer(row).data)


class ResumeDunningView(StaffView):
    """Ends the pause of dunning of a tenant (POST)."""

    @schema.describe("Resume dunning", status=204, parameters=[schema.IDEMPOTENCY_KEY])
    @idempotent
    def post(self, request: Request, tenant: str) -> Response:
        """End the pause. The tenant gets notice again, and nothing is stopped before it ends."""
        row = queries.get_tenant(tenant)
        dunning.resume(tenant=row, by=self.actor, now=timezone.now())
        return Response(status=204)


def find_payment(pk: int) -> Payment:
    """Return the payment with the id ``pk``, of any tenant.

    Raises:
        Missing: there is none.
    """
    row = Payment.objects.select_related("invoice__tenant").filter(pk=pk).first()
    if row is None:
        raise Missing("There is no such payment.", code="payment.missing")
    return row
