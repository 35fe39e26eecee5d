"""What operators see of the pipeline: what waits, the runs of its jobs, and quarantined samples.

The staff pages and the API call this module. It reads rows that workers write, because the control
plane does not read the lakehouse itself. Each function takes a constant number of queries.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import (
    Count,
    DurationField,
    ExpressionWrapper,
    F,
    Max,
    Min,
    Q,
    QuerySet,
    Sum,
    Value,
)
from django.db.models.functions import TruncDay, TruncHour

from plans.models import UsageCopy
from workers.models import LakehouseRun, LandingBatch, QuarantinedSample

PIPELINE, HOUSEKEEPING = LakehouseRun.Job.PIPELINE, LakehouseRun.Job.HOUSEKEEPING
JOBS: Sequence[str] = LakehouseRun.Job.values
# As ``lakehouse.checks`` names them.
REASONS: Mapping[str, str] = {
    "null": "a column is empty",
    "negative": "a value is negative",
    "time": "its bucket begins after it was taken",
    "date": "it is in the partition of another day",
    "fall": "a counter fell without a new incarnation",
}
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
# Span of a history -> its length, and that of one step.
SPANS: Mapping[str, tuple[timedelta, timedelta]] = {
    "24h": (_DAY, _HOUR),
    "7d": (7 * _DAY, _DAY),
    "30d": (30 * _DAY, _DAY),
}
_SECOND = Value(timedelta(seconds=1))
# From the watermark of a run to its end.
_LAG = ExpressionWrapper(
    F("started_at") + F("seconds") * _SECOND - F("as_of"), output_field=DurationField()
)


@dataclass(frozen=True)
class Waiting:
    """The landing batches whose samples are not in the table bronze yet.

    ``n_without_file`` of the ``n_batches`` have no Parquet file yet; the others have one that is
    not committed. ``oldest_at`` is when the oldest batch was created; None if nothing waits.
    """

    n_batches: int
    n_samples: int
    n_without_file: int
    oldest_at: datetime | None


@dataclass(frozen=True)
class State:
    """The pipeline now.

    ``as_of`` is up to when the copy of usage is complete; None before the first copy. ``newest`` is
    the newest run of the pipeline, ``succeeded`` the newest that did not fail, ``kept`` the newest
    successful housekeeping; each is None if there is none. ``days_quarantine`` counts the samples
    that runs of the last 24 hours quarantined.
    """

    as_of: datetime | None
    lag: timedelta | None
    waiting: Waiting
    newest: LakehouseRun | None
    succeeded: LakehouseRun | None
    kept: LakehouseRun | None
    days_quarantine: int


@dataclass(frozen=True)
class Step:
    """Sums over the runs of the pipeline that began in one step of a history.

    ``lag`` is the longest time from the watermark of a run to the run's end; None if no run of the
    step found samples.
    """

    at: datetime
    n_runs: int = 0
    n_failed: int = 0
    n_samples: int = 0
    n_files: int = 0
    n_quarantined: int = 0
    cpu_seconds: float = 0
    lag: timedelta | None = None


def state(now: datetime) -> State:
    """Return the pipeline at ``now``, by six queries."""
    as_of = UsageCopy.objects.aggregate(as_of=Max("as_of"))["as_of"]
    found = runs().filter(job=PIPELINE)
    recently = found.filter(started_at__gt=now - _DAY).aggregate(n=Sum("n_quarantined"))
    return State(
        as_of,
        now - as_of if as_of else None,
        waiting(),
        found.first(),
        found.filter(error_code="").first(),
        runs().filter(job=HOUSEKEEPING, error_code="").first(),
        recently["n"] or 0,
    )


def waiting() -> Waiting:
    """Return what is not in bronze yet, by one query of the open batches."""
    reserved = Q(state=LandingBatch.State.RESERVED)
    found = LandingBatch.objects.exclude(state=LandingBatch.State.COMMITTED).aggregate(
        n=Count("number"),
        samples=Sum("n_rows"),
        without_file=Count("number", filter=reserved),
        oldest=Min("created_at"),
    )
    return Waiting(found["n"], found["samples"] or 0, found["without_file"], found["oldest"])


def runs() -> QuerySet[LakehouseRun]:
    """Return the runs of all jobs that are kept (40 days), the newest first."""
    return LakehouseRun.objects.order_by("-started_at", "-id")


def quarantined(reason: str = "") -> QuerySet[QuarantinedSample]:
    """Return the copied rows of the quarantine, the newest first; ``reason`` '' means all."""
    rows = QuarantinedSample.objects.order_by("-copied_at", "-id")
    return rows.filter(reason=reason) if reason else rows


def by_reason() -> Mapping[str, int]:
    """Return {reason: number of copied rows}, the most frequent first."""
    counted = QuarantinedSample.objects.order_by().values_list("reason").annotate(n=Count("id"))
    return dict(sorted(counted, key=lambda found: (-found[1], found[0])))


def history(span: str, now: datetime) -> Sequence[Step]:
    """Return the steps of ``span``, a key of ``SPANS``, up to ``now``, the oldest first; one query.

    A step begins at a full hour or at midnight (UTC). Steps without a run are among them.
    """
    length, size = SPANS[span]
    last = now.replace(minute=0, second=0, microsecond=0)
    last = last if size == _HOUR else last.replace(hour=0)
    steps = {at: Step(at) for at in (last - n * size for n in range(length // size))}
    trunc = TruncHour if size == _HOUR else TruncDay
    rows = (
        LakehouseRun.objects.filter(job=PIPELINE, started_at__gte=min(steps), started_at__lte=now)
        .annotate(at=trunc("started_at"))
        .values("at")
        .annotate(
            n_runs=Count("id"),
            n_failed=Count("id", filter=~Q(error_code="")),
            samples=Sum("n_samples"),
            new_files=Sum("n_files"),
            refused=Sum("n_quarantined"),
            cost=Sum("cpu_seconds"),
            longest=Max(_LAG),
        )
    )
    for row in rows:
        sums = (row["samples"], row["new_files"], row["refused"], row["cost"], row["longest"])
        steps[row["at"]] = Step(row["at"], row["n_runs"], row["n_failed"], *sums)
    return [steps[at] for at in sorted(steps)]
