"""Read Delta tables: open one at a pinned or the newest version, and query tables in SQL.

The functions that read also raise ``StoreAway``, ``StoreRefuses`` and ``BucketMissing`` (``roots``)
if the object store fails.
"""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder
from deltalake.exceptions import DeltaError

from controlplane.core.errors import Conflict
from workers.metering import roots
from workers.metering.roots import Root

BRONZE = "bronze.samples"
QUARANTINE = "bronze.quarantine"
STATE = "state.buckets"
HEADS = "state.heads"
OPENINGS = "state.openings"
SOURCES = "state.sources"
USAGE = "gold.usage"
USAGE_DAILY = "gold.usage_daily"
QUALITY = "gold.quality"
# What delta-rs reports when a table refers to a file that does not exist: first for a folder, then
# for an object store.
_GONE = ("not found: No such file", "NoSuchKey")
# Table -> its folder below the root: as in ``lakehouse.schemas``, which a test compares.
FOLDERS = {
    BRONZE: "bronze/samples",
    QUARANTINE: "bronze/quarantine",
    STATE: "state/buckets",
    # A backup reads the versions in this order. Openings may be newer than heads, never older.
    HEADS: "state/heads",
    OPENINGS: "state/openings",
    SOURCES: "state/sources",
    USAGE: "gold/usage",
    USAGE_DAILY: "gold/usage_daily",
    QUALITY: "gold/quality",
}
# An entry of the log with this metadata, or with one of these operations, changes no row.
ROWS, UNCHANGED = "rows", "unchanged"
_NO_ROWS = ("OPTIMIZE", "VACUUM START", "VACUUM END", "ADD COLUMN")
# Tables that are read at their newest version only: by the next run of the Spark job, and the
# openings also by a close run. No invoice pins their versions.
WORKING = (HEADS, OPENINGS, SOURCES)


class TableReplaced(Conflict):
    """A table has another id than the pinned one, or the table or a file of it is missing."""

    code = "metering.table_replaced"


@roots.translated_errors()
def exists(root: Root, name: str) -> bool:
    """Return whether the table has been created. ``name`` is a key of ``FOLDERS``."""
    return DeltaTable.is_deltatable(roots.uri(root, FOLDERS[name]), roots.options(root))


@roots.translated_errors()
def open_table(
    root: Root, name: str, *, version: int | None = None, table_id: str = ""
) -> DeltaTable:
    """Return the table ``name`` at ``version`` (None: the newest), without reading its rows.

    ``table_id`` is the pinned id that the table must have; empty means any.

    Raises:
        TableReplaced: the table has another id or does not exist, or not in that version.
    """
    try:
        table = DeltaTable(
            roots.uri(root, FOLDERS[name]), version=version, storage_options=roots.options(root)
        )
    except DeltaError as error:
        raise TableReplaced(
            f"{name}{'' if version is None else f' at version {version}'} is not in "
            f"{roots.uri(root, '').rstrip('/')}: "
            "restore the lakehouse, then try again."
        ) from error
    found = str(table.metadata().id)
    if table_id and found != table_id:
        raise TableReplaced(
            f"{name} is table {found} and not {table_id}: restore the lakehouse from which this "
            "invoice was made, then try again."
        )
    return table


@roots.translated_errors()
def has_rows_of(table: DeltaTable, version: int) -> bool:
    """Return whether the open table has the same rows as its ``version``, an earlier one or equal.

    Only housekeeping, and the addition of meters, commit without a change of rows. If entries of
    the log were deleted, the answer is False.
    """
    later = int(table.version()) - version
    if later <= 0:
        return later == 0
    entries = table.history(later)
    return len(entries) == later and all(
        entry.get("operation") in _NO_ROWS or entry.get(ROWS) == UNCHANGED for entry in entries
    )


def ask(sql: str, tables: Mapping[str, DeltaTable]) -> list[dict[str, Any]]:
    """Return the rows of a DataFusion query, each as {column: value}.

    ``tables`` and the errors are those of ``columns``.
    """
    rows: list[dict[str, Any]] = columns(sql, tables).to_pylist()
    return rows


@roots.translated_errors()
def columns(sql: str, tables: Mapping[str, DeltaTable]) -> pa.Table:
    """Return the result of a DataFusion query as columns.

    ``tables``: name in the query -> table.

    Raises:
        TableReplaced: files of a table are missing.
    """
    builder = QueryBuilder()
    for name, table in tables.items():
        builder = builder.register(name, table)
    try:
        return pa.table(builder.execute(sql).read_all())
    except Exception as error:
        # DataFusion's errors share no class, so only the text distinguishes them.
        if not any(phrase in str(error) for phrase in _GONE):
            raise
        raise TableReplaced(
            "Files of the lakehouse are missing: restore the lakehouse, then try again."
        ) from error


def text(value: str) -> str:
    """Return ``value`` as an SQL literal."""
    return "'" + value.replace("'", "''") + "'"


def instant(value: Any) -> str:
    """Return an aware datetime as an SQL literal of the tables' timestamp type."""
    return f"arrow_cast('{value.isoformat()}', 'Timestamp(Microsecond, Some(\"UTC\"))')"
