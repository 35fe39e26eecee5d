"""The work of the periodic tasks that land samples, compute usage and find due invoices.

In ``land`` and ``run_pipeline`` an expected failure is logged once per run, and the next run tries
again. The command ``manage.py compute_usage`` calls ``compute_usage`` too.
"""

from dataclasses import dataclass
from datetime import datetime

import structlog

from controlplane.core.audit import SYSTEM
from controlplane.core.errors import WaypostError
from plans.invoicing import (
    close_runs,
    granting,
    invoice_closing,
    invoice_verification,
    issuing,
    sample_readings,
)
from workers.metering import gold, housekeeping, ingest, pipeline, quarantine, roots

logger = structlog.get_logger(__name__)

HOUSEKEEPING_HOUR = 2  # UTC


@dataclass(frozen=True)
class Due:
    """Lists the ids of what waits for a worker.

    * ``runs``: close runs that have not ended.
    * ``actions``: requests to approve or issue the invoices of a close run.
    * ``closing``: invoices that are being closed, except those that a close run closes.
    * ``verifying``: invoices whose verification is requested and not finished.
    * ``reading``: sample readings that are not finished.
    """

    runs: tuple[str, ...]
    actions: tuple[str, ...]
    closing: tuple[str, ...]
    verifying: tuple[str, ...]
    reading: tuple[str, ...]


def land() -> None:
    """Bring new samples into bronze.

    An expected error, such as a full disk, is logged, and the samples wait for the next run.
    """
    try:
        ingest.ingest()
    except WaypostError as error:
        logger.error("samples wait for landing", **_fields(error))


def compute_usage() -> None:
    """Run the Spark job if bronze has new samples; then copy gold and quarantine. Idempotent.

    Raises:
        PipelineBusy: another process is running the job.
        WaypostError: usage is late; the message says why.
    """
    root = ingest.lakehouse_root()
    if not gold.is_current(root):
        pipeline.run(root)
    gold.copy_newest(root)
    quarantine.copy_newest(root)


def run_pipeline(now: datetime) -> None:
    """Compute usage and log errors; then delete temporary files and old rows (``ingest.tidy``).

    If a close waits for the pipeline, usage is not computed here: the close does it.
    """
    try:
        if pipeline.is_awaited(now):
            logger.info("left to a close, which computes usage")
        else:
            compute_usage()
    except pipeline.PipelineBusy:
        logger.info("another process computes usage")
    except WaypostError as error:
        logger.error("usage is late", **_fields(error))
    ingest.tidy(now)


def keep_lakehouse(now: datetime) -> None:
    """In the hour that begins at 02:00 UTC, compact and clean the lakehouse; log errors.

    The task runs every hour, so a restart of Celery beat does not move the next run.
    """
    if now.hour != HOUSEKEEPING_HOUR:
        return
    try:
        found = housekeeping.run(now)
        logger.info("the lakehouse was compacted", tables=found)
    except pipeline.PipelineBusy:
        logger.warning("another process computes usage; the lakehouse is compacted tomorrow")
    except WaypostError as error:
        logger.error("the lakehouse was not compacted", **_fields(error))


def _fields(error: WaypostError) -> dict[str, str]:
    """Return the fields of a log event about ``error``.

    ``said`` is the text of the error that caused this one, for example of the object store or the
    file system. It is absent if there is no such error.
    """
    said = roots.store_message(error)
    return {
        "code": error.error_code,
        "message": error.message,
        **({"said": said} if said else {}),
    }


def list_due(now: datetime) -> Due:
    """Begin a run of all closes that are due, mark overdue invoices, and book expired credit.

    Returns what waits for a worker: what was just requested and what was before. Idempotent.
    """
    close_runs.start_due(by=SYSTEM, now=now)
    issuing.mark_overdue(by=SYSTEM, now=now)
    granting.expire(by=SYSTEM, now=now)
    return Due(
        tuple(close_runs.unfinished()),
        tuple(close_runs.running_actions()),
        tuple(invoice_closing.closing_invoices()),
        tuple(invoice_verification.waiting()),
        tuple(sample_readings.waiting()),
    )
