"""/staff/tenants: all tenants, their suspension, their limits, and overrides of these limits."""

from typing import Any

from django.db.models import Prefetch
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import etags, listing, pagination, quotas, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.instants import InstantField
from controlplane.api.serializers import StrictSerializer
from controlplane.api.views import StaffView
from controlplane.core.errors import Missing
from plans.models import PlanSubscription, QuotaOverride
from plans.quotas.resources import TENANT_RESOURCES
from tenants import queries
from tenants.actions import quota_overrides, suspensions
from tenants.models import Tenant

_LISTING = listing.Listing(
    sorts={"slug": ("slug",), "name": ("name", "slug"), "created_at": ("created_at", "id")},
    default="slug",
    filters=(
        listing.search("Part of the name or slug.", "name", "slug"),
        listing.Filter(
            "suspended",
            "Whether the tenant is suspended.",
            ("suspended_at",),
            kind=listing.Kind.PRESENT,
        ),
        listing.Filter(
            "closing",
            "Whether an owner has requested to close the tenant; also true after its erasure.",
            ("erase_at",),
            kind=listing.Kind.PRESENT,
        ),
    ),
)
# Loads the open subscriptions of all tenants of a page by one query, for ``get_plan``.
_OPEN = Prefetch(
    "plan_subscriptions",
    PlanSubscription.objects.filter(ends_at__isnull=True).select_related("plan"),
    to_attr="open_subscriptions",
)


class StaffTenantSerializer(serializers.Serializer[Any]):
    """A tenant as staff see it; `plan` is the key of its present plan.

    `plan_version` and `follows_plan` are null without a plan.
    """

    id = serializers.CharField()
    slug = serializers.CharField()
    name = serializers.CharField()
    plan = serializers.SerializerMethodField()
    plan_version = serializers.SerializerMethodField()
    follows_plan = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()
    suspended_at = serializers.DateTimeField(
        allow_null=True,
        help_text="Since when staff have suspended the tenant; null: they have not.",
    )
    suspension_reason = serializers.CharField(allow_blank=True)
    unpaid_stage = serializers.CharField(
        allow_blank=True,
        help_text="What unpaid invoices keep the tenant from: `limited` (sending), `suspended` "
        "(connections), or nothing.",
    )
    erase_at = serializers.DateTimeField(
        allow_null=True, help_text="When the tenant is erased, because an owner closes it."
    )
    erased_at = serializers.DateTimeField(allow_null=True)

    def get_plan(self, tenant: Tenant) -> str:
        """Return the key of the tenant's present plan; empty without one.

        ``tenant`` must come from a query with the prefetch ``_OPEN``; otherwise it is always empty.
        """
        subscription = self._open(tenant)
        return subscription.plan.key if subscription else ""

    def get_plan_version(self, tenant: Tenant) -> int | None:
        """Return the version of the plan that the tenant has."""
        subscription = self._open(tenant)
        return subscription.plan.version if subscription else None

    def get_follows_plan(self, tenant: Tenant) -> bool | None:
        """Return whether the tenant moves to new versions of its plan."""
        subscription = self._open(tenant)
        return subscription.follows if subscription else None

    def _open(self, tenant: Tenant) -> PlanSubscription | None:
        subscriptions: list[PlanSubscription] = getattr(tenant, "open_subscriptions", [])
        return subscriptions[0] if subscriptions else None


class SuspensionSerializer(StrictSerializer):
    """Why the tenant is suspended; owners, admins and the role billing get the reason by mail."""

    reason = serializers.CharField(max_length=suspensions.LONGEST_REASON)


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

    Each resource has at most one override: a new one replaces it. `next` is always null.
    """

    items = quotas.QuotaSerializer(many=True)
    next = serializers.CharField(allow_null=True)
    overrides = OverriddenSerializer(many=True)


class StaffTenantsView(StaffView):
    """Lists all tenants (GET)."""

    @schema.describe(
        "List all tenants",
        response=schema.page_of(StaffTenantSerializer),
        parameters=_LISTING.parameters,
    )
    def get(self, request: Request) -> Response:
        """Return all tenants, or those that the filters select."""
        page = _LISTING.page(request, queries.list_tenants().prefetch_related(_OPEN))
        return Response(pagination.body(page, StaffTenantSerializer))


class StaffTenantView(StaffView):
    """Shows one tenant (GET)."""

    @schema.describe("Get a tenant as staff", response=StaffTenantSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Return the tenant with its plan, its suspension, and when it is erased."""
        return shown(tenant)


