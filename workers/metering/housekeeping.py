"""Housekeeping of the lakehouse, once a day: compaction, checkpoints, deletion of old files.

The periodic task ``workers.keep_lakehouse`` and ``manage.py keep_lakehouse`` call ``run``.
"""

import json
import uuid
from datetime import datetime
from functools import partial
from typing import Any

import structlog
from django.conf import settings

from controlplane.core import leases
from workers.metering import bronze_housekeeping, delta, ingest, pipeline, roots, run_history
from workers.metering.pipeline import PipelineBusy, PipelineFailed, SparkJob
from workers.models import LakehouseRun

logger = structlog.get_logger(__name__)

_LEASE_SECONDS = 60


def run(now: datetime) -> dict[str, Any]:
    """Compact and clean all tables; return days and files by table. Idempotent.

    Bronze is left out while another process commits to it. The Spark job has the pipeline's lease,
    because both write the same tables.

    Raises:
        PipelineBusy: the pipeline runs now; bronze is done.
        PipelineFailed: the job failed or took too long; running it again is safe.
        StoreAway, StoreRefuses, BucketMissing: the object store fails.
    """
    root = ingest.lakehouse_root()
    # Outside the lease of the pipeline: bronze has its own, and need not wait for Spark.
    bronze = bronze_housekeeping.compact(root, now.date())
    holder = uuid.uuid4().hex
    with leases.held(pipeline.LEASE, holder, _LEASE_SECONDS) as won:
        if not won:
            raise PipelineBusy("The usage pipeline is running; try again when it is done.")
        renew = partial(leases.acquire, pipeline.LEASE, holder, _LEASE_SECONDS)
        job = SparkJob(root, "housekeeping")
        with run_history.recorded(LakehouseRun.Job.HOUSEKEEPING) as row:
            report = _parsed(*job.execute(settings.PIPELINE_TIMEOUT_SECONDS, renew))
            found = {**({delta.BRONZE: vars(bronze)} if bronze else {}), **report["tables"]}
            row.cpu_seconds = report.get("cpu_seconds", 0)
            row.files = {name: table["files_after"] for name, table in found.items()}
    return found


def _parsed(code: int, out: str, err: str) -> dict[str, Any]:
    """Return the report of a job that ended with exit code ``code``: ``tables`` and its cost.

    Raises:
        PipelineFailed: the job failed.
    """
    lines = [line for line in out.splitlines() if line.startswith("{")]
    answer: dict[str, Any] = json.loads(lines[-1]) if lines else {}
    if code == 0 and "tables" in answer:
        return answer
    logger.error("housekeeping failed", exit_code=code, stderr=roots.without_keys(err)[-4000:])
    if "error" in answer:
        raise PipelineFailed(answer["error"]["message"], code=answer["error"]["code"])
    raise PipelineFailed(
        f"Housekeeping of the lakehouse ended with exit code {code}. No table was harmed. It is "
        "tried again tomorrow; the worker's log has the reason."
    )
