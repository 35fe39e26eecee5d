"""Find losses that the samples of a period cannot show.

These are incarnations that ended without a last sample, and samples lost at the end of an
incarnation. Both are found in the collector's states (``MeteredSource``), the second by comparing
them with bronze.
"""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

from django.db.models import F, Q, QuerySet

from plans.invoicing.evidence import CrashGap, Gap
from plans.rating.periods import Period
from workers.metering.source_states import SPACE
from workers.models import MeteredSource

Incarnation = tuple[str, str]  # source, boot_id
# A planned restart explains the end of an incarnation if its last sample was taken no later than
# this after ``restart_at``.
RESTARTS_WITHIN = timedelta(minutes=2)


def crash_gaps(tenant_id: str, period: Period) -> tuple[CrashGap, ...]:
    """Return the tenant's incarnations that ended without a last sample, by source and end.

    Their newest sample is in a bucket of the period. Incarnations that a planned restart ended are
    excluded, because a sample was taken just before.
    """
    return crash_gaps_each([tenant_id], period).get(tenant_id, ())


def crash_gaps_each(tenant_ids: Collection[str], period: Period) -> dict[str, tuple[CrashGap, ...]]:
    """Return ``crash_gaps`` of each tenant that has any, in two queries."""
    ended = (
        _rows(tenant_ids, period)
        .filter(
            ended_at__isnull=False,
            ended_cleanly=False,
            sampled_at__isnull=False,
            bucket_at__gte=period.starts_at,
            bucket_at__lt=period.ends_at,
        )
        .exclude(restart_at__isnull=False, sampled_at__lte=F("restart_at") + RESTARTS_WITHIN)
    )
    # The space's own source has no process that could crash.
    rows = list(ended.exclude(boot_id=SPACE).order_by("source", "ended_at").values_list(
        "tenant_id", "source", "boot_id", "sampled_at", "created_at"))  # fmt: skip
    begun: dict[str, list[datetime]] = {}
    later = MeteredSource.objects.filter(source__in={source for _, source, *_ in rows})
    for source, created_at in later.order_by("created_at").values_list("source", "created_at"):
        begun.setdefault(source, []).append(created_at)
    found: dict[str, tuple[CrashGap, ...]] = {}
    for tenant_id, source, boot_id, sampled_at, created_at in rows:
        assert sampled_at is not None  # filtered above
        following = next((at for at in begun[source] if at > created_at), None)
        gap = CrashGap(source, boot_id, sampled_at, following)
        found[tenant_id] = (*found.get(tenant_id, ()), gap)
    return found


def expected_seqs(tenant_id: str, period: Period) -> dict[Incarnation, int]:
    """Return {incarnation: last assigned ``seq``} of the tenant's sources.

    Incarnations that ended before the period are left out. Call it before landing: every number
    that is assigned by then must be in bronze afterwards.
    """
    return expected_seqs_each([tenant_id], period).get(tenant_id, {})


def expected_seqs_each(
    tenant_ids: Collection[str], period: Period
) -> dict[str, dict[Incarnation, int]]:
    """Return ``expected_seqs`` of each tenant that has any, in one query."""
    rows = _rows(tenant_ids, period).filter(seq__gt=0)
    found: dict[str, dict[Incarnation, int]] = {}
    for tenant_id, source, boot_id, seq in rows.values_list(
        "tenant_id", "source", "boot_id", "seq"
    ):
        found.setdefault(tenant_id, {})[source, boot_id] = seq
    return found


def lost_ends(
    expected: Mapping[Incarnation, int], found: Mapping[Incarnation, int]
) -> tuple[Gap, ...]:
    """Return a gap for each incarnation whose last samples are not in bronze.

    ``expected`` has the last assigned ``seq`` of each incarnation, ``found`` the largest one in
    bronze. The gap is what lies between them.
    """
    return tuple(
        Gap(source, boot_id, found.get((source, boot_id), 0) + 1, seq, at_end=True)
        for (source, boot_id), seq in sorted(expected.items())
        if found.get((source, boot_id), 0) < seq
    )


def _rows(tenant_ids: Collection[str], period: Period) -> QuerySet[MeteredSource]:
    return MeteredSource.objects.filter(
        Q(ended_at__isnull=True) | Q(ended_at__gte=period.starts_at), tenant_id__in=tenant_ids
    )
