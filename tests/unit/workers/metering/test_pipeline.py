"""Running the Spark job: one at a time, bounded, without our secrets, with errors in words."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest
from django.utils import timezone
from pytest_django import Settings
from structlog.testing import capture_logs

from controlplane.core import leases
from controlplane.core.models import Lease
from tests.support.waiting import eventually
from workers.metering import housekeeping, pipeline
from workers.metering.pipeline import PipelineBusy, PipelineFailed, SparkJob, Table
from workers.models import LakehouseRun

pytestmark = pytest.mark.django_db
REPORT = {
    "tables": {"gold.usage": {"id": "g", "version": 4}}, "bronze_version": 3,
    "rows": {"samples": 2}, "as_of": "2026-11-21T10:00:00+00:00",
    "cpu_seconds": 3.5,
}  # fmt: skip


@pytest.fixture
def job(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """``job(code)`` puts a Python program in the place of the Spark job."""

    def program(code: str) -> None:
        monkeypatch.setattr(SparkJob, "command", lambda job: [sys.executable, "-c", code])

    return program


def test_run_reads_the_line_of_the_job(root: Path, job: Callable[[str], None]) -> None:
    job(f"print('noise'); print('''{json.dumps(REPORT)}''')")

    report = pipeline.run(root)

    assert report.tables == {"gold.usage": Table("g", 4)}
    assert (report.bronze_version, report.rows) == (3, {"samples": 2})
    row = LakehouseRun.objects.get()
    assert (row.job, row.error_code) == ("pipeline", "")
    assert (row.n_samples, row.n_quarantined, row.cpu_seconds) == (2, 0, 3.5)
    assert row.seconds > 0


def test_run_passes_on_the_job_s_own_words(root: Path, job: Callable[[str], None]) -> None:
    said = {"error": {"code": "lakehouse.jars_missing", "message": "run `make setup`"}}
    why = "print('the server said 501', file=sys.stderr)"
    job(f"import sys; {why}; print('''{json.dumps(said)}'''); sys.exit(2)")

    with capture_logs() as logged, pytest.raises(PipelineFailed) as failed:
        pipeline.run(root)

    assert failed.value.error_code == "lakehouse.jars_missing"
    assert failed.value.message == "run `make setup`"
    assert "the server said 501" in logged[0]["stderr"]
    assert LakehouseRun.objects.get().error_code == "lakehouse.jars_missing"


@pytest.mark.parametrize("code", ["raise SystemExit(1)", "import os; os.kill(os.getpid(), 9)", ""])
def test_run_of_a_job_that_says_nothing_fails_in_words(
    root: Path, job: Callable[[str], None], code: str
) -> None:
    job(code)

    with pytest.raises(PipelineFailed) as failed:
        pipeline.run(root)

    assert failed.value.error_code == "metering.pipeline_failed"
    assert "Traceback" not in failed.value.message


def test_run_stops_a_job_that_takes_too_long_with_its_children(
    root: Path, job: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids, process = tmp_path / "pids", SparkJob.process
    job(
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open('{pids}.new', 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
        f"os.replace('{pids}.new', '{pids}')\n"
        "time.sleep(60)"
    )
    family: list[psutil.Process] = []

    @contextmanager
    def known(job: SparkJob) -> Iterator[subprocess.Popen[str]]:
        with process(job) as running:
            eventually(pids.exists)
            family.extend(psutil.Process(int(pid)) for pid in pids.read_text().split())
            yield running

    monkeypatch.setattr(SparkJob, "process", known)
    with pytest.raises(PipelineFailed, match="took longer than 1 s"):
        pipeline.run(root, timeout_seconds=1)

    assert len(family) == 2
    # A killed grandchild is gone once init has reaped it, not at the instant of the signal.
    _, alive = psutil.wait_procs(family, timeout=10)
    assert [process for process in alive if process.status() != psutil.STATUS_ZOMBIE] == []


def test_run_takes_the_time_that_the_settings_give(
    root: Path, job: Callable[[str], None], settings: Settings
) -> None:
    settings.PIPELINE_TIMEOUT_SECONDS = 1
    job("import time; time.sleep(60)")

    with pytest.raises(PipelineFailed, match="took longer than 1 s"):
        pipeline.run(root)


@pytest.mark.parametrize(("container_mb", "heap"), [(8192, "4096m"), (600, "512m")])
def test_the_job_is_as_large_as_the_settings_say(
    root: Path, settings: Settings, container_mb: int, heap: str
) -> None:
    before = SparkJob(root).command()
    settings.PIPELINE_THREADS, settings.PIPELINE_BULK = 6, True
    settings.PIPELINE_CONTAINER_MB = container_mb

    after = SparkJob(root).command()

    assert before[-4:] == ["--threads", "2", "--memory", "1024m"]
    assert after[-5:] == ["--threads", "6", "--memory", heap, "--bulk"]


def test_run_gives_the_job_no_secret(
    root: Path, job: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAYPOST_SECRET_KEYS", "s3cret")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "of somebody else's account")
    monkeypatch.setenv("WAYPOST_CACHE", "/cache")
    job(
        "import json, os\n"
        "names = [n for n in os.environ if n.startswith(('WAYPOST_', 'DJANGO_', 'AWS_'))]\n"
        f"print(json.dumps({{**{REPORT!r}, 'rows': dict.fromkeys(names, 1)}}))"
    )

    assert pipeline.run(root).rows == {"WAYPOST_CACHE": 1}


def test_run_is_left_to_the_process_that_is_at_it(root: Path) -> None:
    leases.acquire(pipeline.LEASE, "another", 60)

    with pytest.raises(PipelineBusy):
        pipeline.run(root)


def test_run_gives_its_lease_back_when_the_job_fails(
    root: Path, job: Callable[[str], None]
) -> None:
    job("raise SystemExit(1)")
    with pytest.raises(PipelineFailed):
        pipeline.run(root)

    assert leases.acquire(pipeline.LEASE, "the next", 60)


def test_run_keeps_a_short_lease_for_as_long_as_the_job_lives(
    root: Path, job: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    @contextmanager
    def watched(job: SparkJob, process: Callable[..., Any] = SparkJob.process) -> Iterator[object]:
        with process(job) as running:
            seen.append(Lease.objects.get(name=pipeline.LEASE).expires_at)
            yield running
            seen.append(Lease.objects.get(name=pipeline.LEASE).expires_at)

    monkeypatch.setattr(SparkJob, "process", watched)
    monkeypatch.setattr(pipeline, "_RENEWED_SECONDS", 0.2)
    job(f"import time; time.sleep(1); print('x' * 70000); print('''{json.dumps(REPORT)}''')")

    assert pipeline.run(root).rows == {"samples": 2}

    assert seen[0] <= timezone.now() + timedelta(seconds=60)
    assert seen[0] < seen[1]


def test_run_stops_the_job_when_another_has_its_lease(
    root: Path, job: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def robbed(job: SparkJob, process: Callable[..., Any] = SparkJob.process) -> Iterator[object]:
        with process(job) as running:
            Lease.objects.filter(name=pipeline.LEASE).update(holder="another")
            yield running

    monkeypatch.setattr(SparkJob, "process", robbed)
    monkeypatch.setattr(pipeline, "_RENEWED_SECONDS", 0.1)
    job("import time; time.sleep(60)")

    with pytest.raises(PipelineBusy, match="lost its lease"):
        pipeline.run(root, timeout_seconds=20)

    assert Lease.objects.get(name=pipeline.LEASE).holder == "another"


def test_the_job_ends_with_the_worker_that_was_killed(tmp_path: Path) -> None:
    job = "from lakehouse.jobs.pipeline import end_with_stdin; end_with_stdin()"
    child = f"{job}\nimport time; print('up', flush=True); time.sleep(60)"
    holder = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "import django\n"
        "django.setup()\n"
        "from workers.metering.pipeline import SparkJob\n"
        f"SparkJob.command = lambda job: [sys.executable, '-c', {child!r}]\n"
        "with SparkJob(Path('.')).process() as process:\n"
        "    assert process.stdout.readline() == 'up\\n'\n"
        "    print(process.pid, flush=True); time.sleep(60)"
    )
    worker = subprocess.Popen([sys.executable, "-c", holder], stdout=subprocess.PIPE, text=True)
    assert worker.stdout
    orphan = psutil.Process(int(worker.stdout.readline()))

    worker.kill()
    worker.communicate()

    _, alive = psutil.wait_procs([orphan], timeout=10)
    assert [process for process in alive if process.status() != psutil.STATUS_ZOMBIE] == []


def test_housekeeping_records_its_files_and_cost(root: Path, job: Callable[[str], None]) -> None:
    done = {"days": 1, "files_before": 9, "files_after": 2}
    said = {"tables": {"gold.usage": done}, "cpu_seconds": 12.5}
    job(f"print('''{json.dumps(said)}''')")

    found = housekeeping.run(timezone.now())

    row = LakehouseRun.objects.get()
    assert found == {"gold.usage": done}
    assert (row.job, row.files, row.cpu_seconds) == ("housekeeping", {"gold.usage": 2}, 12.5)
