"""Gold usage: copy it to the database, and read one tenant's cells at a pinned version.

A cell is one row: the usage of one meter of an address (or space) in one bucket. The copy replaces
the days whose files differ between the version that was copied last and the newest. Copying is
idempotent; ``recording.copy_in`` refuses a version older than the last copy.
"""

import gc
import json
from collections.abc import Iterable
from datetime import UTC, date, datetime
from functools import partial
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable

from plans.models import UsageCopy
from plans.rating.periods import Period
from plans.usage import recording
from plans.usage.meters import BY_SLUG, Kind
from plans.usage.reading import UsageCell
from workers.metering import delta, roots
from workers.metering.pipeline import APP, Report, Table
from workers.metering.roots import Root

_TRIES = 3  # to copy a day again while another process copies newer versions


class _Usage:
    """Reads gold usage at the version at which ``table`` is open."""

    def __init__(self, table: DeltaTable) -> None:
        self._table = table

    def files(self) -> dict[date, frozenset[str]]:
        """Return {day: paths of its files}; the table is partitioned by day (UTC)."""
        found: dict[date, set[str]] = {}
        for action in pa.table(self._table.get_add_actions(flatten=True)).to_pylist():
            found.setdefault(action["partition.date"], set()).add(action["path"])
        return {day: frozenset(paths) for day, paths in found.items()}

    def note(self) -> dict[str, Any]:
        """Return the note of the Spark job's newest commit: ``as_of`` and ``bronze_version``.

        Compactions carry no note, so older commits are searched. Empty if no commit has a note.
        """
        for entry in self._table.history():
            note: dict[str, Any] = json.loads(entry.get("userMetadata") or "{}")
            if note.get("as_of"):
                return note
        return {}

    def cells(self, where: str) -> list[UsageCell]:
        """Return the cells that the SQL condition ``where`` selects."""
        query = f"SELECT {', '.join(UsageCell._fields)} FROM usage WHERE {where}"
        return _cells_of(delta.columns(query, {"usage": self._table}))


@roots.translated_errors()
def copy_newest(root: Root) -> int | None:
    """Copy to the database what the newest version of gold usage changed; return this version.

    None if there is nothing to copy.

    Raises:
        CopyIsOlder: another process copied a newer version in the meantime.
        StoreAway, StoreRefuses, BucketMissing: the object store fails.
    """
    found = _newest(root)
    return _copy_changes(root, *found) if found else None


@roots.translated_errors()
def copy_again(root: Root) -> int:
    """Copy every day of the newest gold usage again; return how many days, 0 without gold.

    Fixes a copy whose rows or sums were altered in the database; also deletes days that gold lacks.
    Idempotent. Each day is a transaction of its own, so that a long table fits into memory.

    Raises:
        TableReplaced: the database has a copy of a newer version than the lakehouse.
        CopyIsOlder: other processes copied newer versions again and again.
        StoreAway, StoreRefuses, BucketMissing: the object store fails.
    """
    found = _newest(root)
    if found is None:
        return 0
    days = {*_Usage(found[0]).files(), *recording.copied_days()}
    for day in sorted(days):
        for tries_left in reversed(range(_TRIES)):
            try:
                _copy_day(root, day)
                break
            except recording.CopyIsOlder:  # another process copied a newer version meanwhile
                if not tries_left:
                    raise
    return len(days)


def _newest(root: Root) -> tuple[DeltaTable, datetime] | None:
    """Return gold usage at its newest version, and its ``as_of``; None if nothing computed it."""
    if not delta.exists(root, delta.USAGE):
        return None
    table = delta.open_table(root, delta.USAGE)
    as_of = _Usage(table).note().get("as_of")
    return (table, datetime.fromisoformat(as_of)) if as_of else None


