"""Lists a tenant's limits and how much of each is used, for tenants and for staff."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from plans.quotas import standings
from plans.quotas.resources import METERED, SPEND, TENANT_RESOURCES, WORDS, unit, words
from plans.quotas.standings import Standing
from plans.rating.money import minor_digits
from plans.usage import reading
from tenants import admission
from tenants.models import Tenant


class QuotaSerializer(serializers.Serializer[Any]):
    """A resource of a tenant: its limit (null: no limit), and how much the tenant uses.

    `used` is `landed` plus `tail`. Of a monthly resource, `landed` is complete up to `as_of`, and
    `tail` is what was counted and is not in `landed` yet. Amounts are in base units, such as
    milliseconds: `base_per_unit` of them are one `unit`, such as an hour. The resource `spend` is
    the spend cap; its `unit` is a currency, and amounts are in minor units. It is there only for
    callers who may see amounts.
    """

    resource = serializers.CharField()
    title = serializers.CharField()
    limit = serializers.IntegerField(allow_null=True)
    used = serializers.IntegerField()
    landed = serializers.IntegerField()
    tail = serializers.IntegerField()
    unit = serializers.CharField(
        allow_blank=True, help_text="The unit that people read; empty for counted objects."
    )
    base_per_unit = serializers.IntegerField(
        help_text="How many of the amounts' base units are one `unit`."
    )
    at_quota = serializers.CharField(
        allow_blank=True, help_text="For a monthly resource: what happens at 100 percent."
    )
    as_of = serializers.DateTimeField(
        allow_null=True, help_text="For a monthly resource: usage before this time has landed."
    )


def rows(tenant: Tenant, *, with_money: bool) -> list[dict[str, Any]]:
    """Return a body of ``QuotaSerializer`` for each resource that is limited per tenant.

    The limit is that in force: from an override, else from the plan; None means no limit. The use
    of a monthly resource is that of the current month in the tenant's billing time zone.
    ``with_money``: the spend cap too, if the tenant has one. Takes a constant number of queries.

    Raises:
        NoPlan: the tenant has no plan.
    """
    limits = admission.limits(tenant)
    counted = admission.use_of_all(tenant)
    as_of = reading.as_of()
    metered = {
        quota.resource: {
            "resource": str(quota.resource),
            "title": words(quota.resource),
            "limit": quota.limit,
            "used": quota.used,
            "landed": quota.use.landed,
            "tail": quota.use.tail,
            **_unit(quota),
            "at_quota": str(quota.at_quota),
            "as_of": as_of,
        }
        for quota in standings.of_tenant(tenant, timezone.now(), with_money=with_money)
    }
    found = [
        metered[resource]
        if resource in METERED
        else {
            "resource": resource.value,
            "title": WORDS[resource],
            "limit": limits.get(resource),
            "used": counted[resource],
            "landed": counted[resource],
            "tail": 0,
            "unit": "",
            "base_per_unit": 1,
            "at_quota": "",
            # The use of these resources is the number of rows at this moment.
            "as_of": None,
        }
        for resource in TENANT_RESOURCES
    ]
    # The cap is no limit of a plan, so ``TENANT_RESOURCES`` lacks it.
    return [*found, metered[SPEND]] if SPEND in metered else found


def _unit(quota: Standing) -> dict[str, Any]:
    if quota.resource == SPEND:
        return {"unit": quota.currency, "base_per_unit": 10 ** minor_digits(quota.currency)}
    return dict(zip(("unit", "base_per_unit"), unit(quota.resource), strict=True))
