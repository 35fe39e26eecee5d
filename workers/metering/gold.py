"""Gold usage: copy it to the database, and read one tenant's cells at a pinned version.

The copy replaces the days whose files differ between the version copied last and the newest. It is
idempotent; ``recording.copy_in`` refuses a version older than the last copy.
"""

import json
from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable

from plans.models import UsageCopy
from plans.usage import recording
from plans.usage.reading import UsageCell
from workers.metering import delta, roots
from workers.metering.pipeline import Table
from workers.metering.roots import Root

_COLUMNS = "tenant_id, space_id, address, meter, bucket_at, quantity"


@roots.in_words()
def copy_newest(root: Root) -> int | None:
    """Copy what the newest version changed; return the version, or None if there is nothing to do.

    Raises:
        CopyIsOlder: another process copied a newer version in the meantime.
    """
    if not delta.exists(root, delta.USAGE):
        return None
    table = delta.open_table(root, delta.USAGE)
    table_id, version = str(table.metadata().id), int(table.version())
    as_of = _note(table).get("as_of")
    # A replaced table has another id, so that all its days are copied.
    newest = UsageCopy.objects.filter(table_id=table_id).order_by("-table_version").first()
    last = newest.table_version if newest else None
    if as_of is None or last == version:
        return None
    days = changed_days(root, table, last)
    recording.copy_in(
        table_id=table_id,
        table_version=version,
        as_of=datetime.fromisoformat(as_of),
        days=days,
        cells=_cells_of(table, days),
    )
    return version


@roots.in_words()
def is_current(root: Root) -> bool:
    """Return whether the newest gold was computed from the newest bronze."""
    if not delta.exists(root, delta.BRONZE):
        return True
    if not delta.exists(root, delta.USAGE):
        return False
    made_from = _note(delta.open_table(root, delta.USAGE)).get("bronze_version")
    return bool(made_from == delta.open_table(root, delta.BRONZE).version())


def cells(
    root: Root, pin: Table, tenant_id: str, starts_at: datetime, ends_at: datetime
) -> list[UsageCell]:
    """Return the tenant's cells with buckets in [starts_at, ends_at), at the pinned version.

    Raises:
        TableReplaced: the pinned table does not exist any more.
    """
    table = delta.open_table(root, delta.USAGE, version=pin.version, table_id=pin.id)
    # ``date`` is the partition column: it limits the files that are read.
    first, last = starts_at.astimezone(UTC).date(), ends_at.astimezone(UTC).date()
    where = (
        f"tenant_id = {delta.text(tenant_id)} AND date >= date '{first}' AND date <= date '{last}' "
        f"AND bucket_at >= {delta.instant(starts_at)} AND bucket_at < {delta.instant(ends_at)}"
    )
    return _read(table, where)


def changed_days(root: Root, table: DeltaTable, since: int | None) -> set[date]:
    """Return the days whose files differ between version ``since`` (None: empty) and ``table``."""
    # Files are immutable, so equal paths mean equal content.
    now = _files(table)
    before = _files(delta.open_table(root, delta.USAGE, version=since)) if since is not None else {}
    return {day for day in {*now, *before} if now.get(day) != before.get(day)}


def _files(table: DeltaTable) -> dict[date, frozenset[str]]:
    found: dict[date, set[str]] = {}
    for action in pa.table(table.get_add_actions(flatten=True)).to_pylist():
        found.setdefault(action["partition.date"], set()).add(action["path"])
    return {day: frozenset(paths) for day, paths in found.items()}


def _note(table: DeltaTable) -> dict[str, Any]:
    """Return what the Spark job noted in its newest commit; compactions carry no note."""
    for entry in table.history():
        note: dict[str, Any] = json.loads(entry.get("userMetadata") or "{}")
        if note.get("as_of"):
            return note
    return {}


def _cells_of(table: DeltaTable, days: set[date]) -> list[UsageCell]:
    """Return all cells of ``days`` at once.

    So the transaction of the copy does not wait for the lakehouse.
    """
    if not days:
        return []
    literals = ", ".join(f"date '{day}'" for day in sorted(days))
    return _read(table, f"date IN ({literals})")


def _read(table: DeltaTable, where: str) -> list[UsageCell]:
    rows = delta.ask(f"SELECT {_COLUMNS} FROM usage WHERE {where}", {"usage": table})
    return [UsageCell(**row) for row in rows]
