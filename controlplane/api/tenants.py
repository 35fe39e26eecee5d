"""/tenants: the caller's tenants, with their billing details, plan subscription and quotas."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import authentication, etags, pagination, quotas, schema, selling
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import StrictSerializer
from controlplane.api.sessions import MembershipSerializer, memberships_of
from controlplane.api.views import ApiView, TenantView, person
from plans.catalog import publishing
from plans.models import PlanSubscription
from tenants import account_rules, queries
from tenants.actions import coming_versions, plan_subscriptions, plan_versions, tenants
from tenants.permissions import Permission


class TenantCreateSerializer(StrictSerializer):
    """A tenant to create for a person who has an account.

    An empty or absent `plan` chooses the plan with the lowest monthly fee. Without `legal_entity`
    and `currency` the main seller sells to the tenant, in its main currency.
    """

    organization = serializers.CharField(max_length=200)
    plan = serializers.CharField(max_length=63, required=False, default="")
    legal_entity = serializers.CharField(max_length=63, required=False, default="")
    currency = serializers.CharField(max_length=3, required=False, default="")


class TenantSerializer(serializers.Serializer[Any]):
    """A tenant; paths name it by its `slug`."""

    id = serializers.CharField()
    slug = serializers.CharField()
    name = serializers.CharField()
    created_at = serializers.DateTimeField()


class BillingDetailsSerializer(StrictSerializer):
    """The buyer on invoices. An invoice is held while one of the first four fields is empty.

    Billing months begin at midnight in `billing_time_zone`, an IANA name.
    """

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
    """The key of the plan to subscribe to."""

    plan = serializers.CharField(max_length=63)
    follows = serializers.BooleanField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Whether the subscription moves to new versions; null: as it is.",
    )


class ComingVersionSerializer(serializers.Serializer[Any]):
    """A newer version of a tenant's plan, which new subscriptions get from `starts_at` on.

    `changes` are sentences that compare it with the version that the tenant has. `moves_at` is when
    the tenant moves to it; null: it stays, or moves to another version first.
    """

    starts_at = serializers.DateTimeField()
    changes = serializers.ListField(child=serializers.CharField())
    moves_at = serializers.DateTimeField(allow_null=True)


class PlanSubscriptionSerializer(serializers.Serializer[Any]):
    """A tenant's subscription to one version of a plan; `plan` is the key of the plan.

    `space_plans` and `address_plans` are the keys of the plans that it includes. `currency` is that
    of the tenant's invoices. A subscription that `follows` its plan moves to new versions of it, at
    `moves_at`; null: no move is planned.
    """

    plan = serializers.CharField(source="plan.key")
    version = serializers.IntegerField(source="plan.version")
    title = serializers.CharField(source="plan.title")
    starts_at = serializers.DateTimeField()
    follows = serializers.BooleanField()
    moves_at = serializers.DateTimeField(allow_null=True)
    currency = serializers.SerializerMethodField()
    space_plans = serializers.SerializerMethodField()
    address_plans = serializers.SerializerMethodField()
    coming_versions = serializers.SerializerMethodField()

    def get_currency(self, row: PlanSubscription) -> str:
        """Return the currency of the tenant's invoices."""
        return publishing.sold_plan(row).currency

    def get_space_plans(self, row: PlanSubscription) -> list[str]:
        """Return the keys of the space plans that the tenant may use."""
        return list(publishing.plan_definition(row.plan).space_plans)

    def get_address_plans(self, row: PlanSubscription) -> list[str]:
        """Return the keys of the address plans that the tenant may use."""
        return list(publishing.plan_definition(row.plan).address_plans)

    @extend_schema_field(ComingVersionSerializer(many=True))
    def get_coming_versions(self, row: PlanSubscription) -> list[Any]:
        """Return the newer versions of the plan that are on sale or scheduled."""
        return list(ComingVersionSerializer(coming_versions.of(row), many=True).data)


