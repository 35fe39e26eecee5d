"""The operator's page of the pipeline: empty, busy, failing; and quarantined samples."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from tests.suites.portal.conftest import As
from tests.support.metering import pipeline_rows
from tests.support.portal.rows import World
from workers.models import LandingBatch

pytestmark = pytest.mark.django_db
PAGE = "/staff/pipeline/"


def test_a_new_installation_is_told_what_will_come(world: World, as_: As) -> None:
    page = as_(world.staff).get(PAGE).content.decode()

    assert "never yet" in page
    assert "every sample that landed is in the lakehouse" in page
    assert "No job has run yet." in page
    assert "It runs once a day, in the hour from 02:00 UTC." in page
    assert "<svg" not in page


def test_runs_are_shown_with_cost_charts_files_and_what_waits(world: World, as_: As) -> None:
    now = timezone.now()
    pipeline_rows.run(now, n_samples=1234, n_files=5, n_quarantined=3, cpu_seconds=31.5, as_of=now)
    pipeline_rows.run(now - timedelta(hours=1), job="housekeeping", files={"gold.usage": 17})
    LandingBatch.objects.create(id="a", n_rows=77)

    page = as_(world.staff).get(PAGE).content.decode()

    for words in ("1,234", "31.5", ">gold.usage<", ">17<", ">77<", "1 without a file yet"):
        assert words in page
    assert page.count('<svg class="chart"') == 6
    assert "Longest lag, last 24 hours" in page
    assert "The same figures as a table" in page
    assert "/docs/lakehouse.html#jobs" in page


def test_a_failed_run_says_that_nothing_is_lost(world: World, as_: As) -> None:
    pipeline_rows.run(timezone.now(), error_code="lakehouse.jars_missing")

    page = as_(world.staff).get(PAGE).content.decode()

    assert "The last run failed" in page
    assert page.count("lakehouse.jars_missing") == 2
    assert "No sample is lost" in page


@pytest.mark.parametrize(
    ("span", "title"), [("7d", "7 days"), ("30d", "30 days"), ("nonsense", "24 hours")]
)
def test_the_charts_cover_the_chosen_span(world: World, as_: As, span: str, title: str) -> None:
    pipeline_rows.run(timezone.now())

    page = as_(world.staff).get(PAGE, {"span": span}).content.decode()

    assert f"New samples, last {title}" in page


def test_the_page_takes_as_many_queries_with_many_runs(
    world: World, as_: As, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for minutes in range(60):
        pipeline_rows.run(timezone.now() - timedelta(minutes=minutes))
    staff = as_(world.staff)

    with django_assert_max_num_queries(15):
        page = staff.get(PAGE).content.decode()

    assert "Next →" in page


def test_quarantined_samples_are_listed_by_reason(world: World, as_: As) -> None:
    staff = as_(world.staff)
    assert "Nothing is quarantined" in staff.get(PAGE + "quarantine/").content.decode()
    pipeline_rows.quarantined(timezone.now(), 1, "fall")
    pipeline_rows.quarantined(timezone.now(), 2, "time", address="", boot_id="boot-late")

    every = staff.get(PAGE + "quarantine/").content.decode()
    late = staff.get(PAGE + "quarantine/", {"reason": "time"}).content.decode()

    assert "messages_in 100 -&gt; 5" in every
    assert "fall (1)" in every
    assert "the source itself" in late
    assert "its bucket begins after it was taken" in late
    assert "messages_in" not in late
