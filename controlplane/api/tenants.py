"""/tenants: the caller's tenants, their billing details and their plan."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import authentication, quotas, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import StrictSerializer
from controlplane.api.sessions import MembershipSerializer, places_of
from controlplane.api.views import ApiView, TenantView, person
from plans.models import PlanSubscription
from tenants.actions import plan_subscriptions, tenants
from tenants.models import Tenant
from tenants.permissions import Permission


class TenantCreateSerializer(StrictSerializer):
    """A further tenant of a person who has an account."""

    organisation = serializers.CharField(max_length=200)
    plan = serializers.CharField(max_length=63, required=False, default="")


class TenantSerializer(serializers.Serializer[Any]):
    """A customer."""

    id = serializers.CharField()
    slug = serializers.CharField()
    name = serializers.CharField()
    created_at = serializers.DateTimeField()


class BillingDetailsSerializer(StrictSerializer):
    """Who pays; an invoice is held while one of the first four is empty."""

    billing_name = serializers.CharField(max_length=200, allow_blank=True)
    billing_email = serializers.EmailField(allow_blank=True)
    billing_address = serializers.CharField(max_length=2000, allow_blank=True)
    billing_country = serializers.RegexField(
        r"^([A-Z]{2})?$", allow_blank=True, help_text="ISO 3166-1 alpha-2."
    )
    tax_id = serializers.CharField(max_length=60, allow_blank=True, required=False, default="")
    billing_time_zone = serializers.CharField(max_length=60, required=False, default="UTC")


class PlanChoiceSerializer(StrictSerializer):
    """The plan a tenant subscribes to."""

    plan = serializers.CharField(max_length=63)


class PlanSubscriptionSerializer(serializers.Serializer[Any]):
    """The commitment of a tenant to a version of a plan."""

    plan = serializers.CharField(source="plan.key")
    version = serializers.IntegerField(source="plan.version")
    title = serializers.CharField(source="plan.title")
    starts_at = serializers.DateTimeField()


class TenantsView(ApiView):
    """The caller's tenants."""

    @schema.describe("List my tenants", response=MembershipSerializer(many=True))
    def get(self, request: Request) -> Response:
        """Every tenant the caller may work in, with the role there. Not paged: they are few."""
        return Response(places_of(authentication.caller(request)))

    @schema.describe(
        "Create a tenant",
        request=TenantCreateSerializer,
        response=TenantSerializer,
        status=201,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Make a further tenant with the caller as its owner."""
        asked = TenantCreateSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        values = asked.validated_data
        signed_up = tenants.found_tenant(
            user=person(request),
            organisation=values["organisation"],
            plan_key=values["plan"],
            by=self.actor,
        )
        return Response(TenantSerializer(signed_up.tenant).data, status=201)


class TenantDetailView(TenantView):
    """One tenant."""

    needs = {"GET": Permission.VIEW}

    @schema.describe("Get a tenant", response=TenantSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Its plan and limits are resources of their own."""
        return Response(TenantSerializer(self.tenant).data)


class BillingDetailsView(TenantView):
    """Who pays."""

    needs = {"GET": Permission.VIEW_BILLING, "PUT": Permission.MANAGE_BILLING}

    @schema.describe("Get billing details", response=BillingDetailsSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """What the next invoice will name as its buyer."""
        return Response(BillingDetailsSerializer(self.tenant).data)

    @schema.describe(
        "Replace billing details",
        request=BillingDetailsSerializer,
        response=BillingDetailsSerializer,
    )
    def put(self, request: Request, tenant: str) -> Response:
        """All of them; what is left out becomes empty."""
        asked = BillingDetailsSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        details = tenants.BillingDetails(**asked.validated_data)
        row = tenants.update_billing(tenant=self.tenant, details=details, by=self.actor)
        return Response(BillingDetailsSerializer(row).data)


class PlanSubscriptionView(TenantView):
    """The plan."""

    needs = {"GET": Permission.VIEW, "PUT": Permission.MANAGE_BILLING}

    @schema.describe("Get the plan subscription", response=PlanSubscriptionSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """The commitment in force."""
        return Response(PlanSubscriptionSerializer(_subscription(self.tenant)).data)

    @schema.describe(
        "Change the plan", request=PlanChoiceSerializer, response=PlanSubscriptionSerializer
    )
    def put(self, request: Request, tenant: str) -> Response:
        """From now on; refused when what exists does not fit the other plan."""
        asked = PlanChoiceSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        plan_subscriptions.change(
            tenant=self.tenant, plan_key=asked.validated_data["plan"], by=self.actor
        )
        return Response(PlanSubscriptionSerializer(_subscription(self.tenant)).data)


class QuotasView(TenantView):
    """The limits."""

    needs = {"GET": Permission.VIEW}

    @schema.describe("List quotas", response=quotas.QuotaSerializer(many=True))
    def get(self, request: Request, tenant: str) -> Response:
        """Every limited resource: how much is allowed and how much is used."""
        return Response(quotas.rows(self.tenant))


def _subscription(tenant: Tenant) -> PlanSubscription:
    return PlanSubscription.objects.select_related("plan").get(tenant=tenant, ends_at__isnull=True)
