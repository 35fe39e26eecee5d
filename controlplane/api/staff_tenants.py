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

# Loads the open subscriptions of all tenants of a page by one query, for ``get_plan``.
_OPEN = Prefetch(
    "plan_subscriptions",
    PlanSubscription.objects.filter(ends_at__isnull=True).select_related("plan"),
    to_attr="open_subscriptions",
)


class StaffTenantSerializer(serializers.Serializer[Any]):
    """A tenant as staff see it; `plan` is the key of its present plan."""

    id = serializers.CharField()
    slug = serializers.CharField()
    name = serializers.CharField()
    plan = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()

    def get_plan(self, tenant: Tenant) -> str:
        """Return the key of the tenant's present plan; empty without one.

        ``tenant`` must come from a query with the prefetch ``_OPEN``; otherwise it is always empty.
        """
        subscriptions: list[PlanSubscription] = getattr(tenant, "open_subscriptions", [])
        return subscriptions[0].plan.key if subscriptions else ""


class OverrideSerializer(StrictSerializer):
    """A limit that replaces the plan's limit for one tenant. The audit log records the reason.

    Without `expires_at` it applies until it is removed.
    """

    # Within the 64-bit column. The action refuses more than 2**53, with a reason for the field.
    amount = serializers.IntegerField(min_value=0, max_value=2**62)
    reason = serializers.CharField(max_length=1000)
    expires_at = InstantField(required=False, allow_null=True, default=None)


class OverriddenSerializer(serializers.Serializer[Any]):
    """An override of one limit. It is in force until `expires_at`; null: until it is removed."""

    resource = serializers.ChoiceField([resource.value for resource in TENANT_RESOURCES])
    amount = serializers.IntegerField()
    reason = serializers.CharField()
    expires_at = serializers.DateTimeField(allow_null=True)
    set_by = serializers.CharField()


class StaffQuotasSerializer(serializers.Serializer[Any]):
    """A tenant's limits in force, and its stored overrides, expired ones included.

    Each resource has at most one override: a new one replaces it.
    """

    items = quotas.QuotaSerializer(many=True)
    overrides = OverriddenSerializer(many=True)


class StaffTenantsView(StaffView):
    """Lists all tenants (GET)."""

    @schema.describe(
        "List all tenants",
        response=schema.page_of(StaffTenantSerializer),
        parameters=[*schema.PAGE, schema.query("search", "Part of a name or slug.")],
    )
    def get(self, request: Request) -> Response:
        """Return all tenants, or those whose name or slug contains `search`, ordered by slug."""
        # Without NUL characters, which PostgreSQL refuses in text.
        rows = queries.list_tenants(request.query_params.get("search", "").replace("\x00", ""))
        page = pagination.page(request, rows.prefetch_related(_OPEN), "slug")
        return Response(pagination.body(page, StaffTenantSerializer))


class StaffQuotasView(StaffView):
    """Lists the limits of one tenant and their overrides (GET)."""

    @schema.describe("List a tenant's quotas", response=StaffQuotasSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Return each limit of the tenant with its present use, and the overrides of limits."""
        row = queries.get_tenant(tenant)
        overrides = QuotaOverride.objects.filter(tenant=row).order_by("resource")
        set_by_staff = OverriddenSerializer(overrides, many=True).data
        return Response({"items": quotas.rows(row), "overrides": set_by_staff})


class StaffQuotaView(StaffView):
    """Overrides one limit of one tenant (PUT) and removes the override (DELETE)."""

    @schema.describe("Override a quota", request=OverrideSerializer, response=OverriddenSerializer)
    def put(self, request: Request, tenant: str, resource: str) -> Response:
        """Set the tenant's limit of the resource in place of its plan's limit.

        It replaces an earlier override of this resource. Workers then enforce the tenant's quotas
        at once.
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
        """Remove the override of the resource, so that the plan's limit applies again.

        Without an override, nothing changes.
        """
        row = queries.get_tenant(tenant)
        quota_overrides.clear_override(tenant=row, resource=resource, by=self.actor)
        return Response(status=204)
