"""A tenant's limits and their use, for the overview and for the operator's page of a tenant."""

from dataclasses import dataclass

from django.utils import timezone

from plans.models import QuotaAlert, QuotaOverride
from plans.quotas import enforcement, standings
from plans.quotas.resources import METERED, SPEND, TENANT_RESOURCES, WORDS, Resource
from plans.quotas.standings import Standing
from tenants import admission
from tenants.models import Tenant


@dataclass(frozen=True)
class Limit:
    """One limited resource of a tenant: its limits and how much of it is used.

    ``amount`` is the limit in force, ``planned`` the limit of the plan; None means no limit.
    ``override`` is the tenant's override, also one that has expired; None without one. ``tail`` is
    the part of ``used`` that is not copied from the lakehouse yet.
    """

    resource: Resource
    title: str
    used: int
    amount: int | None
    planned: int | None
    override: QuotaOverride | None
    tail: int = 0

    def words(self, amount: int) -> str:
        """Return an amount of the resource as people read it."""
        return enforcement.amount_words(self.resource, amount)


def alerts(tenant: Tenant, *, with_money: bool) -> list[QuotaAlert]:
    """Return one alert for each resource: the highest one of its newest period.

    Lifted alerts are left out. ``with_money`` False leaves out that of the spend cap.
    """
    rows = QuotaAlert.objects.filter(tenant=tenant, lifted_at__isnull=True)
    if not with_money:
        rows = rows.exclude(resource=SPEND)
    # PostgreSQL's DISTINCT ON keeps the first row of each resource in this order.
    return list(
        rows.order_by("resource", "-period_starts_at", "-level_percent").distinct("resource")
    )


def of(tenant: Tenant) -> list[Limit]:
    """Return the limits and use of every resource that a plan can limit for a whole tenant.

    Spaces, addresses, members and the like are counted as admission counts them. The use of a
    monthly resource is that of the current month, by which quotas decide too. A monthly resource
    without a limit and without an override is left out, except messages. The result is empty for a
    tenant without a plan, such as an erased one.
    """
    plan = admission.open_plan(tenant)
    if plan is None:
        return []
    planned, amounts = plan.quotas, admission.in_force(tenant, plan)
    found = standings.of_tenant(tenant, timezone.now(), with_money=False)
    metered: dict[str, Standing] = {quota.resource: quota for quota in found}
    # As admission counts, so that the page agrees with its refusals.
    counted = admission.use_of_all(tenant)
    overrides = {row.resource: row for row in QuotaOverride.objects.filter(tenant=tenant)}
    shown = {Resource.MESSAGES_PER_MONTH, *amounts, *overrides}
    return [
        Limit(
            resource,
            _title(WORDS[resource]),
            metered[resource].used if resource in METERED else counted[resource],
            amounts.get(resource),
            planned.get(resource),
            overrides.get(resource),
            metered[resource].use.tail if resource in METERED else 0,
        )
        for resource in TENANT_RESOURCES
        if resource not in METERED or resource in shown
    ]


def named_meters(tenant: Tenant) -> set[str]:
    """Return the meters that the tenant's plan includes or prices, or that a limit names."""
    plan = admission.open_plan(tenant)
    if plan is None:
        return set()
    limited = admission.in_force(tenant, plan)
    return {*plan.included, *plan.prices, *(METERED[r] for r in METERED if r in limited)}


def _title(text: str) -> str:
    """Return the name of a resource as a short title, with a capital letter in front."""
    short = text.removesuffix(" in all spaces together")
    return short[:1].upper() + short[1:]
