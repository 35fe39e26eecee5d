"""Reading and writing of Delta tables: create, read, append, merge, replace, versions.

Every write of the pipeline carries a Delta transaction id (``Commit``): the bronze version that the
table then includes. Delta itself skips a write with the same or an older id, so a job that was
killed between two tables can simply run again. Jobs call this module; transforms do not.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from typing import Any

from delta.tables import DeltaTable
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DateType, StructType

from lakehouse.errors import SchemaDiffers
from lakehouse.schemas import BRONZE, Table

# Invoices pin table versions for the audit period: eleven years, in days.
AUDIT_DAYS = 4018
_CONF = "spark.databricks.delta"
_ADDED_FILE = (
    "add struct<path: string, partitionValues: map<string, string>, dataChange: boolean, "
    "stats: string>"
)


@dataclass(frozen=True)
class Pin:
    """A table at one version, which is enough to read the same rows again."""

    table_id: str
    version: int


@dataclass(frozen=True)
class Snapshot:
    """A table at its newest version. ``done``: the bronze version that it includes (-1: none)."""

    pin: Pin
    done: int


@dataclass(frozen=True)
class Commit:
    """The transaction id of a write, and a note that is stored with it.

    ``app`` is the writer. ``version`` is the bronze version that the table includes afterwards.
    """

    app: str
    version: int
    note: str = ""


@dataclass(frozen=True)
class Added:
    """The bronze files that were added after a version: their rows, dates and number of rows."""

    rows: DataFrame
    dates: tuple[date, ...]
    n_rows: int


@dataclass(frozen=True)
class Lake:
    """The tables under one root, with the session that reads and writes them."""

    spark: SparkSession
    root: str

    def path(self, table: Table) -> str:
        return f"{self.root.rstrip('/')}/{table.path}"


def ensure(lake: Lake, table: Table) -> None:
    """Create the table with its constraints unless it exists. Idempotent.

    Raises:
        SchemaDiffers: it exists with other columns or types.
    """
    newest = _newest(lake, table)
    if _is_there(newest):
        _compare(newest, table)
        return
    columns = ", ".join(_column(field) for field in table.schema.fields)
    partitioned = f"PARTITIONED BY ({', '.join(table.partition_by)})" if table.partition_by else ""
    properties = ", ".join(f"'{k}' = '{v}'" for k, v in _properties(table).items())
    lake.spark.sql(
        f"CREATE TABLE IF NOT EXISTS delta.`{lake.path(table)}` ({columns}) USING delta "
        f"{partitioned} COMMENT '{_quoted(table.grain)}' TBLPROPERTIES ({properties})"
    )


def read(lake: Lake, table: Table, version: int | None = None) -> DataFrame:
    """Return the table's declared columns, at ``version`` or at the newest."""
    reader = lake.spark.read.format("delta")
    if version is not None:
        reader = reader.option("versionAsOf", version)
    return reader.load(lake.path(table)).select(*table.schema.fieldNames())


def snapshot(lake: Lake, table: Table, app: str) -> Snapshot | None:
    """Return the table's newest version and what ``app`` last wrote; None if there is no table."""
    newest = _newest(lake, table)
    if not _is_there(newest):
        return None
    done = newest.transactions().get(app)
    return Snapshot(_pin(newest), done.get() if done.isDefined() else -1)


def pin(lake: Lake, table: Table) -> Pin:
    """Return the id and the newest version of an existing table."""
    return _pin(_newest(lake, table))


def _newest(lake: Lake, table: Table) -> Any:
    # Delta's Python API does not offer transaction ids. This call always reads the newest log.
    jvm: Any = lake.spark._jvm
    log = jvm.org.apache.spark.sql.delta.DeltaLog
    return log.forTableWithSnapshot(lake.spark._jsparkSession, lake.path(table))._2()


def _is_there(newest: Any) -> bool:
    return bool(newest.version() >= 0)  # Delta gives a missing table the version -1


def _pin(newest: Any) -> Pin:
    return Pin(newest.metadata().id(), newest.version())


def added_since(lake: Lake, after: int, upto: int) -> Added:
    """Return the rows that the bronze versions (after, upto] added. -1 means from the beginning.

    A compaction adds no rows: it marks the files that it rewrites with ``dataChange`` false.
    """
    root = lake.path(BRONZE)
    logs = [f"{root}/_delta_log/{version:020d}.json" for version in range(after + 1, upto + 1)]
    try:
        files = _added_files(lake, logs)
    except AnalysisException:
        # A log entry was deleted after its retention: fall back to all of bronze.
        return _everything(lake, upto)
    dates = sorted({date.fromisoformat(add["partitionValues"]["date"]) for add in files})
    n_rows = sum(json.loads(add["stats"] or "{}").get("numRecords", 0) for add in files)
    paths = [f"{root}/{add['path']}" for add in files]
    return Added(_parquet(lake, paths), tuple(dates), n_rows)


def append(lake: Lake, table: Table, rows: DataFrame, commit: Commit) -> None:
    """Append rows. Repeating the same commit does nothing."""
    writer = rows.select(*table.schema.fieldNames()).write.format("delta").mode("append")
    _with_id(writer, commit).save(lake.path(table))


