"""A tenant's limits and their use, for the overview and for the operator's page of a tenant."""

from dataclasses import dataclass

from django.utils import timezone

from plans.models import QuotaOverride
from plans.quotas import enforcement
from plans.quotas.resources import METERED, TENANT_RESOURCES, WORDS, Resource
from tenants import admission
from tenants.models import Tenant


@dataclass(frozen=True)
class Limit:
    """The limit and the use of one resource.

    ``amount`` is the limit in force, ``planned`` the limit of the plan; None means no limit.
    ``override`` is the tenant's override, also one that has expired.
    """

    resource: Resource
    title: str
    used: int
    amount: int | None
    planned: int | None
    override: QuotaOverride | None


def of(tenant: Tenant) -> list[Limit]:
    """Return the limit and use of every resource that a plan can limit for a tenant.

    The use is that of the checks that admit changes and of quota enforcement.
    """
    planned, amounts = admission.plan_of(tenant).quotas, admission.limits(tenant)
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
