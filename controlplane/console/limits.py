"""A tenant's limits and their use, for the overview and for the operator's page of a tenant."""

from dataclasses import dataclass

from django.utils import timezone

from plans.models import QuotaAlert, QuotaOverride
from plans.quotas import enforcement
from plans.quotas.resources import METERED, TENANT_RESOURCES, WORDS, Resource
from tenants import admission
from tenants.models import Tenant


@dataclass(frozen=True)
class Limit:
    """One limited resource of a tenant: its limits and how much of it is used.

    ``amount`` is the limit in force, ``planned`` the limit of the plan; None means no limit.
    ``override`` is the tenant's override, also one that has expired; None without one.
    """

    resource: Resource
    title: str
    used: int
    amount: int | None
    planned: int | None
    override: QuotaOverride | None


def alerts(tenant: Tenant) -> list[QuotaAlert]:
    """Return one alert for each resource: the highest one of its newest period.

    Lifted alerts are left out. They also count what is not copied from the lakehouse yet.
    """
    rows = QuotaAlert.objects.filter(tenant=tenant, lifted_at__isnull=True)
    # PostgreSQL's DISTINCT ON keeps the first row of each resource in this order.
    return list(
        rows.order_by("resource", "-period_starts_at", "-level_percent").distinct("resource")
    )


def of(tenant: Tenant) -> list[Limit]:
    """Return the limits and use of every resource that a plan can limit for a whole tenant.

    Spaces, addresses, members and the like are counted as admission counts them. The use of
    messages a month is that of the current month, without usage that is not copied from the
    lakehouse yet. Empty for a tenant without a plan, such as an erased one.
    """
    plan = admission.open_plan(tenant)
    if plan is None:
        return []
    planned, amounts = plan.quotas, admission.in_force(tenant, plan)
    # Without the usage that is not copied from the lakehouse yet: pages say "as of" which time.
    now = timezone.now()
    metered = {
        resource: enforcement.standing(tenant, resource, not_yet_copied={}, now=now).used
        for resource in METERED
    }
    used = {**admission.use_of_all(tenant), **metered}
    overrides = {row.resource: row for row in QuotaOverride.objects.filter(tenant=tenant)}
    return [
        Limit(
            resource,
            _title(WORDS[resource]),
            used.get(resource, 0),
            amounts.get(resource),
            planned.get(resource),
            overrides.get(resource),
        )
        for resource in TENANT_RESOURCES
    ]


def _title(text: str) -> str:
    """Return the name of a resource as a short title, with a capital letter in front."""
    short = text.removesuffix(" in all spaces together")
    return short[:1].upper() + short[1:]