def replace_from(
    lake: Lake, table: Table, rows: DataFrame, first_date: date, commit: Commit
) -> None:
    """Replace all rows of ``first_date`` and later. Repeating the same commit does nothing."""
    writer = rows.select(*table.schema.fieldNames()).write.format("delta").mode("overwrite")
    writer = writer.option("replaceWhere", f"date >= date'{first_date}'")
    _with_id(writer, commit).save(lake.path(table))


def overwrite(lake: Lake, table: Table, rows: DataFrame, note: str) -> None:
    """Replace all rows in one commit. Older versions stay readable for the audit period."""
    writer = rows.select(*table.schema.fieldNames()).write.format("delta").mode("overwrite")
    writer.option("userMetadata", note).save(lake.path(table))


def merge_maxima(
    lake: Lake, table: Table, rows: DataFrame, dates: Sequence[date], commit: Commit
) -> None:
    """Merge rows: keep the larger value of each column that is not in the key; insert new keys.

    Columns of earliest instants (``first_…``) keep the smaller value. ``rows`` has one row per key,
    all on ``dates``; only those partitions are read. Idempotent, even without the commit's id.
    """
    # Literal dates in the condition let Delta skip all other partitions.
    literals = ", ".join(f"date'{day}'" for day in dates)
    same = " AND ".join(f"t.{c} = s.{c}" for c in table.key)
    columns = [c for c in table.schema.fieldNames() if c not in {*table.key, "date"}]
    merged = {c: f"{_extreme(c)}(t.{c}, s.{c})" for c in columns}
    # Without this condition MERGE would rewrite files in which no value changes.
    changed = " OR ".join(f"t.{c} <> {expression}" for c, expression in merged.items())
    target = DeltaTable.forPath(lake.spark, lake.path(table)).alias("t")
    with _session_id(lake.spark, commit):
        (
            target.merge(
                rows.select(*table.schema.fieldNames()).alias("s"),
                f"t.date = s.date AND t.date IN ({literals}) AND {same}",
            )
            .whenMatchedUpdate(condition=changed, set=dict(merged))
            .whenNotMatchedInsertAll()
            .execute()
        )


def _extreme(column: str) -> str:
    return "least" if column.startswith("first_") else "greatest"


def _added_files(lake: Lake, logs: list[str]) -> list[Any]:
    if not logs:
        return []
    entries = lake.spark.read.schema(_ADDED_FILE).json(logs)
    wanted = entries.where(F.col("add.dataChange")).select("add.*")
    return wanted.collect()


def _everything(lake: Lake, version: int) -> Added:
    rows = read(lake, BRONZE, version)
    dates = [row["date"] for row in rows.select("date").distinct().collect()]
    return Added(rows, tuple(sorted(dates)), rows.count())


def _parquet(lake: Lake, paths: list[str]) -> DataFrame:
    if not paths:
        return lake.spark.createDataFrame([], BRONZE.schema)
    reader = lake.spark.read.schema(BRONZE.schema).option("basePath", lake.path(BRONZE))
    return reader.parquet(*paths).select(*BRONZE.schema.fieldNames())


def _with_id(writer: Any, commit: Commit) -> Any:
    writer = writer.option("txnAppId", commit.app).option("txnVersion", commit.version)
    return writer.option("userMetadata", commit.note) if commit.note else writer


@contextmanager
def _session_id(spark: SparkSession, commit: Commit) -> Iterator[None]:
    """Set the transaction id in the session, because MERGE accepts it nowhere else."""
    settings = {
        f"{_CONF}.write.txnAppId": commit.app,
        f"{_CONF}.write.txnVersion": str(commit.version),
    }
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name in settings:
            spark.conf.unset(name)


def _compare(newest: Any, table: Table) -> None:
    # The order of columns does not matter: reads and writes select them by name.
    found = StructType.fromJson(json.loads(newest.schema().json()))
    there = [(f.name, f.dataType) for f in found.fields]
    wanted = [(f.name, f.dataType) for f in table.schema.fields]
    if sorted(there, key=str) != sorted(wanted, key=str):
        raise SchemaDiffers(
            f"The columns of {table.name} differ from those that this version of Waypost writes: "
            "run the migration named in lakehouse/schemas.py, or install the version that wrote it."
        )


def _properties(table: Table) -> dict[str, str]:
    kept = f"interval {AUDIT_DAYS} days"
    properties = {
        "delta.logRetentionDuration": kept,
        "delta.deletedFileRetentionDuration": kept,
        # Off, because not every Delta reader supports deletion vectors (docs/lakehouse.md).
        "delta.enableDeletionVectors": "false",
    }
    if table.statistics:
        properties["delta.dataSkippingStatsColumns"] = ",".join(table.statistics)
    for name, condition in table.constraints.items():
        properties[f"delta.constraints.{name}"] = _quoted(condition)
    return properties


def _column(field: Any) -> str:
    kind = "date" if isinstance(field.dataType, DateType) else field.dataType.simpleString()
    comment = f" COMMENT '{_quoted(field.metadata['comment'])}'"
    return f"`{field.name}` {kind}{'' if field.nullable else ' NOT NULL'}{comment}"


def _quoted(text: str) -> str:
    return text.replace("'", "\\'")
