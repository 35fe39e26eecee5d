"""What operators read of the pipeline by the API: its state, its runs, quarantined samples."""

from datetime import timedelta

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from tests.suites.api.conftest import problem
from tests.support.metering import pipeline_rows
from workers.models import LandingBatch

pytestmark = pytest.mark.django_db
PATH = "/api/v1/staff/pipeline"


def test_the_pipeline_before_its_first_run(staff: APIClient) -> None:
    found = staff.get(PATH).json()

    assert (found["as_of"], found["lag_seconds"], found["newest"]) == (None, None, None)
    assert found["waiting"]["batches"] == 0
    assert found["waiting"]["oldest_at"] is None


def test_the_pipeline_says_what_waits_and_what_ran(staff: APIClient) -> None:
    now = timezone.now()
    pipeline_rows.run(now - timedelta(hours=1), n_samples=5, n_quarantined=2)
    pipeline_rows.run(now, error_code="metering.pipeline_failed")
    LandingBatch.objects.create(id="a", n_rows=9)

    found = staff.get(PATH).json()

    assert found["newest"]["error_code"] == "metering.pipeline_failed"
    assert found["succeeded"]["samples"] == 5
    assert found["quarantined_in_24_hours"] == 2
    assert (found["waiting"]["samples"], found["waiting"]["batches_without_file"]) == (9, 1)


def test_runs_are_filtered_and_sorted(staff: APIClient) -> None:
    now = timezone.now()
    pipeline_rows.run(now - timedelta(days=2), cpu_seconds=9, n_files=3)
    pipeline_rows.run(now, cpu_seconds=5)
    pipeline_rows.run(now, job="housekeeping", files={"gold.usage": 3})

    kept = staff.get(f"{PATH}/runs?job=housekeeping").json()["items"]
    costs = staff.get(f"{PATH}/runs?job=pipeline&sort=-cpu_seconds").json()["items"]
    since = (now - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    recent = staff.get(f"{PATH}/runs?since={since}").json()["items"]

    assert [run["files"] for run in kept] == [{"gold.usage": 3}]
    assert [run["cpu_seconds"] for run in costs] == [9, 5]
    assert costs[0]["new_files"] == 3
    assert len(recent) == 2
    problem(staff.get(f"{PATH}/runs?job=cooking"), 422, "request.invalid")


def test_quarantined_samples_are_filtered_by_reason_and_tenant(staff: APIClient) -> None:
    pipeline_rows.quarantined(timezone.now(), 1, "fall")
    pipeline_rows.quarantined(timezone.now(), 2, "time", tenant_id="ten_b", taken_at=None)

    resets = staff.get(f"{PATH}/quarantine?reason=fall").json()["items"]
    other = staff.get(f"{PATH}/quarantine?tenant_id=ten_b").json()["items"]

    assert [row["detail"] for row in resets] == ["messages_in 100 -> 5"]
    assert [(row["seq"], row["taken_at"]) for row in other] == [(2, None)]


def test_nobody_but_staff_reads_it(owner: APIClient) -> None:
    for path in (PATH, f"{PATH}/runs", f"{PATH}/quarantine"):
        assert owner.get(path).status_code in (403, 404)