def _copy_changes(root: Root, table: DeltaTable, as_of: datetime) -> int | None:
    """Copy the days that changed since the last copy; return the version, None if it was copied."""
    table_id, version = str(table.metadata().id), int(table.version())
    # A replaced table has another id, so that all its days are copied.
    newest = UsageCopy.objects.filter(table_id=table_id).order_by("-table_version").first()
    last = newest.table_version if newest else None
    if last == version:
        return None
    days = changed_days(root, table, last)
    # All cells at once, so that the transaction of the copy does not wait for the lakehouse.
    literals = ", ".join(f"date '{day}'" for day in sorted(days))
    recording.copy_in(
        table_id=table_id,
        table_version=version,
        as_of=as_of,
        days=days,
        cells=_Usage(table).cells(f"date IN ({literals})") if days else [],
    )
    return version


def _copy_day(root: Root, day: date) -> None:
    found = _newest(root)
    if found is None:
        return
    table, as_of = found
    # First: the copy of one day would record that all days of this version were copied.
    _copy_changes(root, table, as_of)
    recording.copy_in(
        table_id=str(table.metadata().id),
        table_version=int(table.version()),
        as_of=as_of,
        days=[day],
        cells=_Usage(table).cells(f"date = date '{day}'"),
        with_sums=True,
    )


@roots.translated_errors()
def is_current(root: Root) -> bool:
    """Return whether the newest gold was computed from all of bronze, or there is no bronze.

    Housekeeping of bronze after that changes nothing, because it changes no row.
    """
    if not delta.exists(root, delta.BRONZE):
        return True
    if not delta.exists(root, delta.USAGE):
        return False
    made_from = _Usage(delta.open_table(root, delta.USAGE)).note().get("bronze_version")
    return made_from is not None and delta.has_rows_of(
        delta.open_table(root, delta.BRONZE), int(made_from)
    )


@roots.translated_errors()
def report_without_run(root: Root) -> Report | None:
    """Return what the Spark job would report if it ran now, or None if it has something to do.

    It has nothing to do if each table that it writes includes all rows of bronze: the job notes the
    bronze version in each commit, as the version of the transaction ``pipeline.APP``. Quarantine
    and openings are exceptions, because the job writes them only when they change; it writes them
    before the heads.
    """
    if not all(delta.exists(root, name) for name in delta.FOLDERS):
        return None
    tables = {name: delta.open_table(root, name) for name in delta.FOLDERS}
    bronze = tables[delta.BRONZE]
    made = set(tables) - {delta.BRONZE, delta.QUARANTINE, delta.OPENINGS}
    versions = {tables[name].transaction_version(APP) for name in made}
    oldest = min(-1 if version is None else version for version in versions)
    if oldest < 0 or not delta.has_rows_of(bronze, oldest):
        return None
    return Report(
        tables={
            name: Table(str(table.metadata().id), int(table.version()))
            for name, table in tables.items()
            if name not in delta.WORKING
        },
        bronze_version=int(bronze.version()),
        rows={"samples": 0, "quarantined": 0, "files": 0},
        as_of=_Usage(tables[delta.USAGE]).note().get("as_of"),
    )


def cells(
    root: Root, pin: Table, tenant_id: str, starts_at: datetime, ends_at: datetime
) -> list[UsageCell]:
    """Return the tenant's cells with buckets in [starts_at, ends_at), from the version in ``pin``.

    Raises:
        TableReplaced: the pinned table does not exist any more.
    """
    table = delta.open_table(root, delta.USAGE, version=pin.version, table_id=pin.id)
    return _Usage(table).cells(_inside(tenant_id, starts_at, ends_at))


def by_bucket(
    root: Root, pin: Table, tenant_id: str, part: Period
) -> dict[datetime, dict[str, int]]:
    """Return {bucket: {meter: quantity}} of the tenant, from the version in ``pin``.

    The quantities of all spaces are added up; of a peak meter the largest one counts. The result
    has only the buckets that begin inside ``part``.

    Raises:
        TableReplaced: the pinned table does not exist any more.
    """
    table = delta.open_table(root, delta.USAGE, version=pin.version, table_id=pin.id)
    where = _inside(tenant_id, part.starts_at, part.ends_at)
    rows = delta.ask(
        "SELECT bucket_at, meter, CAST(sum(quantity) AS bigint) AS summed, "
        "max(quantity) AS largest "
        f"FROM usage WHERE {where} GROUP BY bucket_at, meter",
        {"usage": table},
    )
    found: dict[datetime, dict[str, int]] = {}
    for row in rows:
        is_peak = BY_SLUG[row["meter"]].kind is Kind.PEAK
        quantity = row["largest"] if is_peak else row["summed"]
        found.setdefault(row["bucket_at"], {})[row["meter"]] = quantity
    return found


