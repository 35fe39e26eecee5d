"""A tenant's limits and their use, for the overview and for operator pages."""

from dataclasses import dataclass

from django.utils import timezone

from plans.models import QuotaOverride
from plans.quotas import enforcement
from plans.quotas.resources import METERED, TENANT_RESOURCES, WORDS, Resource
from tenants import admission
from tenants.models import Tenant


@dataclass(frozen=True)
class Limit:
    """The limit of one resource.

    ``amount`` is the limit in force, ``planned`` the limit of the plan; None means no limit.
    """

    resource: Resource
    title: str
    used: int
    amount: int | None
    planned: int | None
    override: QuotaOverride | None


def of(tenant: Tenant) -> list[Limit]:
    """Return the limit and use of every resource; admission counts the use in the same way."""
    planned, amounts = admission.plan_of(tenant).quotas, admission.limits(tenant)
    # Usage that is still to be copied from the lakehouse is not added: pages show it "as of".
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
    """Return ``text`` as a short title; unlike ``str.capitalize`` it keeps "API" in capitals."""
    short = text.removesuffix(" in all spaces together")
    return short[:1].upper() + short[1:]
