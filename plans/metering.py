"""Takes gold usage into PostgreSQL, where everything in Django reads it.

Who calls it: ``workers.metering.gold`` after each pipeline run. Reads live in ``plans.usage`` and
are offered here too.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice

from django.db import connection, transaction

from controlplane.core.errors import Conflict, Invalid
from plans.models import UsageCopy, UsageRecord
from plans.usage import (
    COPY_LOCK,
    Figure,
    SeriesQuery,
    UsageCell,
    as_of,
    by_address,
    by_space,
    series,
    totals,
)

__all__ = [
    "CopyIsOlder",
    "Figure",
    "SeriesQuery",
    "UsageCell",
    "as_of",
    "by_address",
    "by_space",
    "copy_in",
    "series",
    "totals",
]

_CHUNK = 5_000


class CopyIsOlder(Conflict):
    """A newer version, or another table that replaced this one, has been copied already."""

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
    """Replace every cell of ``days`` (UTC dates of buckets) and record the copy, at once.

    Idempotent: the same version again writes the same cells again. Readers see the old cells or
    the new ones, never a mixture. One copy runs at a time.

    Raises:
        CopyIsOlder: the version is older than what was copied, or its table was replaced.
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
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [COPY_LOCK])


def _refuse_older(table: _Table) -> None:
    newest = UsageCopy.objects.order_by("-copied_at", "-id").first()
    if newest is None:
        return
    if newest.table_id == table.id:
        is_older = table.version < newest.table_version
    else:  # a rebuild made a new table; the one it replaced may not come back
        is_older = UsageCopy.objects.filter(table_id=table.id).exists()
    if is_older:
        raise CopyIsOlder(
            f"Version {table.version} of table {table.id} is older than the copied version "
            f"{newest.table_version} of {newest.table_id}: read the newest version and copy that."
        )


def _remove(days: frozenset[date]) -> None:
    for day in sorted(days):
        begins = datetime.combine(day, time(), UTC)
        UsageRecord.objects.filter(
            bucket_at__gte=begins, bucket_at__lt=begins + timedelta(days=1)
        ).delete()


def _insert(cells: Iterable[UsageCell], days: frozenset[date]) -> None:
    rows = (_row(cell, days) for cell in cells)
    while chunk := list(islice(rows, _CHUNK)):
        UsageRecord.objects.bulk_create(chunk)


def _row(cell: UsageCell, days: frozenset[date]) -> UsageRecord:
    if cell.bucket_at.astimezone(UTC).date() not in days:
        raise Invalid(
            f"A cell of {cell.bucket_at.isoformat()} lies outside the days to replace: name its "
            "day too.",
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
