"""Copies gold usage into PostgreSQL, where all Django code reads it.

``workers.metering.gold`` calls ``copy_in`` after each pipeline run; ``plans.usage.reading`` reads
the copy.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice

from django.db import connection, transaction

from controlplane.core.errors import Conflict, Invalid
from plans.models import UsageCopy, UsageRecord
from plans.usage.reading import (
    COPY_LOCK,
    UsageCell,
)

_CHUNK = 5_000  # rows per INSERT


class CopyIsOlder(Conflict):
    """A newer version of this table, or the table that replaced it, has been copied already."""

    code = "usage.copy_older"


@dataclass(frozen=True)
class _Table:
    id: str
    version: int


def copy_in(
    *,
    table_id: str,
    table_version: int,
    as_of: datetime,
    days: Iterable[date],
    cells: Iterable[UsageCell],
) -> UsageCopy:
    """Replace all cells of ``days`` (UTC dates of buckets) and record the copy, in one transaction.

    Idempotent: copying the same version again writes the same cells. Readers see either the old or
    the new cells. Only one copy runs at a time.

    Raises:
        CopyIsOlder: a newer version was copied already, or the table was replaced.
        Invalid: a cell lies outside ``days``; nothing is written.
    """
    wanted = frozenset(days)
    with transaction.atomic():
        _only_one_at_a_time()
        table = _Table(table_id, table_version)
        _refuse_older(table)
        _remove(wanted)
        _insert(cells, wanted)
        copy, _ = UsageCopy.objects.update_or_create(
            table_id=table.id, table_version=table.version, defaults={"as_of": as_of}
        )
    return copy


def _only_one_at_a_time() -> None:
    with connection.cursor() as cursor:
        # Released when the transaction ends. Readers in ``keep_still`` take the same lock shared.
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [COPY_LOCK])


def _refuse_older(table: _Table) -> None:
    newest = UsageCopy.objects.order_by("-copied_at", "-id").first()
    if newest is None:
        return
    if newest.table_id == table.id:
        is_older = table.version < newest.table_version
    else:  # a rebuild made a new table; the table it replaced must not be copied again
        is_older = UsageCopy.objects.filter(table_id=table.id).exists()
    if is_older:
        raise CopyIsOlder(
            f"Version {table.version} of table {table.id} is older than the copied version "
            f"{newest.table_version} of table {newest.table_id}: copy the newest version instead."
        )


def _remove(days: frozenset[date]) -> None:
    for day in sorted(days):
        begins = datetime.combine(day, time(), UTC)
        UsageRecord.objects.filter(
            bucket_at__gte=begins, bucket_at__lt=begins + timedelta(days=1)
        ).delete()


def _insert(cells: Iterable[UsageCell], days: frozenset[date]) -> None:
    rows = (_row(cell, days) for cell in cells)
    # In chunks, so that the cells of a long period never have to fit into memory.
    while chunk := list(islice(rows, _CHUNK)):
        UsageRecord.objects.bulk_create(chunk)


def _row(cell: UsageCell, days: frozenset[date]) -> UsageRecord:
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
