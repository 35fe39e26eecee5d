"""Count the messages of the month that the copy of gold lacks so far, for period quotas.

A quota must not wait for Spark. The messages that are not copied yet are computed from the
collector's states: what the sources counted since the bucket in which the copy was last complete,
minus what the copy has since then already.
"""

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime

from django.db.models import Q, Sum

from plans.models import UsageRecord
from plans.quotas import enforcement
from plans.rating.periods import month_of
from plans.usage import reading
from plans.usage.meters import MESSAGES_IN, MESSAGES_OUT
from tenants.models import Tenant
from workers.metering import sources
from workers.metering.source_states import BUCKET, SourceState, floor_bucket
from workers.models import MeteredSource

_MESSAGES = (MESSAGES_IN, MESSAGES_OUT)  # the meters that are counted before they are landed


def enforce(now: datetime) -> None:
    """Evaluate the period quotas of every tenant; update its alerts and its spaces. Idempotent.

    Messages that the copy of gold lacks count too. ``plans.quotas.enforcement`` has the rules.
    """
    enforcement.evaluate_all(not_yet_copied=not_yet_copied(now), now=now)


def not_yet_copied(now: datetime) -> dict[str, dict[str, int]]:
    """Return {tenant id: {meter: messages}} of the running month that the copy of gold lacks.

    Tenants without metered sources are missing. No number is negative. The numbers are exact while
    the copy is less than a day behind, and a lower bound after that.
    """
    as_of = reading.as_of()
    # One bucket earlier than gold's time: spaces enter a new bucket one after the other.
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
    """Return an incarnation's messages in and out since its first bucket at or after ``since``.

    Both are 0 if it has no such bucket.
    """
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
            used_in, used_out = used_since(sources.state_of(row), starts[row.tenant_id])
            found[row.tenant_id][MESSAGES_IN] += used_in
            found[row.tenant_id][MESSAGES_OUT] += used_out
    return found


def _copied_since(starts: Mapping[str, datetime]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(_MESSAGES, 0))
    # One query per time zone in use: tenants of one zone have the same start.
    for start in set(starts.values()):
        tenants = [tenant_id for tenant_id, at in starts.items() if at == start]
        rows = UsageRecord.objects.filter(
            tenant_id__in=tenants, meter__in=_MESSAGES, bucket_at__gte=start
        ).values("tenant_id", "meter")
        for row in rows.annotate(copied=Sum("quantity")):
            found[row["tenant_id"]][row["meter"]] = row["copied"]
    return found
