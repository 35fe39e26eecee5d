"""Usage that gold does not hold yet, for period quotas: counted from the collector's memory.

A quota must not wait for Spark. What a source has used since the bucket began in which gold was
last complete, minus what the copy already holds of that bucket, is not copied yet.
"""

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime

from django.db.models import Q, Sum

from plans import enforcement, metering
from plans.models import UsageRecord
from plans.periods import month_of
from plans.usage import MESSAGES_IN, MESSAGES_OUT
from tenants.models import Tenant
from workers.metering import sources
from workers.metering.lives import BUCKET, SourceState, floor_bucket
from workers.models import MeteredSource

_MESSAGES = (MESSAGES_IN, MESSAGES_OUT)


def enforce(now: datetime) -> None:
    """Make every tenant's alerts and spaces agree with its period quotas, as of now."""
    enforcement.evaluate_all(not_yet_copied=not_yet_copied(now), now=now)


def not_yet_copied(now: datetime) -> dict[str, dict[str, int]]:
    """Return {tenant: {meter: messages}} of the running month that the copy of gold lacks.

    Never negative. Exact while the copy is less than a day behind, a lower bound after that.
    """
    as_of = metering.as_of()
    # One bucket earlier than gold says: spaces cross a boundary one after the other.
    since = floor_bucket(as_of) - BUCKET if as_of else datetime(1970, 1, 1, tzinfo=UTC)
    zones = dict(Tenant.objects.values_list("id", "billing_time_zone"))
    starts = {
        tenant_id: max(since, month_of(now, zone).starts_at) for tenant_id, zone in zones.items()
    }
    used = _used_since(starts, since)
    copied = _copied_since(starts)
    return {
        tenant_id: {m: max(0, n - copied[tenant_id][m]) for m, n in meters.items()}
        for tenant_id, meters in used.items()
    }


def used_since(state: SourceState, since: datetime) -> tuple[int, int]:
    """Return messages in and out of one life since the first bucket at or after ``since``."""
    begun = [mark for mark in state.marks if mark.bucket_at >= since]
    if not begun:
        return 0, 0
    first = min(begun, key=lambda mark: mark.bucket_at)
    return state.used_in - first.messages_in, state.used_out - first.messages_out


def _used_since(starts: Mapping[str, datetime], since: datetime) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(_MESSAGES, 0))
    recent = Q(ended_at__isnull=True) | Q(ended_at__gte=since)
    for row in MeteredSource.objects.filter(recent).iterator():
        if row.tenant_id in starts:
            came, went = used_since(sources.state_of(row), starts[row.tenant_id])
            found[row.tenant_id][MESSAGES_IN] += came
            found[row.tenant_id][MESSAGES_OUT] += went
    return found


def _copied_since(starts: Mapping[str, datetime]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(_MESSAGES, 0))
    for start in set(starts.values()):
        tenants = [tenant_id for tenant_id, at in starts.items() if at == start]
        rows = UsageRecord.objects.filter(
            tenant_id__in=tenants, meter__in=_MESSAGES, bucket_at__gte=start
        ).values("tenant_id", "meter")
        for row in rows.annotate(copied=Sum("quantity")):
            found[row["tenant_id"]][row["meter"]] = row["copied"]
    return found
