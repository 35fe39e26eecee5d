"""Reads and writes Delta tables: create, read, append, merge, replace, look up versions.

Every write of the pipeline carries a Delta transaction id (``Commit``): the name of the writer, and
the bronze version that the table then includes. Delta skips a write whose version is not above that
of the same writer's last write, so a job that was killed between two tables can run again. Jobs
call this module; transforms do not.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from typing import Any

from delta.tables import DeltaTable
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lakehouse import schemas
from lakehouse.errors import SchemaDiffers
from lakehouse.schemas import BRONZE, Table

_CONF = "spark.databricks.delta"
_ADDED_FILE = (
    "add struct<path: string, partitionValues: map<string, string>, dataChange: boolean, "
    "stats: string>"
)


@dataclass(frozen=True)
class Pin:
    """The id of a table and one version of it, which is enough to read the same rows again."""

    table_id: str
    version: int


@dataclass(frozen=True)
class Snapshot:
    """The newest version of a table at the time when the function ``snapshot`` looked it up.

    ``done`` is the bronze version that the table includes, -1 for none. It means nothing if the
    table is bronze itself.
    """

    pin: Pin
    done: int


@dataclass(frozen=True)
class Commit:
    """The transaction id of a write (``app`` and ``version``), and a note that is stored with it.

    ``app`` names the writer. ``version`` is the bronze version that the table includes afterwards;
    it must rise from write to write.
    """

    app: str
    version: int
    note: str = ""

    def on(self, writer: Any) -> Any:
        """Set this transaction id and note on ``writer``, a Spark writer, and return ``writer``."""
        writer = writer.option("txnAppId", self.app).option("txnVersion", self.version)
        return writer.option("userMetadata", self.note) if self.note else writer

    @contextmanager
    def in_session(self, spark: SparkSession) -> Iterator[None]:
        """Set the transaction id in the session for the block: MERGE accepts it nowhere else.

        The note is not stored.
        """
        settings = {
            f"{_CONF}.write.txnAppId": self.app,
            f"{_CONF}.write.txnVersion": str(self.version),
        }
        for name, value in settings.items():
            spark.conf.set(name, value)
        try:
            yield
        finally:
            # Unset even after a failure: the id of this commit would make Delta skip the next one.
            for name in settings:
                spark.conf.unset(name)


@dataclass(frozen=True)
class Added:
    """The bronze rows that were added between two versions, as ``added_since`` returns them.

    ``dates`` are the partitions of these rows in ascending order; empty if nothing was added.
    ``n_rows`` and ``n_files`` are the numbers of rows and files. ``earliest_bucket`` is no later
    than any ``bucket_at`` of them, as ISO 8601 text; empty if it is not known.
    """

    rows: DataFrame
    dates: tuple[date, ...]
    n_rows: int
    earliest_bucket: str = ""
    n_files: int = 0

    def not_before(self, alias: str) -> str:
        """Return ``AND bucket_at >= …`` as SQL, with which Delta skips files; empty if unknown."""
        earliest = self.earliest_bucket
        return f" AND {alias}bucket_at >= timestamp'{earliest}'" if earliest else ""


@dataclass(frozen=True)
class Lake:
    """The root of all tables (a folder or ``s3a://…``), and the session that accesses them."""

    spark: SparkSession
    root: str

    def path(self, table: Table) -> str:
        return f"{self.root.rstrip('/')}/{table.path}"

    def threads(self) -> ThreadPoolExecutor:
        """Return a pool of threads for which this Spark session is the active one.

        Delta takes the active session of the thread that calls it, and fails if there is none.
        """

        def activate() -> None:
            java: Any = SparkSession._get_j_spark_session_class(self.spark._jvm)
            java.setActiveSession(self.spark._jsparkSession)

        return ThreadPoolExecutor(initializer=activate)

    def log(self, table: Table) -> "Log":
        """Read the newest state of the table's Delta log. The table need not exist."""
        # Delta's Python API does not offer transaction ids. This call always reads the newest log.
        jvm: Any = self.spark._jvm
        log = jvm.org.apache.spark.sql.delta.DeltaLog
        return Log(log.forTableWithSnapshot(self.spark._jsparkSession, self.path(table))._2())

    def added_files(self, logs: list[str]) -> list[Any]:
        """Return a row (``path``, ``partitionValues``, ``stats``…) for each file with new rows.

        ``logs`` are the paths of log entries. Files that a compaction rewrote are left out.

        Raises:
            AnalysisException: a log entry does not exist.
        """
        if not logs:
            return []
        entries = self.spark.read.schema(_ADDED_FILE).json(logs)
        # A compaction marks the files that it rewrites with ``dataChange`` false.
        wanted = entries.where(F.col("add.dataChange")).select("add.*")
        return wanted.collect()

    def bronze_files(self, paths: list[str]) -> DataFrame:
        """Return the rows of the bronze files at ``paths``."""
        if not paths:
            return self.spark.createDataFrame([], BRONZE.schema)
        # basePath: Spark reads the partition column ``date`` from the folder names below it.
        reader = self.spark.read.schema(BRONZE.schema).option("basePath", self.path(BRONZE))
        return reader.parquet(*paths).select(*BRONZE.schema.fieldNames())


@dataclass(frozen=True)
class Log:
    """The newest state of a table's Delta log; ``newest`` is Delta's object in the JVM."""

    newest: Any

    @property
    def is_there(self) -> bool:
        return bool(self.newest.version() >= 0)  # Delta gives a missing table the version -1

    @property
    def pin(self) -> Pin:
        return Pin(self.newest.metadata().id(), self.newest.version())

    def done(self, app: str) -> int:
        """Return the version in the last transaction id of ``app``; -1 if ``app`` has none."""
        found = self.newest.transactions().get(app)
        return found.get() if found.isDefined() else -1

    def lacking(self, table: Table) -> list[str]:
        """Return the meters that ``table`` declares and the stored table does not have yet.

        Raises:
            SchemaDiffers: names or types of the columns differ in another way.
        """
        # The order of columns does not matter: reads and writes select them by name.
        found = StructType.fromJson(json.loads(self.newest.schema().json()))
        there = {f.name: f.dataType for f in found.fields}
        lacking = [c for c in schemas.OPTIONAL if c in table.schema.names and c not in there]
        wanted = {f.name: f.dataType for f in table.schema.fields if f.name not in lacking}
        if there != wanted:
            raise SchemaDiffers(
                f"The columns of {table.name} differ from those that this version of Waypost "
                "writes: run the migration named in lakehouse/schemas.py, or install the version "
                "that wrote it."
            )
        return lacking


def ensure(lake: Lake, table: Table) -> None:
    """Create the table with its constraints unless it exists; add meters that it lacks. Idempotent.

    The rows of an existing table stay as they are, and have null in added columns. Its constraints
    stay too.

    Raises:
        SchemaDiffers: the table exists with other columns or types.
    """
    log = lake.log(table)
    if log.is_there:
        if lacking := log.lacking(table):
            added = ", ".join(table.column_definitions(lacking))
            lake.spark.sql(f"ALTER TABLE delta.`{lake.path(table)}` ADD COLUMNS ({added})")
        return
    columns = ", ".join(table.column_definitions())
    partitioned = f"PARTITIONED BY ({', '.join(table.partition_by)})" if table.partition_by else ""
    properties = ", ".join(f"'{k}' = '{v}'" for k, v in table.properties().items())
    lake.spark.sql(
        f"CREATE TABLE IF NOT EXISTS delta.`{lake.path(table)}` ({columns}) USING delta "
        f"{partitioned} COMMENT '{schemas.quoted(table.grain)}' TBLPROPERTIES ({properties})"
    )


def read(lake: Lake, table: Table, version: int | None = None) -> DataFrame:
    """Return the rows of the table with its declared columns, at ``version`` (None: the newest).

    A version may be older than a meter (``Table.selection``).
    """
    reader = lake.spark.read.format("delta")
    if version is not None:
        reader = reader.option("versionAsOf", version)
    rows = reader.load(lake.path(table))
    return rows.selectExpr(*table.selection(rows.columns))


def snapshot(lake: Lake, table: Table, app: str) -> Snapshot | None:
    """Return the table's newest version, and the bronze version that the table includes.

    None if the table does not exist. ``app`` is the writer whose transaction ids name the included
    bronze version.
    """
    log = lake.log(table)
    return Snapshot(log.pin, log.done(app)) if log.is_there else None


def pin(lake: Lake, table: Table) -> Pin:
    """Return the id and the newest version of an existing table."""
    return lake.log(table).pin


def is_new(lake: Lake, table: Table) -> bool:
    """Return whether nothing was written to an existing table since ``ensure`` created it."""
    return lake.log(table).pin.version == 0


def files_by_date(lake: Lake, table: Table) -> Counter[str]:
    """Return how many files the newest version has, by the partition ``date`` in ISO 8601.

    All files of a table that is not partitioned by date count under an empty text.
    """
    files = lake.spark.read.format("delta").load(lake.path(table)).inputFiles()
    return Counter(file.partition("/date=")[2].partition("/")[0] for file in files)


def added_since(lake: Lake, after: int, upto: int) -> Added:
    """Return the rows that the bronze versions above ``after`` up to ``upto`` added.

    ``after`` -1 means from the beginning. Compactions add no rows. If a needed log entry was
    deleted after its retention, returns all rows of bronze at ``upto``: a caller must cope with
    rows that it has already.
    """
    root = lake.path(BRONZE)
    logs = [f"{root}/_delta_log/{version:020d}.json" for version in range(after + 1, upto + 1)]
    try:
        files = lake.added_files(logs)
    except AnalysisException:
        # A log entry was deleted after its retention: fall back to all of bronze. State and gold
        # stay right, because the merge of maxima may repeat rows.
        rows = read(lake, BRONZE, upto)
        all_dates = sorted(row["date"] for row in rows.select("date").distinct().collect())
        return Added(rows, tuple(all_dates), rows.count(), n_files=len(rows.inputFiles()))
    dates = sorted({date.fromisoformat(add["partitionValues"]["date"]) for add in files})
    found = [json.loads(add["stats"] or "{}") for add in files]
    n_rows = sum(statistics.get("numRecords", 0) for statistics in found)
    earliest = [statistics.get("minValues", {}).get("bucket_at", "") for statistics in found]
    paths = [f"{root}/{add['path']}" for add in files]
    # A file without statistics has the minimum '', and so do all together.
    rows = lake.bronze_files(paths)
    return Added(rows, tuple(dates), n_rows, min(earliest, default=""), len(paths))


def append(lake: Lake, table: Table, rows: DataFrame, commit: Commit) -> None:
    """Append rows to the table. Does nothing if ``commit.app`` wrote this or a later version."""
    writer = rows.select(*table.schema.fieldNames()).write.format("delta").mode("append")
    commit.on(writer).save(lake.path(table))


def replace_where(
    lake: Lake, table: Table, rows: DataFrame, condition: str, commit: Commit
) -> None:
    """Replace all rows that the SQL ``condition`` selects by ``rows``, in one commit.

    Every row in ``rows`` must meet the condition. Does nothing if ``commit.app`` wrote this or a
    later version.
    """
    writer = rows.select(*table.schema.fieldNames()).write.format("delta").mode("overwrite")
    commit.on(writer.option("replaceWhere", condition)).save(lake.path(table))


def replace_all(lake: Lake, table: Table, rows: DataFrame, commit: Commit) -> None:
    """Replace all rows of the table by ``rows``, in one commit.

    Does nothing if ``commit.app`` wrote this or a later version.
    """
    writer = rows.select(*table.schema.fieldNames()).write.format("delta").mode("overwrite")
    commit.on(writer).save(lake.path(table))


def overwrite(lake: Lake, table: Table, rows: DataFrame, note: str) -> None:
    """Replace all rows of the table in one commit, with ``note`` but without a transaction id.

    So the pipeline's next run may process the same bronze rows again, which changes nothing. Older
    versions stay readable for ``Table.kept_days``.
    """
    writer = rows.select(*table.schema.fieldNames()).write.format("delta").mode("overwrite")
    writer.option("userMetadata", note).save(lake.path(table))


def on_dates(dates: Iterable[date], alias: str = "") -> str:
    """Return the SQL condition that the partition ``date`` is one of ``dates``.

    Literal dates let Delta skip all other partitions.
    """
    literals = ", ".join(f"date'{day}'" for day in sorted(dates))
    return f"{alias}date IN ({literals})"


def merge_maxima(lake: Lake, table: Table, rows: DataFrame, where: str, commit: Commit) -> None:
    """Merge ``rows`` into the table: keep the larger value of each column; insert new keys.

    Columns ``first_…``, which are the earliest days and instants, and ``resting`` keep the smaller
    value. ``rows`` must have one row per key. ``where`` is an SQL condition on the table, under the
    name ``t``, that every row with a key in ``rows`` meets; only what it selects is read.
    Idempotent, even without the transaction id of ``commit``.
    """
    if is_new(lake, table):
        append(lake, table, rows, commit)  # there is nothing to compare with
        return
    fixed = {*table.key, *(("date",) if "date" in table.partition_by else ())}
    same = " AND ".join(f"t.{c} = s.{c}" for c in sorted(fixed))
    merged = {
        c: f"{'least' if c.startswith('first_') or c == 'resting' else 'greatest'}(t.{c}, s.{c})"
        for c in table.schema.fieldNames()
        if c not in fixed
    }
    # Without this condition MERGE would rewrite files in which no value changes.
    # The table may have null in ``zeros``, which ``greatest`` ignores.
    changed = " OR ".join(
        f"{f'coalesce(t.{c}, 0)' if c in table.zeros else f't.{c}'} <> {expression}"
        for c, expression in merged.items()
    )
    target = DeltaTable.forPath(lake.spark, lake.path(table)).alias("t")
    with commit.in_session(lake.spark):
        (
            target.merge(rows.select(*table.schema.fieldNames()).alias("s"), f"{where} AND {same}")
            .whenMatchedUpdate(condition=changed, set=dict(merged))
            .whenNotMatchedInsertAll()
            .execute()
        )
