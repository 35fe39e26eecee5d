"""Read the usage and the samples of a part of an invoice's period, at the versions that it pins.

The task ``workers.read_samples`` runs ``read``, which finishes the operation that
``sample_readings.request`` began. No Spark is started. Any error but a database error ends the
operation as failed, so that no reading is tried for ever.
"""

import uuid
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import structlog
from django.db import DatabaseError
from django.db.models import F
from django.utils import timezone

from controlplane.core import leases, operations
from controlplane.core.errors import WaypostError
from plans.invoicing import document, sample_readings
from plans.invoicing.evidence import SampleSet
from plans.invoicing.sample_readings import MOST_ROWS, Hour, Read
from plans.models import SampleReading
from plans.rating.periods import Period
from plans.usage.reading import merged
from workers.metering import bronze, delta, gold, ingest, recompute
from workers.metering.pipeline import Table
from workers.metering.roots import Root

logger = structlog.get_logger(__name__)

_SUBJECT = sample_readings.SUBJECT_TYPE
_LEASE_SECONDS = 60
_ATTEMPTS = 3
_STEPS = ("usage", "samples", "counters")
_METERS = (*bronze.columns_of_role("counter"), *bronze.columns_of_role("peak"))
_NO_SAMPLES = "0" * 64


def read(reading_id: str) -> None:
    """Read what the sample reading requests, store it, and finish its operation.

    The operation fails with the error that prevented the reading. It also fails after ``_ATTEMPTS``
    attempts that did not end, because an altered file may crash its reader, and if the reading was
    deleted. If the reading is finished already, its operation succeeds. Nothing happens if another
    process has the lease of the reading.

    Raises:
        DatabaseError: the answer cannot be stored; the periodic task tries again.
    """
    with leases.kept(f"read:{reading_id}", uuid.uuid4().hex, _LEASE_SECONDS) as won:
        rows = SampleReading.objects.filter(pk=reading_id)
        reading = rows.select_related("invoice").first() if won else None
        if reading is None:
            if won:
                _fail(reading_id, "invoice.reading_deleted", "It was deleted: request it again.")
            return
        if reading.finished_at is not None:
            operations.succeed(_SUBJECT, reading_id, up_to_generation=1)
            return
        if reading.attempts >= _ATTEMPTS:
            message = (
                f"The process that reads these samples was ended {_ATTEMPTS} times: a file of the "
                "lakehouse may crash its reader. Verify the invoice with files to find it."
            )
            _fail(reading_id, "invoice.reading_crashed", message)
            return
        # Before the reading, so that an attempt that a kill ends counts.
        rows.update(attempts=F("attempts") + 1)
        _answer(reading)


def _answer(reading: SampleReading) -> None:
    try:
        found = found_for(reading, ingest.lakehouse_root())
    except WaypostError as error:
        _fail(reading.pk, error.error_code, error.message)
    except DatabaseError:
        raise
    except Exception as error:  # any other one would be tried for ever
        logger.exception("samples cannot be read", reading=reading.pk)
        what = f"They cannot be read ({type(error).__name__}); the worker's log has the reason."
        _fail(reading.pk, "invoice.reading_failed", what)
    else:
        sample_readings.store(reading, found, timezone.now())


def _fail(reading_id: str, code: str, message: str) -> None:
    operations.fail(_SUBJECT, reading_id, code=code, message=message)


def found_for(reading: SampleReading, root: Root) -> Read:
    """Read the pinned tables for ``reading``; show each step in its operation. Idempotent.

    Raises:
        TableReplaced: a pinned table or a file of it is gone.
        StoreAway, StoreRefuses, BucketMissing: the object store fails.
    """
    invoice, part = reading.invoice, Period(reading.starts_at, reading.ends_at)
    made = document.loaded(invoice.document)
    pins = {name: Table(pin["id"], pin["version"]) for name, pin in
            invoice.manifest["tables"].items()}  # fmt: skip
    _show(reading, 0)
    used = gold.by_bucket(root, pins[delta.USAGE], invoice.tenant_id, part)
    _show(reading, 1)
    query = recompute.question(root, pins[delta.BRONZE], invoice.tenant_id, part)
    sets = recompute.samples_by_bucket(query)
    samples = recompute.sample_rows(query, reading.first, MOST_ROWS)
    _show(reading, 2)
    counters, n_counters = recompute.counters(query, MOST_ROWS)
    from_samples: dict[str, int] = {}
    for key, quantity in recompute.totals(query).items():
        before = from_samples.get(key.meter, 0)
        from_samples[key.meter] = merged(key.meter, before, quantity)
    return Read(
        n_samples=sum(found.n_samples for found in sets.values()),
        sample_hash=sample_readings.added(found.hash for found in sets.values()),
        n_counters=n_counters,
        from_samples=from_samples,
        hours=_hours(used, sets, ZoneInfo(made["period"]["time_zone"])),
        samples=[{name: _value(value) for name, value in row.items()} for row in samples],
        counters=[_counter(row) for row in counters],
    )


def _show(reading: SampleReading, n: int) -> None:
    """Show in the operation that step ``n`` runs."""
    states = ["done"] * n + ["running"] + ["waiting"] * (len(_STEPS) - n - 1)
    steps = [
        {"name": f"read {name}", "state": state, "message": ""}
        for name, state in zip(_STEPS, states, strict=True)
    ]
    operations.progress(_SUBJECT, reading.pk, steps)


def _hours(
    used: Mapping[datetime, Mapping[str, int]], sets: Mapping[datetime, SampleSet], zone: ZoneInfo
) -> list[Hour]:
    """Return the evidence of each local hour with usage or samples, in order."""
    by_hour: dict[datetime, list[datetime]] = {}
    for bucket in sorted({*used, *sets}):
        local = bucket.astimezone(zone).replace(minute=0, second=0, microsecond=0)
        # In UTC, because two local hours have one name when the clock is set back.
        by_hour.setdefault(local.astimezone(ZoneInfo("UTC")), []).append(bucket)
    found = []
    for starts_at, buckets in by_hour.items():
        quantities: dict[str, int] = {}
        for bucket in buckets:
            for meter, quantity in used.get(bucket, {}).items():
                quantities[meter] = merged(meter, quantities.get(meter, 0), quantity)
        mine = [sets[bucket] for bucket in buckets if bucket in sets]
        hashed = sample_readings.added(row.hash for row in mine) if mine else _NO_SAMPLES
        n_samples = sum(row.n_samples for row in mine)
        found.append(Hour(starts_at, n_samples, hashed, quantities))
    return found


def _value(value: Any) -> Any:
    """Return a value of a query as JSON; an instant has microseconds and is in UTC."""
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return value.isoformat() if isinstance(value, date) else value


def _counter(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a counter as JSON values, with only the meters whose usage is not zero."""
    key = ("space_id", "source", "boot_id", "address", "epoch")
    meters = {
        meter: {"before": before, "after": after, "used": used}
        for meter, before, after, used in _reached(row)
        if used
    }
    return {**{name: row[name] for name in key}, "meters": meters}


def _reached(row: Mapping[str, Any]) -> Iterable[tuple[str, int, int, int]]:
    for meter in _METERS:
        if f"after_{meter}" in row:
            before, after = row[f"before_{meter}"], row[f"after_{meter}"] or 0
            yield meter, before, after, after - before
        else:  # of a peak the largest value counts, whatever was before
            yield meter, 0, row[meter], row[meter]
