"""Selects the tenants of a pass of quota enforcement, in a constant number of queries.

``limited`` are the tenants with a monthly limit, of which a pass evaluates those that used
something. ``always`` are the tenants that a pass evaluates even if they used nothing.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, Q, QuerySet

from plans.catalog import publishing
from plans.models import Plan, PlanSubscription, QuotaAlert, QuotaOverride, SpendCap
from plans.quotas.resources import METERED
from plans.usage.meters import BY_SLUG, Kind
from tenants.models import AddressSpace, Tenant, UnpaidStage

# Hours and money of spaces grow without a sample, and a limit that staff set expires by the clock.
_SLOW = timedelta(minutes=10)
_LIFETIMES = {r for r, meter in METERED.items() if BY_SLUG[meter].kind is Kind.LIFETIME}


def limited() -> QuerySet[Tenant, Any]:
    """Return the ids of tenants with a monthly quota of plan or staff, or a cap, as a subquery."""
    capped = SpendCap.objects.values_list("tenant_id", flat=True)
    return Tenant.objects.filter(
        Q(pk__in=_on_plans_with(METERED)) | Q(pk__in=_overridden()) | Q(pk__in=capped)
    ).values("pk")


def always(now: datetime) -> set[str]:
    """Return the ids of the tenants to evaluate now although none of their counters moved.

    * Tenants with an alert, or with a space that is restricted: both must end in time.
    * Tenants that are suspended, being closed or in a stage of unpaid invoices, with a space that
      lacks the restriction.
    * Tenants with a limit whose evaluation never ended, or whose plan, limit or cap is newer than
      the last evaluation.
    * Every ten minutes: tenants with a limit of hours, a limit that staff set, or a spend cap.
    """
    alerted = QuotaAlert.objects.filter(lifted_at__isnull=True)
    restricted = AddressSpace.objects.filter(
        Q(send_withdrawn=True) | Q(connections_refused=True) | Q(throttle_percent__isnull=False),
        deletion_requested_at__isnull=True,
    )
    frozen = Q(tenant__suspended_at__isnull=False) | Q(tenant__erase_at__isnull=False)
    unpaid = ~Q(tenant__unpaid_stage="")
    suspended = Q(tenant__unpaid_stage=UnpaidStage.SUSPENDED)
    unrestricted = AddressSpace.objects.filter(
        (Q(send_withdrawn=False) & (frozen | unpaid)) | (Q(connections_refused=False) & suspended),
        deletion_requested_at__isnull=True,
    )
    evaluated, slow = (
        F("tenant__usage_tail__evaluated_at"),
        Q(tenant__usage_tail__evaluated_at__lte=now - _SLOW),
    )
    capped = SpendCap.objects.values_list("tenant_id", flat=True)
    never = Q(tenant__usage_tail__evaluated_at__isnull=True)
    rows: list[QuerySet[Any, Any]] = [
        alerted.values_list("tenant_id", flat=True),
        restricted.values_list("tenant_id", flat=True),
        unrestricted.values_list("tenant_id", flat=True),
        _on_plans_with(METERED).filter(never | Q(starts_at__gt=evaluated)),
        _on_plans_with(_LIFETIMES).filter(slow),
        _overridden().filter(never | slow | Q(updated_at__gt=evaluated)),
        capped.filter(never | slow | Q(updated_at__gt=evaluated)),
    ]
    return {tenant_id for found in rows for tenant_id in found.order_by().distinct()}


def _on_plans_with(resources: Collection[str]) -> QuerySet[PlanSubscription, Any]:
    # Plan versions are few, and tenants are many.
    plans = [
        plan.pk
        for plan in Plan.objects.all()
        if publishing.plan_definition(plan).quotas.keys() & set(resources)
    ]
    subscribed = PlanSubscription.objects.filter(plan_id__in=plans, ends_at__isnull=True)
    return subscribed.values_list("tenant_id", flat=True)


def _overridden() -> QuerySet[QuotaOverride, Any]:
    rows = QuotaOverride.objects.filter(resource__in=list(METERED))
    return rows.values_list("tenant_id", flat=True)
