"""Reads the copied usage of many tenants and windows at once, for the close of many periods.

The number of queries does not depend on the number of windows: one for each table of sums, and one
for the records. ``plans.usage.reading`` reads one window and has the rules.
"""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

from plans.models import UsageRecord, UsageSum
from plans.usage import reading
from plans.usage.meters import METERS
from plans.usage.reading import Figure, Level


class Window(NamedTuple):
    """The buckets of one tenant that begin in [starts_at, ends_at)."""

    tenant_id: str
    starts_at: datetime
    ends_at: datetime


def by_space(windows: Collection[Window]) -> dict[Window, list[Figure]]:
    """Return for each window what ``reading.by_space`` returns."""
    return _figures(windows, reading.OF_SPACES, ("space_id",))


def by_address(windows: Collection[Window]) -> dict[Window, list[Figure]]:
    """Return for each window what ``reading.by_address`` returns."""
    return _figures(windows, reading.OF_ADDRESSES, ("space_id", "address"))


class _Part(NamedTuple):
    """A range of time of the window with the position ``n``, in one table."""

    n: int
    tenant_id: str
    begins: datetime
    ends: datetime


def _figures(
    windows: Collection[Window], levels: tuple[Level, ...], columns: tuple[str, ...]
) -> dict[Window, list[Figure]]:
    listed = list(dict.fromkeys(windows))
    parts: dict[Level | None, list[_Part]] = {}
    for n, window in enumerate(listed):
        whole, left = reading.ranges(levels, window.starts_at, window.ends_at)
        for level, spans in [*whole, (None, left)]:
            mine = (_Part(n, window.tenant_id, *span) for span in spans)
            parts.setdefault(level, []).extend(mine)
    found: list[dict[tuple[str, ...], int]] = [{} for _ in listed]
    for level, rows in parts.items():
        for n, key, quantity in _summed(level, rows, columns):
            # Several parts of a window may have the key: whole days, and the hours around them.
            before = found[n].get(key)
            found[n][key] = (
                quantity if before is None else reading.merged(key[-1], before, quantity)
            )
    return {
        window: [_figure(key, quantity) for key, quantity in sorted(found[n].items())]
        for n, window in enumerate(listed)
    }


def _figure(key: tuple[str, ...], quantity: int) -> Figure:
    space_id, *address, meter = key
    return Figure(space_id, address[0] if address else "", meter, quantity)


def _summed(
    level: Level | None, parts: list[_Part], columns: Iterable[str]
) -> Iterator[tuple[int, tuple[str, ...], int]]:
    """Yield (position of the window, values of ``columns`` and meter, quantity)."""
    if not parts:
        return
    model: type[UsageSum | UsageRecord] = level.sums if level else UsageRecord
    time = level.column if level else "bucket_at"
    summed, largest = ("summed", "largest") if level else ("quantity", "quantity")
    keys = ", ".join(f"s.{column}" for column in columns)
    # Only names of this package's tables and columns are put into the text.
    sql = (
        f"SELECT w.n, {keys}, s.meter, sum(s.{summed}), max(s.{largest}) "
        "FROM unnest(%s::int[], %s::varchar[], %s::timestamptz[], %s::timestamptz[]) "
        "AS w (n, tenant_id, begins, ends) "
        f"JOIN {model._meta.db_table} s ON s.tenant_id = w.tenant_id AND s.meter = ANY(%s) "
        f"AND s.{time} >= w.begins AND s.{time} < w.ends GROUP BY w.n, {keys}, s.meter"
    )
    arrays: list[list[Any]] = [list(column) for column in zip(*parts, strict=True)]
    with connection.cursor() as cursor:
        cursor.execute(sql, [*arrays, list(METERS)])
        for n, *key, total, peak in cursor.fetchall():
            # The sum of bigint is numeric in PostgreSQL.
            yield n, tuple(key), int(peak if reading.is_peak(key[-1]) else total)
