"""What operators read of the pipeline: its state, its history, and quarantined samples."""

from datetime import UTC, datetime, timedelta

import pytest
from pytest_django import DjangoAssertNumQueries

from controlplane import pipeline_reads
from tests.support.metering import pipeline_rows
from workers.models import LandingBatch

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 21, 10, 30, tzinfo=UTC)


def test_state_before_the_first_sample_is_empty(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    with django_assert_num_queries(6):
        found = pipeline_reads.state(NOW)

    assert (found.as_of, found.lag, found.newest, found.succeeded, found.kept) == (None,) * 5
    assert (found.waiting.n_batches, found.waiting.n_samples, found.days_quarantine) == (0, 0, 0)


def test_state_tells_the_newest_run_from_the_newest_success() -> None:
    pipeline_rows.run(NOW - timedelta(hours=30), n_quarantined=9)
    good = pipeline_rows.run(NOW - timedelta(hours=2), n_quarantined=2)
    bad = pipeline_rows.run(NOW - timedelta(hours=1), error_code="metering.pipeline_failed")
    kept = pipeline_rows.run(NOW - timedelta(hours=8), job="housekeeping")
    LandingBatch.objects.create(id="a", n_rows=7)
    LandingBatch.objects.create(id="b", n_rows=5, state="landed", path="date=2026-11-21/b")
    LandingBatch.objects.create(
        id="c", n_rows=99, state="committed", path="date=2026-11-21/c", commit_number=1
    )

    found = pipeline_reads.state(NOW)

    assert (found.newest, found.succeeded, found.kept) == (bad, good, kept)
    assert found.days_quarantine == 2
    waiting = found.waiting
    assert (waiting.n_batches, waiting.n_samples, waiting.n_without_file) == (2, 12, 1)
    assert waiting.oldest_at is not None


@pytest.mark.parametrize(("span", "n_steps"), [("24h", 24), ("7d", 7), ("30d", 30)])
def test_history_has_each_step_of_its_span(
    span: str, n_steps: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    pipeline_rows.run(NOW - timedelta(minutes=10), n_samples=5, cpu_seconds=4, n_files=2)
    pipeline_rows.run(NOW - timedelta(minutes=5), n_samples=6, cpu_seconds=3, n_quarantined=1)
    pipeline_rows.run(NOW - timedelta(minutes=1), error_code="metering.pipeline_busy")
    pipeline_rows.run(NOW - timedelta(days=31), n_samples=100)
    pipeline_rows.run(NOW - timedelta(minutes=2), job="housekeeping", cpu_seconds=50)

    with django_assert_num_queries(1):
        steps = pipeline_reads.history(span, NOW)

    assert len(steps) == n_steps
    assert steps == sorted(steps, key=lambda step: step.at)
    last = steps[-1]
    assert (last.n_runs, last.n_failed, last.n_samples, last.n_files) == (3, 1, 11, 2)
    assert (last.n_quarantined, last.cpu_seconds) == (1, 7)
    assert sum(step.n_runs for step in steps[:-1]) == 0


def test_the_lag_of_a_step_is_the_longest_from_a_watermark_to_the_end_of_its_run() -> None:
    begun = NOW - timedelta(minutes=20)
    for minutes in (3, 8):
        as_of = begun - timedelta(minutes=minutes)
        pipeline_rows.run(begun, seconds=30, as_of=as_of)

    last = pipeline_reads.history("24h", NOW)[-1]

    assert last.lag == timedelta(minutes=8, seconds=30)


def test_reasons_are_counted_the_most_frequent_first() -> None:
    for seq, reason in enumerate(("time", "fall", "fall"), start=1):
        pipeline_rows.quarantined(NOW, seq, reason)

    assert list(pipeline_reads.by_reason().items()) == [("fall", 2), ("time", 1)]
    assert [row.seq for row in pipeline_reads.quarantined("fall")] == [3, 2]
