"""A tenant's limits and how much of each is used; shown to the tenant and to staff."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from plans.quotas.enforcement import METERED
from plans.quotas.resources import TENANT_RESOURCES, WORDS, Resource
from plans.rating import periods
from plans.usage import meters, reading
from tenants import admission
from tenants.models import Tenant


class QuotaSerializer(serializers.Serializer[Any]):
    """One limited resource; ``limit`` is null where there is no limit."""

    resource = serializers.CharField()
    title = serializers.CharField()
    limit = serializers.IntegerField(allow_null=True)
    used = serializers.IntegerField()
    as_of = serializers.DateTimeField(
        allow_null=True, help_text="For a monthly resource: usage before this time is counted."
    )


def rows(tenant: Tenant) -> list[dict[str, Any]]:
    """Return every resource with its limit and usage, in a constant number of queries."""
    limits = admission.limits(tenant)
    month = periods.month_of(timezone.now(), tenant.billing_time_zone)
    totals = reading.totals(tenant.pk, month.starts_at, month.ends_at)
    # Messages are metered in two directions and limited as one sum.
    parts = meters.DERIVED[METERED[Resource.MESSAGES_PER_MONTH]]
    messages = sum(totals[meter] for meter in parts)
    used = {**admission.use_of_all(tenant), Resource.MESSAGES_PER_MONTH: messages}
    as_of = reading.as_of()
    return [
        {
            "resource": resource.value,
            "title": WORDS[resource],
            "limit": limits.get(resource),
            "used": used.get(resource, 0),
            # All other resources are rows, which are counted at this moment.
            "as_of": as_of if resource == Resource.MESSAGES_PER_MONTH else None,
        }
        for resource in TENANT_RESOURCES
    ]
