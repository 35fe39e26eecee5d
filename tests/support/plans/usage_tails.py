"""Usage of a tenant that is counted and not in the copy of gold, as workers store it."""

from datetime import datetime

from plans.models import UsageTail
from plans.quotas import enforcement
from plans.quotas.standings import Standing
from plans.rating.periods import month_of
from tenants.models import Tenant


def store(tenant_id: str, counted: dict[str, int], now: datetime) -> None:
    """Store what the tenant's sources counted since the month of ``now`` began."""
    zone = Tenant.objects.get(pk=tenant_id).billing_time_zone
    UsageTail.objects.update_or_create(
        tenant_id=tenant_id,
        defaults={
            "since": month_of(now, zone).starts_at,
            "counted": counted,
            "sampled_at": now,
            "evaluated_at": None,
        },
    )


def evaluate(tenant_id: str, counted: dict[str, int], now: datetime) -> list[Standing]:
    """Store the tail, and evaluate the tenant's quotas with it."""
    store(tenant_id, counted, now)
    return enforcement.evaluate(tenant_id=tenant_id, now=now)
