"""Count the usage of the running month that PostgreSQL lacks, and enforce period quotas.

Usage in PostgreSQL is a copy of gold, which Spark computes late. A quota must not wait for it. So
this module computes what is not copied yet from the collector's states: what the sources counted
since the bucket in which the copy was last complete. ``UsageTail`` keeps it for pages, the API and
quotas. Each of these subtracts what the copy has of the same time.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime, timedelta

from django.db.models import F, OuterRef, Q, Subquery

from plans.models import UsageTail
from plans.quotas import enforcement, watched
from plans.rating.periods import month_of
from plans.usage import reading
from plans.usage.meters import BY_SLUG, METERS, PEAK_CONNECTIONS, Kind
from tenants.models import Tenant
from workers.metering import sources
from workers.metering.source_states import BUCKET, SourceState, floor_bucket
from workers.models import MeteredSource

# A sample may be committed this much later than it was taken, beside newer ones of other spaces.
_LATE_COMMIT = timedelta(minutes=1)
_AT_ONCE = 500


def enforce(now: datetime, tenant_id: str | None = None) -> None:
    """Evaluate the period quotas of the tenants that are due; update their alerts and spaces.

    Due are tenants with a monthly quota or a spend cap whose usage has changed, and the few that
    ``watched.always`` names. ``tenant_id`` names one that is due in any case. Idempotent.
    ``plans.quotas.enforcement`` has the rules.
    """
    due = {tenant_id} if tenant_id else list_due(now)
    keep_tails(due, now)
    enforcement.evaluate_all(sorted(due), now=now)


def list_due(now: datetime) -> set[str]:
    """Return the ids of the tenants to evaluate, in a constant number of queries."""
    # Tenants with a limit whose sources have counted something since their last tail.
    seen = UsageTail.objects.filter(tenant_id=OuterRef("tenant_id")).values("sampled_at")[:1]
    rows = MeteredSource.objects.filter(
        moved_at__isnull=False, tenant_id__in=watched.limited()
    ).annotate(seen=Subquery(seen))
    fresh = rows.filter(Q(seen__isnull=True) | Q(moved_at__gt=F("seen") - _LATE_COMMIT))
    moved = set(fresh.order_by().values_list("tenant_id", flat=True).distinct())
    return moved | watched.always(now)


def keep_tails(tenant_ids: Collection[str], now: datetime) -> None:
    """Store what the sources of these tenants counted since the copy of gold. Idempotent.

    Reads the sources of these tenants alone. The number of queries is constant, but for one
    statement for each 500 tenants.
    """
    as_of = reading.as_of()
    # One bucket earlier than gold's time: spaces enter a new bucket one after the other.
    # Without a copy everything of the month counts.
    since = floor_bucket(as_of) - BUCKET if as_of else datetime(1970, 1, 1, tzinfo=UTC)
    tenants = Tenant.objects.filter(id__in=tenant_ids)
    zones = dict(tenants.values_list("id", "billing_time_zone"))
    starts = {
        tenant_id: max(since, month_of(now, zone).starts_at) for tenant_id, zone in zones.items()
    }
    states = _states(starts, since)
    rows = [
        UsageTail(
            tenant_id=tenant_id,
            since=start,
            counted=counted(states.get(tenant_id, []), start),
            sampled_at=max(
                (s.moved_at for s in states.get(tenant_id, []) if s.moved_at), default=now
            ),
            # Until quotas were evaluated with it: a pass that is killed is repeated.
            evaluated_at=None,
        )
        for tenant_id, start in starts.items()
    ]
    UsageTail.objects.bulk_create(
        rows,
        batch_size=_AT_ONCE,
        update_conflicts=True,
        unique_fields=["tenant"],
        update_fields=["since", "counted", "sampled_at", "evaluated_at"],
    )


def counted(states: Iterable[SourceState], since: datetime) -> dict[str, int]:
    """Return {meter: quantity} of the buckets from ``since`` on, over all ``states``.

    The quantity of the peak meter is the largest peak, not a sum. The numbers are exact while the
    copy is less than a day behind, and a lower bound after that.
    """
    found = dict.fromkeys(METERS, 0)
    for state in states:
        for meter, quantity in used_since(state, since).items():
            found[meter] = reading.merged(meter, found[meter], quantity)
    return found


def used_since(state: SourceState, since: datetime) -> Mapping[str, int]:
    """Return what an incarnation counted by meter since its first bucket at or after ``since``.

    Empty if it has no such bucket.
    """
    begun = [mark for mark in state.marks if mark.bucket_at >= since]
    if not begun:
        return {}
    first, totals = min(begun, key=lambda mark: mark.bucket_at), state.totals
    grown = {
        meter: totals[meter] - first.totals[meter]
        for meter in METERS
        if BY_SLUG[meter].kind is Kind.COUNTER
    }
    peaks = [mark.totals[PEAK_CONNECTIONS] for mark in begun]
    return {**grown, PEAK_CONNECTIONS: max([totals[PEAK_CONNECTIONS], *peaks])}


def _states(starts: Mapping[str, datetime], since: datetime) -> dict[str, list[SourceState]]:
    recent = Q(ended_at__isnull=True) | Q(ended_at__gte=since)
    found: dict[str, list[SourceState]] = {}
    for row in MeteredSource.objects.filter(recent, tenant_id__in=list(starts)).iterator():
        found.setdefault(row.tenant_id, []).append(sources.state_of(row))
    return found
