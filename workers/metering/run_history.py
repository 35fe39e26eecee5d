"""The history of runs of Spark jobs (``LakehouseRun``), which /metrics and operators read.

``pipeline.run`` and ``housekeeping.run`` record their runs; ``ingest.tidy`` deletes old ones.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.utils import timezone

from controlplane.core.errors import WaypostError
from workers.models import LakehouseRun

_KEPT = timedelta(days=40)


@contextmanager
def recorded(job: LakehouseRun.Job) -> Iterator[LakehouseRun]:
    """Yield the row of a run that begins now, and store it when the block ends.

    The block fills in what the job reports. If it raises a ``WaypostError``, the row has its code.
    Nothing is stored after another exception, such as the one by which a worker is stopped.
    """
    run, began = LakehouseRun(job=job, started_at=timezone.now()), time.monotonic()
    try:
        yield run
    except WaypostError as error:
        run.error_code = error.error_code
        _store(run, began)
        raise
    _store(run, began)


def _store(run: LakehouseRun, began: float) -> None:
    run.seconds = time.monotonic() - began
    run.save()


def forget(now: datetime) -> None:
    """Delete runs that began over 40 days before ``now``."""
    LakehouseRun.objects.filter(started_at__lt=now - _KEPT).delete()
