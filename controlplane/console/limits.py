"""A tenant's limits beside what it uses of them: for its overview and for operators."""

from dataclasses import dataclass

from django.utils import timezone

from plans import enforcement
from plans.models import QuotaOverride
from plans.resources import TENANT_RESOURCES, WORDS, Resource
from tenants import admission
from tenants.models import Tenant

_METERED = Resource.MESSAGES_PER_MONTH


@dataclass(frozen=True)
class Limit:
    """One resource: ``amount`` holds now, ``planned`` is the plan's; None is no limit."""

    resource: Resource
    title: str
    used: int
    amount: int | None
    planned: int | None
    override: QuotaOverride | None


def of(tenant: Tenant) -> list[Limit]:
    """Return every limited resource of the tenant with its use, as admission counts it."""
    planned, amounts = admission.plan_of(tenant).quotas, admission.limits(tenant)
    metered = enforcement.standing(tenant, _METERED, not_yet_copied={}, now=timezone.now())
    used = {**admission.use_of_all(tenant), _METERED: metered.used}
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


def _title(words: str) -> str:
    """Return words as a short title; unlike ``capitalize`` it keeps API in capitals."""
    short = words.removesuffix(" in all spaces together")
    return short[:1].upper() + short[1:]