class TenantsView(ApiView):
    """Lists the caller's tenants (GET) and creates one (POST)."""

    @schema.describe("List my tenants", response=schema.page_of(MembershipSerializer))
    def get(self, request: Request) -> Response:
        """Return the caller's tenants and the caller's role in each, on a single page."""
        return Response(pagination.whole(memberships_of(authentication.caller(request))))

    @schema.describe(
        "Create a tenant",
        request=TenantCreateSerializer,
        response=TenantSerializer,
        status=201,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Create another tenant, with the caller as its owner. A tenant's token cannot do this."""
        serializer = TenantCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data
        # Only a person: a token belongs to one tenant and could not use the new one.
        signed_up = tenants.found_tenant(
            user=person(request),
            organization=values["organization"],
            plan_key=values["plan"],
            offer=selling.wanted(values),
            by=self.actor,
        )
        return Response(TenantSerializer(signed_up.tenant).data, status=201)


class TenantDetailView(TenantView):
    """Shows one tenant (GET)."""

    needs = {"GET": Permission.VIEW}

    @schema.describe("Get a tenant", response=TenantSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Return id, slug and name of the tenant. Plan and limits are separate resources."""
        return Response(TenantSerializer(self.tenant).data)


class BillingDetailsView(TenantView):
    """Shows the billing details of a tenant (GET) and replaces them (PUT)."""

    needs = {"GET": Permission.VIEW_BILLING, "PUT": Permission.MANAGE_BILLING}

    @schema.describe("Get billing details", response=BillingDetailsSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Return the details of the buyer as they will be on the next invoice."""
        return etags.tagged(BillingDetailsSerializer(self.tenant).data)

    @schema.describe(
        "Replace billing details",
        request=BillingDetailsSerializer,
        response=BillingDetailsSerializer,
        parameters=[schema.MUST_MATCH],
    )
    def put(self, request: Request, tenant: str) -> Response:
        """Replace all billing details. An absent tax id becomes empty, an absent time zone UTC."""
        serializer = BillingDetailsSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        details = account_rules.BillingDetails(**serializer.validated_data)
        row = etags.change(
            request,
            self.tenant,
            lambda: BillingDetailsSerializer(queries.get_tenant(tenant)).data,
            lambda: tenants.update_billing(tenant=self.tenant, details=details, by=self.actor),
        )
        return etags.tagged(BillingDetailsSerializer(row).data)


class PlanSubscriptionView(TenantView):
    """Shows the plan subscription of a tenant (GET) and changes the plan (PUT)."""

    needs = {"GET": Permission.VIEW, "PUT": Permission.MANAGE_BILLING}

    @schema.describe("Get the plan subscription", response=PlanSubscriptionSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Return the subscription of the tenant that is open now."""
        return etags.tagged(self.shown())

    @schema.describe(
        "Change the plan",
        request=PlanChoiceSerializer,
        response=PlanSubscriptionSerializer,
        parameters=[schema.MUST_MATCH],
    )
    def put(self, request: Request, tenant: str) -> Response:
        """End the open subscription now and begin one to the newest version of the plan.

        The change is refused if the tenant uses more than the new plan allows. With `follows` and
        the present plan, only the choice changes, and the subscription keeps its version.
        """
        serializer = PlanChoiceSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data
        etags.change(
            request, self.tenant, self.shown, lambda: self.change(values["plan"], values["follows"])
        )
        return etags.tagged(self.shown())

    def change(self, plan: str, follows: bool | None) -> None:
        """Change the plan, and the choice to follow it; None keeps the choice."""
        row = plan_versions.required_of(self.tenant)
        # Otherwise a tenant could not choose to follow without moving at once.
        if follows is None or row.plan.key != plan:
            plan_subscriptions.change(tenant=self.tenant, plan_key=plan, by=self.actor)
        if follows is not None:
            plan_versions.choose(
                tenant=self.tenant, follows=follows, by=self.actor, now=timezone.now()
            )

    def shown(self) -> Any:
        """Return the body of the tenant's open subscription.

        Raises:
            NoPlan: the tenant has none. Its erasure ends the last one, before its members go.
        """
        return PlanSubscriptionSerializer(plan_versions.required_of(self.tenant)).data


class QuotasView(TenantView):
    """Lists the limits of a tenant (GET)."""

    needs = {"GET": Permission.VIEW}

    @schema.describe("List quotas", response=schema.page_of(quotas.QuotaSerializer))
    def get(self, request: Request, tenant: str) -> Response:
        """Return every resource that is limited per tenant: how much is allowed, and how much used.

        The list has a single page.
        """
        with_money = self.may(Permission.VIEW_BILLING)
        return Response(pagination.whole(quotas.rows(self.tenant, with_money=with_money)))
