"""Lists a tenant's limits and how much of each is used, for tenants and for staff."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from plans.quotas.resources import METERED, TENANT_RESOURCES, WORDS
from plans.rating import periods
from plans.usage import reading
from tenants import admission
from tenants.models import Tenant


class QuotaSerializer(serializers.Serializer[Any]):
    """A resource of a tenant: its limit (null: no limit), and how much the tenant uses."""

    resource = serializers.CharField()
    title = serializers.CharField()
    limit = serializers.IntegerField(allow_null=True)
    used = serializers.IntegerField()
    as_of = serializers.DateTimeField(
        allow_null=True, help_text="For a monthly resource: usage before this time is counted."
    )


def rows(tenant: Tenant) -> list[dict[str, Any]]:
    """Return a body of ``QuotaSerializer`` for each resource that is limited per tenant.

    The limit is that in force: from an override, else from the plan; None means no limit. The use
    of a monthly resource is that of the current month in the tenant's billing time zone. Takes a
    constant number of queries.

    Raises:
        NoPlan: the tenant has no plan.
    """
    limits = admission.limits(tenant)
    month = periods.month_of(timezone.now(), tenant.billing_time_zone)
    figures = reading.by_space(tenant.pk, month.starts_at, month.ends_at)
    metered = {found: reading.quantity_of(meter, figures) for found, meter in METERED.items()}
    used = {**admission.use_of_all(tenant), **metered}
    as_of = reading.as_of()
    return [
        {
            "resource": resource.value,
            "title": WORDS[resource],
            "limit": limits.get(resource),
            "used": used.get(resource, 0),
            # The use of all other resources is the number of rows at this moment.
            "as_of": as_of if resource in METERED else None,
        }
        for resource in TENANT_RESOURCES
    ]
