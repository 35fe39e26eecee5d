"""The gauges of /metrics about the lakehouse: what waits, and the jobs that compute usage.

A label is a job or a table, so the number of time series is bounded. ``controlplane.gauges`` yields
these gauges with its own. Ages are in seconds.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Max, Min, Q, Sum
from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily

from plans.models import UsageCopy
from workers.models import LakehouseRun, LandingBatch

_RECENTLY = timedelta(days=1)


def families() -> Iterator[GaugeMetricFamily]:
    """Yield the gauges of this module with their present values, read by four queries."""
    now = timezone.now()
    as_of = UsageCopy.objects.aggregate(as_of=Max("as_of"))["as_of"]
    if as_of is not None:
        # No gauge before the first copy: an age of 0 would look like fresh usage.
        yield _gauge(
            "waypost_usage_as_of_age_seconds",
            "Age of the usage that pages and quotas read",
            _age(as_of, now),
        )
    waiting = LandingBatch.objects.exclude(state=LandingBatch.State.COMMITTED).aggregate(
        n=Count("number"), oldest=Min("created_at")
    )
    yield _gauge(
        "waypost_landing_batches_uncommitted",
        "Landed usage that is not in the Delta log yet",
        waiting["n"],
    )
    yield _gauge(
        "waypost_landing_oldest_uncommitted_seconds",
        "Age of the oldest samples that are not in the Delta log yet",
        _age(waiting["oldest"], now),
    )
    yield from _last_day(now)
    yield from _newest(now)


def _last_day(now: datetime) -> Iterator[GaugeMetricFamily]:
    """Yield the sums over the runs that began in the last 24 hours, by job."""
    rows = (
        LakehouseRun.objects.filter(started_at__gt=now - _RECENTLY)
        .values("job")
        .annotate(
            n=Count("id"),
            failed=Count("id", filter=~Q(error_code="")),
            cpu_seconds=Sum("cpu_seconds"),
            samples=Sum("n_samples"),
            quarantined=Sum("n_quarantined"),
        )
    )
    by_job: dict[str, dict[str, Any]] = {row["job"]: dict(row) for row in rows}
    for name, column, text in (
        ("waypost_lakehouse_runs", "n", "Runs in 24 hours, by job"),
        ("waypost_lakehouse_runs_failed", "failed", "Runs that failed in 24 hours, by job"),
        ("waypost_lakehouse_cpu_seconds", "cpu_seconds", "Processor time in 24 hours, by job"),
    ):
        family = GaugeMetricFamily(name, text, labels=["job"])
        for job in LakehouseRun.Job.values:
            family.add_metric([job], by_job.get(job, {}).get(column, 0))
        yield family
    pipeline = by_job.get(LakehouseRun.Job.PIPELINE, {})
    yield _gauge("waypost_lakehouse_samples", "New samples in 24 hours", pipeline.get("samples", 0))
    yield _gauge(
        "waypost_lakehouse_quarantined",
        "Refused samples and counter resets in 24 hours",
        pipeline.get("quarantined", 0),
    )


def _newest(now: datetime) -> Iterator[GaugeMetricFamily]:
    """Yield gauges of the newest run of each job that succeeded; none of a job that never did."""
    succeeded = LakehouseRun.objects.filter(error_code="")
    runs = succeeded.order_by("job", "-started_at").distinct("job")
    age = GaugeMetricFamily(
        "waypost_lakehouse_last_success_age_seconds",
        "Time since the last run began that succeeded, by job",
        labels=["job"],
    )
    seconds = GaugeMetricFamily(
        "waypost_lakehouse_run_seconds", "How long that run took, by job", labels=["job"]
    )
    cpu = GaugeMetricFamily(
        "waypost_lakehouse_run_cpu_seconds", "Processor time of that run, by job", labels=["job"]
    )
    files = GaugeMetricFamily(
        "waypost_lakehouse_files", "Files of a table after the last housekeeping", labels=["table"]
    )
    for run in runs:
        age.add_metric([run.job], _age(run.started_at, now))
        seconds.add_metric([run.job], run.seconds)
        cpu.add_metric([run.job], run.cpu_seconds)
        for table, n in sorted(run.files.items()):
            files.add_metric([table], n)
    yield from (age, seconds, cpu, files)


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, value=value)


def _age(since: datetime | None, now: datetime) -> float:
    return (now - since).total_seconds() if since else 0
