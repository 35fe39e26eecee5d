"""What the samples of a period cannot show: lives that ended without a last sample, lost seq.

Reads what the collector remembers (``MeteredSource``) and compares it with bronze.
"""

from collections.abc import Mapping
from datetime import timedelta

from django.db.models import F, Q, QuerySet

from plans.invoicing import CrashGap, Hole
from plans.periods import Period
from workers.metering.lives import SPACE
from workers.models import MeteredSource

Life = tuple[str, str]  # source, boot_id
# So long after its last sample may an instance run on until a planned restart ends its life.
RESTARTS_WITHIN = timedelta(minutes=2)


def crash_gaps(tenant_id: str, period: Period) -> tuple[CrashGap, ...]:
    """Return the lives that were cut off without a last sample, in a bucket of the period.

    Not those that a planned restart ended: their last sample was taken just before.
    """
    ended = (
        _lives(tenant_id, period)
        .filter(
            ended_at__isnull=False,
            ended_cleanly=False,
            sampled_at__isnull=False,
            bucket_at__gte=period.starts_at,
            bucket_at__lt=period.ends_at,
        )
        .exclude(restart_at__isnull=False, sampled_at__lte=F("restart_at") + RESTARTS_WITHIN)
    )
    return tuple(_gap(row) for row in ended.exclude(boot_id=SPACE).order_by("source", "ended_at"))


def expected_seqs(tenant_id: str, period: Period) -> dict[Life, int]:
    """Return the last ``seq`` that was given out in each life not over before the period.

    Read it before landing: whatever was given out by then must be in bronze afterwards.
    """
    rows = _lives(tenant_id, period).filter(seq__gt=0)
    return {(row.source, row.boot_id): row.seq for row in rows}


def lost_ends(expected: Mapping[Life, int], found: Mapping[Life, int]) -> tuple[Hole, ...]:
    """Return what is missing at the end of lives: given out, and in bronze neither it nor later."""
    return tuple(
        Hole(source, boot_id, found.get((source, boot_id), 0) + 1, seq, at_end=True)
        for (source, boot_id), seq in sorted(expected.items())
        if found.get((source, boot_id), 0) < seq
    )


def _lives(tenant_id: str, period: Period) -> QuerySet[MeteredSource]:
    return MeteredSource.objects.filter(
        Q(ended_at__isnull=True) | Q(ended_at__gte=period.starts_at), tenant_id=tenant_id
    )


def _gap(row: MeteredSource) -> CrashGap:
    following = MeteredSource.objects.filter(source=row.source, created_at__gt=row.created_at)
    after = following.order_by("created_at").first()
    assert row.sampled_at is not None  # filtered above
    return CrashGap(row.source, row.boot_id, row.sampled_at, after.created_at if after else None)
