"""/tenants: the caller's tenants, their billing details and their plan."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import authentication, quotas, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import StrictSerializer
from controlplane.api.sessions import MembershipSerializer, memberships_of
from controlplane.api.views import ApiView, TenantView, person
from plans.models import PlanSubscription
from tenants import account_rules
from tenants.actions import plan_subscriptions, tenants
from tenants.permissions import Permission


class TenantCreateSerializer(StrictSerializer):
    """Another tenant of a person who has an account."""

    organization = serializers.CharField(max_length=200)
    plan = serializers.CharField(max_length=63, required=False, default="")


class TenantSerializer(serializers.Serializer[Any]):
    """A tenant."""

    id = serializers.CharField()
    slug = serializers.CharField()
    name = serializers.CharField()
    created_at = serializers.DateTimeField()


class BillingDetailsSerializer(StrictSerializer):
    """The buyer on invoices. An invoice is held while one of the first four fields is empty."""

    billing_name = serializers.CharField(max_length=200, allow_blank=True)
    billing_email = serializers.EmailField(allow_blank=True)
    billing_address = serializers.CharField(max_length=2000, allow_blank=True)
    # The details may be incomplete until the first invoice, so this may be empty too.
    billing_country = serializers.RegexField(
        r"^([A-Z]{2})?$", allow_blank=True, help_text="ISO 3166-1 alpha-2."
    )
    tax_id = serializers.CharField(max_length=60, allow_blank=True, required=False, default="")
    billing_time_zone = serializers.CharField(max_length=60, required=False, default="UTC")


class PlanChoiceSerializer(StrictSerializer):
    """The plan to subscribe to."""

    plan = serializers.CharField(max_length=63)


class PlanSubscriptionSerializer(serializers.Serializer[Any]):
    """The subscription of a tenant to one version of a plan."""

    plan = serializers.CharField(source="plan.key")
    version = serializers.IntegerField(source="plan.version")
    title = serializers.CharField(source="plan.title")
    starts_at = serializers.DateTimeField()


class TenantsView(ApiView):
    """The caller's tenants."""

    @schema.describe("List my tenants", response=MembershipSerializer(many=True))
    def get(self, request: Request) -> Response:
        """Return the caller's tenants and its role in each. The list has no pages."""
        return Response(memberships_of(authentication.caller(request)))

    @schema.describe(
        "Create a tenant",
        request=TenantCreateSerializer,
        response=TenantSerializer,
        status=201,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Create another tenant, with the caller as its owner."""
        serializer = TenantCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data
        # Only a person: a token belongs to one tenant and could not use the new one.
        signed_up = tenants.found_tenant(
            user=person(request),
            organization=values["organization"],
            plan_key=values["plan"],
            by=self.actor,
        )
        return Response(TenantSerializer(signed_up.tenant).data, status=201)


class TenantDetailView(TenantView):
    """One tenant."""

    needs = {"GET": Permission.VIEW}

    @schema.describe("Get a tenant", response=TenantSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Return the tenant. Its plan and its limits are separate resources."""
        return Response(TenantSerializer(self.tenant).data)


class BillingDetailsView(TenantView):
    """The billing details of a tenant."""

    needs = {"GET": Permission.VIEW_BILLING, "PUT": Permission.MANAGE_BILLING}

    @schema.describe("Get billing details", response=BillingDetailsSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Return the details that the next invoice uses for the buyer."""
        return Response(BillingDetailsSerializer(self.tenant).data)

    @schema.describe(
        "Replace billing details",
        request=BillingDetailsSerializer,
        response=BillingDetailsSerializer,
    )
    def put(self, request: Request, tenant: str) -> Response:
        """Replace all details. An absent tax id becomes empty, and an absent time zone UTC."""
        serializer = BillingDetailsSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        details = account_rules.BillingDetails(**serializer.validated_data)
        row = tenants.update_billing(tenant=self.tenant, details=details, by=self.actor)
        return Response(BillingDetailsSerializer(row).data)


class PlanSubscriptionView(TenantView):
    """The plan subscription of a tenant."""

    needs = {"GET": Permission.VIEW, "PUT": Permission.MANAGE_BILLING}

    @schema.describe("Get the plan subscription", response=PlanSubscriptionSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Return the subscription that is open now."""
        return self.shown()

    @schema.describe(
        "Change the plan", request=PlanChoiceSerializer, response=PlanSubscriptionSerializer
    )
    def put(self, request: Request, tenant: str) -> Response:
        """Change the plan from now on. Refused if the tenant's resources do not fit the plan."""
        serializer = PlanChoiceSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        plan_subscriptions.change(
            tenant=self.tenant, plan_key=serializer.validated_data["plan"], by=self.actor
        )
        return self.shown()

    def shown(self) -> Response:
        """Answer with the open subscription; a tenant always has exactly one."""
        found = PlanSubscription.objects.select_related("plan")
        row = found.get(tenant=self.tenant, ends_at__isnull=True)
        return Response(PlanSubscriptionSerializer(row).data)


class QuotasView(TenantView):
    """The limits of a tenant."""

    needs = {"GET": Permission.VIEW}

    @schema.describe("List quotas", response=quotas.QuotaSerializer(many=True))
    def get(self, request: Request, tenant: str) -> Response:
        """Return every limited resource: how much is allowed and how much is used."""
        return Response(quotas.rows(self.tenant))