class SuspendView(StaffView):
    """Suspends a tenant (POST)."""

    @schema.describe(
        "Suspend a tenant",
        request=SuspensionSerializer,
        response=StaffTenantSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str) -> Response:
        """Suspend the tenant: clients cannot send, and members and tokens can change little.

        Clients still receive what is stored, and members may pay invoices. Owners, admins and
        members with the role billing get a mail with the reason. A tenant that is suspended already
        keeps its first reason.
        """
        serializer = SuspensionSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        reason = serializer.validated_data["reason"]
        suspensions.suspend(tenant=queries.get_tenant(tenant), reason=reason, by=self.actor)
        return shown(tenant)


class RestoreView(StaffView):
    """Ends the suspension of a tenant (POST)."""

    @schema.describe(
        "Restore a tenant", response=StaffTenantSerializer, parameters=[schema.IDEMPOTENCY_KEY]
    )
    @idempotent
    def post(self, request: Request, tenant: str) -> Response:
        """End the suspension. Workers let clients send again, unless something else prevents it.

        A used-up quota, unpaid invoices or a closure can prevent it.

        Without a suspension, nothing changes.
        """
        suspensions.restore(tenant=queries.get_tenant(tenant), by=self.actor)
        return shown(tenant)


def shown(slug: str) -> Response:
    """Return a response with the tenant as staff see it.

    Raises:
        Missing: there is no such tenant.
    """
    queries.get_tenant(slug)
    # Found above: ``get`` would raise Django's DoesNotExist, which is no answer of this API.
    row = queries.list_tenants().prefetch_related(_OPEN).get(slug=slug)
    return Response(StaffTenantSerializer(row).data)


class StaffQuotasView(StaffView):
    """Lists the limits of one tenant and their overrides (GET)."""

    @schema.describe("List a tenant's quotas", response=StaffQuotasSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Return each limit of the tenant with its present use, and the overrides of limits."""
        row = queries.get_tenant(tenant)
        overrides = QuotaOverride.objects.filter(tenant=row).order_by("resource")
        set_by_staff = OverriddenSerializer(overrides, many=True).data
        return Response(
            {**pagination.whole(quotas.rows(row, with_money=True)), "overrides": set_by_staff}
        )


class StaffQuotaView(StaffView):
    """Shows the override of one limit of one tenant (GET), sets it (PUT), removes it (DELETE)."""

    @schema.describe("Get an override", response=OverriddenSerializer)
    def get(self, request: Request, tenant: str, resource: str) -> Response:
        """Return the stored override of the resource, which may have expired; 404 without one."""
        shown = _override(queries.get_tenant(tenant), resource)
        if shown is None:
            raise Missing("This limit is not overridden.", code="quota_override.missing")
        return etags.tagged(shown)

    @schema.describe(
        "Override a quota",
        request=OverrideSerializer,
        response=OverriddenSerializer,
        parameters=[schema.IF_MATCH, schema.IF_NONE_MATCH],
    )
    def put(self, request: Request, tenant: str, resource: str) -> Response:
        """Set the tenant's limit of the resource in place of its plan's limit.

        Send `If-None-Match: *` to set the first override of the resource, and `If-Match` with its
        ETag, or `*`, to replace one. Workers then enforce the tenant's quotas at once.
        """
        serializer = OverrideSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        found, wanted = queries.get_tenant(tenant), serializer.validated_data
        row = etags.change(
            request,
            found,
            lambda: _override(found, resource),
            lambda: quota_overrides.set_override(
                tenant=found, resource=resource, by=self.actor, **wanted
            ),
        )
        return etags.tagged(OverriddenSerializer(row).data)

    @schema.describe("Drop an override", status=204)
    def delete(self, request: Request, tenant: str, resource: str) -> Response:
        """Remove the override of the resource, so that the plan's limit applies again.

        Without an override, nothing changes.
        """
        row = queries.get_tenant(tenant)
        quota_overrides.clear_override(tenant=row, resource=resource, by=self.actor)
        return Response(status=204)


def _override(tenant: Tenant, resource: str) -> Any:
    """Return the body of the override of ``resource`` that the tenant has, or None."""
    row = QuotaOverride.objects.filter(tenant=tenant, resource=resource).first()
    return None if row is None else OverriddenSerializer(row).data