def cells_by_arrow(
    root: Root, pin: Table, tenant_id: str, starts_at: datetime, ends_at: datetime
) -> list[UsageCell]:
    """Return the same as ``cells``, read by pyarrow instead of DataFusion.

    Raises:
        TableReplaced: the pinned table does not exist any more.
    """
    table = delta.open_table(root, delta.USAGE, version=pin.version, table_id=pin.id)
    first, last = starts_at.astimezone(UTC).date(), ends_at.astimezone(UTC).date()
    days = _Usage(table).files()
    paths = [path for day in days if first <= day <= last for path in sorted(days[day])]
    open_file, found = roots.reader(root), list[UsageCell]()
    own = (
        (pc.field("tenant_id") == tenant_id)
        & (pc.field("bucket_at") >= starts_at)
        & (pc.field("bucket_at") < ends_at)
    )
    for path in paths:
        with open_file(f"{delta.FOLDERS[delta.USAGE]}/{unquote(path)}") as file:
            # Spark writes instants as INT96, which has no time zone. They are in UTC (Delta's
            # protocol, "Partition Value Serialization" and Parquet's INT96).
            stored = pq.ParquetFile(file, coerce_int96_timestamp_unit="us")
            rows = stored.read(columns=list(UsageCell._fields))
        at = rows.schema.get_field_index("bucket_at")
        instants = rows.column(at).cast(pa.timestamp("us", "UTC"))
        found += _cells_of(rows.set_column(at, "bucket_at", instants).filter(own))
    return found


def _cells_of(rows: pa.Table) -> list[UsageCell]:
    found = (_values(rows.column(name)) for name in UsageCell._fields)
    # Not ``UsageCell._make``, which calls a function of Python for each cell.
    make = partial(tuple.__new__, UsageCell)
    was_enabled = gc.isenabled()
    # Python would search all objects for cycles again and again. That takes more time than making
    # 100,000 cells, which have no cycles.
    gc.disable()
    try:
        return list(map(make, zip(*found, strict=True)))
    finally:
        if was_enabled:
            gc.enable()


def _values(column: pa.ChunkedArray) -> Iterable[Any]:
    """Return the values of a column as Python objects, of equal ones the same object.

    Most values repeat, and the conversion of an instant takes microseconds.
    """
    encoded = column.unify_dictionaries().combine_chunks().dictionary_encode("encode")
    distinct = encoded.dictionary.to_pylist()
    return map(distinct.__getitem__, encoded.indices.to_pylist())


def _inside(tenant_id: str, starts_at: datetime, ends_at: datetime) -> str:
    """Return the condition of the tenant's rows with buckets in [starts_at, ends_at)."""
    # ``date`` is the partition column: it limits the files that are read.
    first, last = starts_at.astimezone(UTC).date(), ends_at.astimezone(UTC).date()
    return (
        f"tenant_id = {delta.text(tenant_id)} AND date >= date '{first}' AND date <= date '{last}' "
        f"AND bucket_at >= {delta.instant(starts_at)} AND bucket_at < {delta.instant(ends_at)}"
    )


def changed_days(root: Root, table: DeltaTable, since: int | None) -> set[date]:
    """Return the days (UTC) whose files differ between version ``since`` and ``table``.

    ``since`` None stands for an empty table: all days of ``table``.
    """
    # Files are immutable, so equal paths mean equal content.
    now = _Usage(table).files()
    before: dict[date, frozenset[str]] = {}
    if since is not None:
        before = _Usage(delta.open_table(root, delta.USAGE, version=since)).files()
    return {day for day in {*now, *before} if now.get(day) != before.get(day)}
