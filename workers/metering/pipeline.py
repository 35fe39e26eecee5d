"""Run the Spark job that computes usage as a separate process, with a time limit.

A lease admits one job at a time. The job is ``lakehouse.jobs.pipeline``. The interface is the job's
command line and one line of JSON on its standard output.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Self

import structlog
from django.conf import settings

from controlplane.core import leases
from controlplane.core.errors import Unavailable
from controlplane.core.models import Lease
from workers.metering import committer, roots, run_history
from workers.metering.roots import ObjectStore, Root
from workers.models import LakehouseRun

logger = structlog.get_logger(__name__)

LEASE = "lakehouse-pipeline"
APP = "pipeline"  # the job's name in the transactions of its tables, as in ``lakehouse.jobs``
# Spark refuses to start with a heap below 450 MiB (its UnifiedMemoryManager).
_LEAST_HEAP_MB = 512
# The lease is short, and renewed while the job runs. So a killed worker blocks the next run no
# longer than this.
_LEASE_SECONDS = 60
_RENEWED_SECONDS = 15  # between two renewals of the lease
_AWAITED = "lakehouse-pipeline-awaited"
# A close that found the job running tries again within 20 s of its end.
_AWAITED_SECONDS = 60
# Of Waypost's settings the job gets only its Spark master and the folders of its JARs and archives.
# The only secrets it gets are the keys of an object store (``ObjectStore.job_environment``).
_PASSED_ON = ("WAYPOST_JARS_DIR", "WAYPOST_CACHE", "WAYPOST_SPARK_MASTER")


class PipelineFailed(Unavailable):
    """The Spark job ended without a result. Bronze is complete; state and gold are late."""

    code = "metering.pipeline_failed"
    title = "Usage could not be computed"


class PipelineBusy(Unavailable):
    """Another process runs the Spark job, or took the lease of the job from this one."""

    code = "metering.pipeline_busy"
    title = "Usage is being computed"


@dataclass(frozen=True)
class Table:
    """Names a Delta table by its id, and one version of it."""

    id: str
    version: int


@dataclass(frozen=True)
class Report:
    """What the job reports after a run that succeeded.

    * ``tables``: name of each Delta table -> its id and a version. That of bronze is the version
      that the job read, the others are those after the run.
    * ``bronze_version``: the version of bronze that the job read; None if there is no bronze.
    * ``rows``: ``samples`` counts the new rows of bronze, also invalid ones. ``quarantined`` counts
      the invalid rows and the counter resets among them. ``files`` counts the new files of bronze.
    * ``as_of``: the time up to which usage is complete (ISO 8601); None without samples.
    * ``cpu_seconds``: the processor time of the job, without executors in other pods.
    """

    tables: Mapping[str, Table]
    bronze_version: int | None
    rows: Mapping[str, int]
    as_of: str | None
    cpu_seconds: float = 0

    @classmethod
    def parse(cls, code: int, out: str, err: str) -> Self:
        """Return the report of a job that ended with exit code ``code``; log a failure.

        ``out`` and ``err`` are the standard output and error of the job.

        Raises:
            PipelineFailed: the job failed, or it reported nothing.
        """
        lines = [line for line in out.splitlines() if line.startswith("{")]
        answer: dict[str, Any] = json.loads(lines[-1]) if lines else {}
        if code != 0 or "error" in answer or not answer:
            logger.error(
                "the pipeline job failed", exit_code=code, stderr=roots.without_keys(err)[-4000:]
            )
        if "error" in answer:
            raise PipelineFailed(answer["error"]["message"], code=answer["error"]["code"])
        if code != 0 or not answer:
            raise PipelineFailed(
                f"The usage pipeline ended with exit code {code}. No sample is lost, and it is "
                "retried automatically; the worker's log has the reason."
            )
        tables = {n: Table(table["id"], table["version"]) for n, table in answer["tables"].items()}
        cpu_seconds = answer.get("cpu_seconds", 0)
        return cls(tables, answer["bronze_version"], answer["rows"], answer["as_of"], cpu_seconds)


def run(root: Root, *, timeout_seconds: float | None = None) -> Report:
    """Run the Spark job, which computes state and gold from the newest bronze; return its report.

    ``timeout_seconds`` limits the job; None means PIPELINE_TIMEOUT_SECONDS.

    Raises:
        PipelineBusy: another process runs the job, or took the lease from this one.
        PipelineFailed: the job failed or took too long; running it again is safe.
        StoreAway, StoreRefuses, BucketMissing: the object store fails.
    """
    holder = uuid.uuid4().hex
    with leases.held(LEASE, holder, _LEASE_SECONDS) as won:
        if not won:
            raise PipelineBusy("The usage pipeline is running already; try again when it is done.")
        renew = partial(leases.acquire, LEASE, holder, _LEASE_SECONDS)
        # The job adds them to the other tables. Only ``committer`` writes to bronze.
        committer.add_lacking(root)
        limit = timeout_seconds or settings.PIPELINE_TIMEOUT_SECONDS
        with run_history.recorded(LakehouseRun.Job.PIPELINE) as row:
            report = Report.parse(*SparkJob(root).execute(limit, renew))
            row.cpu_seconds = report.cpu_seconds
            row.n_samples = report.rows.get("samples", 0)
            row.n_quarantined = report.rows.get("quarantined", 0)
            row.n_files = report.rows.get("files", 0)
            row.as_of = datetime.fromisoformat(report.as_of) if report.as_of else None
            return report


def await_turn(holder: str) -> None:
    """Reserve the next run of the job for ``holder``, a close that found the job running.

    The periodic task skips its runs meanwhile. Otherwise it could start the job before every retry
    of the close, if a run takes about as long as the pause between two runs. The reservation ends
    with ``end_turn``, or by itself after a minute. If another close has reserved the next run, this
    call does nothing, because any run computes the usage of all tenants.
    """
    leases.acquire(_AWAITED, holder, _AWAITED_SECONDS)


def end_turn(holder: str) -> None:
    """End the reservation of the next run if ``holder`` has it. Idempotent."""
    leases.release(_AWAITED, holder)


def is_awaited(now: datetime) -> bool:
    """Return whether a close has reserved the next run of the job."""
    return Lease.objects.filter(name=_AWAITED, expires_at__gt=now).exists()


class SparkJob:
    """Runs the Spark job on the lakehouse at ``root`` as a child process."""

    def __init__(self, root: Root, job: str = "pipeline", options: Sequence[str] = ()) -> None:
        self._root = root
        self._job = job  # a module of ``lakehouse.jobs`` with the same options
        self._options = options  # what this job has besides

    def execute(self, timeout_seconds: float, renew: Callable[[], bool]) -> tuple[int, str, str]:
        """Run the job; return its exit code, standard output and standard error.

        ``renew`` extends the lease and returns False if another process has the lease.

        Raises:
            PipelineBusy: another process took the lease; the job was stopped.
            PipelineFailed: the job took longer than ``timeout_seconds`` and was stopped.
        """
        ends_at = time.monotonic() + timeout_seconds
        with self.process() as process:
            while (left := ends_at - time.monotonic()) > 0:
                try:
                    # May be repeated after its timeout: no output is lost (subprocess).
                    out, err = process.communicate(timeout=min(left, _RENEWED_SECONDS))
                    return process.returncode, out, err
                except subprocess.TimeoutExpired:
                    if not leases.is_extended(LEASE, renew):
                        raise PipelineBusy(
                            "The usage pipeline lost its lease to another process and was "
                            "stopped; try again when that one is done."
                        ) from None
            raise PipelineFailed(
                f"The usage pipeline took longer than {timeout_seconds:.0f} s and was stopped. "
                "It starts again automatically; give the machine more memory or processors if "
                "this repeats."
            )

    def command(self) -> list[str]:
        """Return the command line of the job, with its threads and memory from the settings."""
        location = self._root.url if isinstance(self._root, ObjectStore) else str(self._root)
        # Half of the container. The rest is for Java outside its heap, for Python, and for the
        # worker itself.
        heap_mb = max(_LEAST_HEAP_MB, settings.PIPELINE_CONTAINER_MB // 2)
        size = ["--threads", str(settings.PIPELINE_THREADS), "--memory", f"{heap_mb}m"]
        bulk = ["--bulk"] if settings.PIPELINE_BULK else []
        module = [sys.executable, "-m", f"lakehouse.jobs.{self._job}"]
        return [*module, "--root", location, "--end-with-stdin", *size, *bulk, *self._options]

    @contextmanager
    def process(self) -> Iterator[subprocess.Popen[str]]:
        """Start the job and yield its process; kill the job if it still runs when the block ends.

        The job is a process group of its own (Python and Java). Its stdin is a pipe that only this
        process keeps open. So the job ends if the worker is killed (``--end-with-stdin``).
        """
        # An empty working directory: ``python -m`` also imports modules from there.
        with tempfile.TemporaryDirectory(prefix="waypost-pipeline-") as folder, _pipe() as stdin:
            process = subprocess.Popen(
                self.command(),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                cwd=folder,
                env=self._environment(),
                start_new_session=True,
            )
            try:
                yield process
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.communicate()

    def _environment(self) -> dict[str, str]:
        passed_on = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("WAYPOST_", "DJANGO_", "AWS_")) or name in _PASSED_ON
        }
        access = self._root.job_environment if isinstance(self._root, ObjectStore) else {}
        return {**passed_on, **access}


@contextmanager
def _pipe() -> Iterator[int]:
    """Open a pipe, yield its read end, and close both ends after the block.

    With ``subprocess.PIPE``, ``communicate`` would close the write end at once and so end the job.
    """
    reader, writer = os.pipe()
    try:
        yield reader
    finally:
        os.close(reader)
        os.close(writer)
