"""Copies gold usage into PostgreSQL, so that pages, quotas and invoices need not read Delta tables.

``workers.metering.gold`` calls ``copy_in`` for each new version of gold; ``plans.usage.reading``
reads the copy.
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from typing import Any

from django.db import connection, transaction
from django.db.models import Model, QuerySet

from controlplane.core.errors import Conflict, Invalid
from plans.models import UsageCopy, UsageDay, UsageHour, UsageRecord, UsageSpaceDay
from plans.usage.reading import (
    COPY_LOCK,
    UsageCell,
)

_CHUNK = 5_000  # rows per INSERT
# The tables of sums, each with its column of time.
_SUMS = ((UsageHour, "hour_at"), (UsageSpaceDay, "day_at"), (UsageDay, "day_at"))


class CopyIsOlder(Conflict):
    """A newer version of this table, or a table that replaced it, has been copied already."""

    code = "usage.copy_older"


def copy_in(
    *,
    table_id: str,
    table_version: int,
    as_of: datetime,
    days: Iterable[date],
    cells: Iterable[UsageCell],
    with_sums: bool = False,
) -> UsageCopy:
    """Replace the cells of all tenants on ``days`` and record the copy, in one transaction.

    ``days`` are UTC dates of buckets, and ``cells`` all gold usage on them. ``as_of`` is the
    watermark of this version of the table. Idempotent: copying the same version again writes the
    same cells. Other transactions see either the old or the new cells. Waits for a copy that is
    running, and for transactions that called ``reading.keep_still``.

    ``with_sums`` also deletes all sums of the days first, in case they were altered. It reads whole
    tables of sums. Otherwise the triggers suffice.

    Raises:
        CopyIsOlder: a newer version was copied already, or the table was replaced.
        Invalid: a cell lies outside ``days``; nothing is written.
    """
    wanted = frozenset(days)
    with transaction.atomic():
        with connection.cursor() as cursor:
            # Taken before the check of the version, whose result another copy could change.
            # Released when the transaction ends. ``keep_still`` takes the same lock shared.
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [COPY_LOCK])
        require_newer(table_id, table_version)
        for day in sorted(wanted):
            _rows_of(day, UsageRecord, "bucket_at").delete()
            for sums, column in _SUMS if with_sums else ():
                _rows_of(day, sums, column).delete()
        rows = (record_of(cell, wanted) for cell in cells)
        # In chunks, so that the rows of a long period never have to fit into memory.
        while chunk := list(islice(rows, _CHUNK)):
            UsageRecord.objects.bulk_create(chunk)
        copy, _ = UsageCopy.objects.update_or_create(
            table_id=table_id, table_version=table_version, defaults={"as_of": as_of}
        )
    return copy


def copied_days() -> set[date]:
    """Return the UTC dates that have rows of copied usage or sums of them. Reads whole tables."""
    return {
        instant.date()
        for table, column in (*_SUMS, (UsageRecord, "bucket_at"))
        for instant in table._default_manager.datetimes(column, "day", tzinfo=UTC)
    }


def _rows_of(day: date, table: type[Model], column: str) -> QuerySet[Any]:
    begins = datetime.combine(day, time(), UTC)
    inside = {f"{column}__gte": begins, f"{column}__lt": begins + timedelta(days=1)}
    return table._default_manager.filter(**inside)


def require_newer(table_id: str, table_version: int) -> None:
    """Raise CopyIsOlder if a newer version of the table was copied, or a table that replaced it.

    A table that was never copied counts as the replacement of the one that was copied last. The
    same version as before is accepted. Call it while holding ``COPY_LOCK``.
    """
    newest = UsageCopy.objects.order_by("-copied_at", "-id").first()
    if newest is None:
        return
    if newest.table_id == table_id:
        is_older = table_version < newest.table_version
    else:  # another table: refuse it if it was copied before the newest one replaced it
        is_older = UsageCopy.objects.filter(table_id=table_id).exists()
    if is_older:
        raise CopyIsOlder(
            f"Version {table_version} of table {table_id} is older than the copied version "
            f"{newest.table_version} of table {newest.table_id}: copy the newest version instead."
        )


def record_of(cell: UsageCell, days: frozenset[date]) -> UsageRecord:
    """Return an unsaved row for ``cell``; raise Invalid if its UTC date is not in ``days``."""
    # Cells outside ``days`` are not deleted first: a second copy would store the cell once more.
    if cell.bucket_at.astimezone(UTC).date() not in days:
        raise Invalid(
            f"A cell of {cell.bucket_at.isoformat()} lies outside the days to replace: add its "
            "day to them.",
            code="usage.cell_outside_days",
        )
    return UsageRecord(
        tenant_id=cell.tenant_id,
        space_id=cell.space_id,
        address=cell.address,
        meter=cell.meter,
        bucket_at=cell.bucket_at,
        quantity=cell.quantity,
    )
