"""Keep the tables quick and small. ``python -m lakehouse.jobs.housekeeping --root ROOT``.

Each run of the pipeline adds small files. Of each table of ``schemas.DERIVED`` this job

- rewrites each day with several files that is older than two days into few files;
- rewrites a table without days if it has many files.

Of these tables and of those of ``schemas.ON_DEMAND`` it deletes files that no kept version refers
to.

It also marks the heads of incarnations that have been silent for long as resting. No other value
changes. Delta itself writes checkpoints and deletes old log entries. Old versions stay readable for
``Table.kept_days``: the audit period, or a month for tables that only the pipeline reads.

Prints one JSON line: ``tables`` has ``days`` (rewritten ones), ``files_before`` and ``files_after``
by table. ``workers.metering.bronze_housekeeping`` does the same for bronze. The job may be killed
at any time: each rewrite is one commit.
"""

import argparse
import json
import sys
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from typing import Any

from delta.tables import DeltaTable

from lakehouse import object_store, schemas, session, tables
from lakehouse.errors import LakehouseError
from lakehouse.jobs.pipeline import end_with_stdin
from lakehouse.schemas import Table
from lakehouse.tables import Lake
from lakehouse.transforms import incarnations

# Late samples mostly come within two days. A later one writes one more file, which the next run
# rewrites with the others of its day.
_SETTLED = timedelta(days=2)
# Files of a table without days, before it is rewritten.
_MOST_FILES = 16


def run(lake: Lake, today: date) -> dict[str, Any]:
    """Compact and clean all tables but bronze; return the module's report.

    ``today`` is the UTC date. Tables that do not exist are left out. Idempotent.

    Raises:
        SchemaDiffers: a table has other columns than ``schemas`` declares.
    """
    report = {}
    for table in (*schemas.DERIVED, *schemas.ON_DEMAND):
        if not lake.log(table).is_there:
            continue
        tables.ensure(lake, table)
        if table is schemas.HEADS:
            rest(lake)
        before = tables.files_by_date(lake, table)
        # Of a table on demand each write replaces a whole partition, which so has few files.
        days = _compact(lake, table, before, today) if table in schemas.DERIVED else 0
        DeltaTable.forPath(lake.spark, lake.path(table)).vacuum()  # by the table's own retention
        after = tables.files_by_date(lake, table) if days else before
        report[table.name] = {
            "days": days,
            "files_before": sum(before.values()),
            "files_after": sum(after.values()),
        }
    return {"tables": report}


def rest(lake: Lake) -> None:
    """Move the heads of incarnations that have been silent for long to the resting partition."""
    path = lake.path(schemas.HEADS)
    newest = lake.spark.sql(f"SELECT max(date) FROM delta.`{path}`").collect()[0][0]
    if newest is None:
        return
    last = newest - timedelta(days=incarnations.RESTS_AFTER_DAYS)
    silent = f"resting = false AND date < date'{last}'"
    # An UPDATE without a row would still be a commit.
    if lake.spark.sql(f"SELECT 1 FROM delta.`{path}` WHERE {silent} LIMIT 1").collect():
        lake.spark.sql(f"UPDATE delta.`{path}` SET resting = true WHERE {silent}")


def _compact(lake: Lake, table: Table, files: Counter[str], today: date) -> int:
    """Rewrite the settled days that have several files; return how many there were.

    A table that is not divided by days counts as one day, and is rewritten if it has more than
    ``_MOST_FILES`` files.
    """
    optimize = DeltaTable.forPath(lake.spark, lake.path(table)).optimize()
    if "date" not in table.partition_by:
        if max(files.values(), default=0) <= _MOST_FILES:
            return 0
        optimize.executeCompaction()
        return 1
    settled = today - _SETTLED
    days = [day for day, n in files.items() if n > 1 and date.fromisoformat(day) < settled]
    if days:
        dates = [date.fromisoformat(day) for day in days]
        optimize.where(tables.on_dates(dates)).executeCompaction()
    return len(days)


def main(arguments: list[str] | None = None) -> int:
    """Run the job with command-line ``arguments`` (None: those of the process).

    Returns its exit code: 0, or 2 if it printed an error (``lakehouse.errors``).
    """
    parser = argparse.ArgumentParser(prog="lakehouse.jobs.housekeeping", description=run.__doc__)
    parser.add_argument(
        "--root", required=True, help="folder of the lakehouse, or s3://bucket/prefix"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--memory", default="1g", help="heap of the Spark driver")
    parser.add_argument("--bulk", action="store_true", help="for millions of rows")
    parser.add_argument("--end-with-stdin", action="store_true", help="end when stdin is closed")
    options = parser.parse_args(arguments)
    if options.end_with_stdin:
        end_with_stdin()
    try:
        spark = session.start(
            "waypost-housekeeping",
            root=options.root,
            threads=options.threads,
            memory=options.memory,
            bulk=options.bulk,
        )
        with object_store.translated_errors(options.root):
            lake = Lake(spark, object_store.hadoop_root(options.root))
            report = run(lake, datetime.now(UTC).date())
    except LakehouseError as error:
        sys.stdout.write(json.dumps({"error": {"code": error.code, "message": str(error)}}) + "\n")
        return 2
    report["cpu_seconds"] = round(session.cpu_seconds(spark), 2)
    sys.stdout.write(json.dumps(report) + "\n")
    sys.stdout.flush()
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
