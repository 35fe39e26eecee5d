"""The gauges of the lakehouse: what waits, and what the jobs did and cost, in four queries."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from controlplane import lakehouse_gauges
from workers.metering import run_history
from workers.models import LakehouseRun, LandingBatch

pytestmark = pytest.mark.django_db


def run(job: str, hours_ago: float, **columns: object) -> None:
    started_at = timezone.now() - timedelta(hours=hours_ago)
    LakehouseRun.objects.create(job=job, started_at=started_at, seconds=20, **columns)


def shown() -> dict[tuple[str, ...], float]:
    """Return {(gauge, value of its label if it has one): value}."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in lakehouse_gauges.families()
        for sample in family.samples
    }


def test_gauges_of_an_installation_without_runs() -> None:
    found = shown()

    assert found["waypost_lakehouse_runs", "pipeline"] == 0
    assert found["waypost_lakehouse_samples",] == 0
    assert found["waypost_landing_oldest_uncommitted_seconds",] == 0
    # No age before the first run: 0 would look like a run just now.
    names = {name for name, *_ in found}
    assert "waypost_lakehouse_last_success_age_seconds" not in names


def test_gauges_sum_a_day_and_show_the_newest_success(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    run("pipeline", 30, n_samples=1000, cpu_seconds=90)
    run("pipeline", 3, n_samples=10, n_quarantined=2, cpu_seconds=30)
    run("pipeline", 2, n_samples=5, cpu_seconds=20)
    run("pipeline", 1, error_code="metering.pipeline_failed")
    run("housekeeping", 49, files={"gold.usage": 9})
    run("housekeeping", 25, files={"gold.usage": 3, "bronze.samples": 4}, cpu_seconds=7)
    LandingBatch.objects.create(id="a", n_rows=1)

    with django_assert_num_queries(4):
        found = shown()

    assert found["waypost_lakehouse_runs", "pipeline"] == 3
    assert found["waypost_lakehouse_runs_failed", "pipeline"] == 1
    assert found["waypost_lakehouse_runs", "housekeeping"] == 0
    assert found["waypost_lakehouse_cpu_seconds", "pipeline"] == 50
    assert found["waypost_lakehouse_samples",] == 15
    assert found["waypost_lakehouse_quarantined",] == 2
    assert found["waypost_lakehouse_run_cpu_seconds", "pipeline"] == 20
    age = found["waypost_lakehouse_last_success_age_seconds", "pipeline"]
    assert age == pytest.approx(2 * 3600, abs=60)
    assert found["waypost_lakehouse_files", "gold.usage"] == 3
    assert found["waypost_lakehouse_files", "bronze.samples"] == 4
    assert found["waypost_landing_batches_uncommitted",] == 1
    assert found["waypost_landing_oldest_uncommitted_seconds",] > 0


def test_runs_are_forgotten_after_40_days() -> None:
    run("pipeline", 41 * 24)
    run("pipeline", 39 * 24, n_samples=1)

    run_history.forget(timezone.now())

    assert LakehouseRun.objects.get().n_samples == 1
