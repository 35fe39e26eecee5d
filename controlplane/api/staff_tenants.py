"""/staff/tenants: all tenants, their limits, and overrides of these limits."""

from typing import Any

from django.db.models import Prefetch
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import pagination, quotas, schema
from controlplane.api.serializers import StrictSerializer
from controlplane.api.views import StaffView
from controlplane.api.windows import InstantField
from plans.models import PlanSubscription, QuotaOverride
from plans.quotas.resources import TENANT_RESOURCES
from tenants import queries
from tenants.actions import quota_overrides
from tenants.models import Tenant

# One query for all tenants of a page; ``get_plan`` reads the attribute.
_OPEN = Prefetch(
    "plan_subscriptions",
    PlanSubscription.objects.filter(ends_at__isnull=True).select_related("plan"),
    to_attr="open_subscriptions",
)


class StaffTenantSerializer(serializers.Serializer[Any]):
    """A tenant as operators see it, with its plan."""

    id = serializers.CharField()
    slug = serializers.CharField()
    name = serializers.CharField()
    plan = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()

    def get_plan(self, tenant: Tenant) -> str:
        """Return the key of the present plan; empty without one."""
        subscriptions: list[PlanSubscription] = getattr(tenant, "open_subscriptions", [])
        return subscriptions[0].plan.key if subscriptions else ""


class OverrideSerializer(StrictSerializer):
    """A limit that replaces the plan's for one tenant. The audit log records the reason."""

    # Within the 64-bit column. The action refuses more than 2**53, with a reason for the field.
    amount = serializers.IntegerField(min_value=0, max_value=2**62)
    reason = serializers.CharField(max_length=1000)
    expires_at = InstantField(required=False, allow_null=True, default=None)


class OverriddenSerializer(serializers.Serializer[Any]):
    """An override of one limit. It is in force until ``expires_at``; null means for good."""

    resource = serializers.ChoiceField([resource.value for resource in TENANT_RESOURCES])
    amount = serializers.IntegerField()
    reason = serializers.CharField()
    expires_at = serializers.DateTimeField(allow_null=True)
    set_by = serializers.CharField()


class StaffQuotasSerializer(serializers.Serializer[Any]):
    """The limits in force, and the overrides that staff have set."""

    items = quotas.QuotaSerializer(many=True)
    overrides = OverriddenSerializer(many=True)


class StaffTenantsView(StaffView):
    """All tenants."""

    @schema.describe(
        "List all tenants",
        response=schema.page_of(StaffTenantSerializer),
        parameters=[*schema.PAGE, schema.query("search", "Part of a name or slug.")],
    )
    def get(self, request: Request) -> Response:
        """Return the tenants ordered by slug."""
        # Without NUL characters, which PostgreSQL refuses in text.
        rows = queries.list_tenants(request.query_params.get("search", "").replace("\x00", ""))
        page = pagination.page(request, rows.prefetch_related(_OPEN), "slug")
        return Response(pagination.body(page, StaffTenantSerializer))


class StaffQuotasView(StaffView):
    """The limits of one tenant."""

    @schema.describe("List a tenant's quotas", response=StaffQuotasSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Return the tenant's limits, usage and overrides."""
        row = queries.get_tenant(tenant)
        overrides = QuotaOverride.objects.filter(tenant=row).order_by("resource")
        set_by_staff = OverriddenSerializer(overrides, many=True).data
        return Response({"items": quotas.rows(row), "overrides": set_by_staff})


class StaffQuotaView(StaffView):
    """One limit of one tenant."""

    @schema.describe("Override a quota", request=OverrideSerializer, response=OverriddenSerializer)
    def put(self, request: Request, tenant: str, resource: str) -> Response:
        """Set the limit, until ``expires_at`` or for good. It replaces an earlier override.

        Workers then enforce the tenant's quotas at once.
        """
        serializer = OverrideSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        row = quota_overrides.set_override(
            tenant=queries.get_tenant(tenant),
            resource=resource,
            by=self.actor,
            **serializer.validated_data,
        )
        return Response(OverriddenSerializer(row).data)

    @schema.describe("Drop an override", status=204)
    def delete(self, request: Request, tenant: str, resource: str) -> Response:
        """Remove the override, so that the plan's limit applies. Without one, nothing changes."""
        row = queries.get_tenant(tenant)
        quota_overrides.clear_override(tenant=row, resource=resource, by=self.actor)
        return Response(status=204)
