"""Rows of the pipeline's history, as workers store them."""

from datetime import datetime
from typing import Any

from workers.models import LakehouseRun, QuarantinedSample


def run(started_at: datetime, job: str = "pipeline", **columns: Any) -> LakehouseRun:
    """Store a run of ``job`` that took 20 s unless ``columns`` say otherwise."""
    given = {"seconds": 20, **columns}
    return LakehouseRun.objects.create(job=job, started_at=started_at, **given)


def quarantined(at: datetime, seq: int, reason: str = "fall", **columns: Any) -> QuarantinedSample:
    """Store a quarantined sample of one broker, which was taken and copied at ``at``."""
    given = {
        "table_id": "q",
        "table_version": seq,
        "tenant_id": "ten_a",
        "space_id": "spc_1",
        "source": "spc_1/broker-0",
        "boot_id": "boot-1",
        "address": "orders",
        "epoch": 0,
        "batch_id": "batch",
        "detail": "messages_in 100 -> 5" if reason == "fall" else "",
        "taken_at": at,
        **columns,
    }
    return QuarantinedSample.objects.create(copied_at=at, seq=seq, reason=reason, **given)
