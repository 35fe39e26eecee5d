"""The beat's rounds of metering and billing: what runs by itself, with errors put into words.

Everything here is periodic, so an expected failure is logged once a round and tried again.
"""

from dataclasses import dataclass
from datetime import datetime

import structlog

from controlplane.core.audit import SYSTEM
from controlplane.core.errors import WaypostError
from plans import invoicing
from workers.metering import gold, ingest, pipeline, roots

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Due:
    """Ids of invoices whose close, or whose proof, waits for a worker."""

    closing: tuple[str, ...]
    verifying: tuple[str, ...]


def land() -> None:
    """Bring what moved into bronze; a full disk is said and everything waits."""
    try:
        ingest.ingest()
    except WaypostError as error:
        logger.error("samples wait for landing", **_words(error))


def compute_usage() -> None:
    """Compute usage if there are new samples, and copy it to where Django reads it. Idempotent.

    Raises:
        PipelineBusy: another process computes, and does so for us.
        WaypostError: usage is late; the message says why.
    """
    root = ingest.lakehouse_root()
    if not gold.is_current(root):
        pipeline.run(root)
    gold.copy_newest(root)


def run_pipeline() -> None:
    """Compute usage, with errors put into words for the log; a close that waits goes before."""
    try:
        if pipeline.is_awaited():
            logger.info("a close computes usage")
        else:
            compute_usage()
    except pipeline.PipelineBusy:
        logger.info("another process computes usage")
    except WaypostError as error:
        logger.error("usage is late", **_words(error))
    ingest.tidy()


def _words(error: WaypostError) -> dict[str, str]:
    said = roots.said(error)
    return {
        "code": error.error_code,
        "message": error.message,
        **({"said": said} if said else {}),
    }


def list_due(now: datetime) -> Due:
    """Ask for every close whose grace is over, mark overdue invoices; return what waits."""
    invoicing.close_due(by=SYSTEM, now=now)
    invoicing.mark_overdue(by=SYSTEM, now=now)
    return Due(tuple(invoicing.closing_invoices()), tuple(invoicing.verifications_waiting()))
