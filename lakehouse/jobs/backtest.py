"""Quantities and results of a back-test. ``python -m lakehouse.jobs.backtest --root ROOT …``.

``--windows FILE --quantities FILE`` sums ``gold.usage`` over windows of tenants, at the version
``--gold-version`` of the table with the id ``--gold-id``. ``--store FILE --back-test ID`` writes
the priced months to ``gold.backtest``. The files are CSV with a header, on the driver's machine.
Money is computed by the control plane; this job only stores it.

Both print a report as one JSON line. Both may be killed and run again: the first only reads tables,
and the second replaces the rows of its back-test in one commit.
"""

import argparse
import csv
import json
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from pyspark.sql import functions as F

from lakehouse import object_store, schemas, session, tables
from lakehouse.errors import LakehouseError
from lakehouse.jobs.pipeline import end_with_stdin
from lakehouse.tables import Lake
from lakehouse.transforms import window_usage

# The columns of the file of quantities.
QUANTITIES = ("tenant_id", "starts_at", "ends_at", "space_id", "meter", "quantity")


def quantities(
    lake: Lake, windows: Path, written: Path, table_id: str, version: int
) -> dict[str, Any]:
    """Sum gold usage over the windows of a file; write the sums to another file.

    Returns a report with the number of rows.

    Raises:
        LakehouseError: the table has another id.
    """
    pin = tables.pin(lake, schemas.USAGE)
    if pin.table_id != table_id:
        raise LakehouseError(
            f"gold.usage was replaced: its id is {pin.table_id}, not {table_id}. Request the "
            "back-test again."
        )
    rows = [
        (
            row["tenant_id"],
            datetime.fromisoformat(row["starts_at"]),
            datetime.fromisoformat(row["ends_at"]),
        )
        for row in _read(windows)
    ]
    n_rows = 0
    with written.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(QUANTITIES)
        if rows:
            wanted = lake.spark.createDataFrame(rows, window_usage.WINDOWS)
            first = min(starts_at for _, starts_at, _ in rows).date()
            last = max(ends_at for *_, ends_at in rows).date()
            usage = tables.read(lake, schemas.USAGE, version)
            # ``date`` is the partition: other days are not read.
            inside = usage.where(F.col("date").between(F.lit(first), F.lit(last)))
            # The instants as texts: Python would convert them to the machine's time zone.
            sums = window_usage.sums(inside, wanted).selectExpr(
                "tenant_id",
                "date_format(starts_at, \"yyyy-MM-dd'T'HH:mm:ss.SSSSSS'+00:00'\")",
                "date_format(ends_at, \"yyyy-MM-dd'T'HH:mm:ss.SSSSSS'+00:00'\")",
                "space_id",
                "meter",
                "quantity",
            )
            # One partition at a time, so the driver never holds all sums.
            for row in sums.toLocalIterator():
                writer.writerow(row)
                n_rows += 1
    return {"rows": n_rows}


def store(lake: Lake, back_test: str, priced: Path) -> dict[str, Any]:
    """Replace the rows of a back-test in ``gold.backtest`` by those of a file.

    Returns a report with the table's id and version afterwards, and the number of rows.
    """
    tables.ensure(lake, schemas.BACKTEST)
    amounts = schemas.BACKTEST.schema.fieldNames()[5:]
    rows = [
        (
            back_test,
            row["tenant_id"],
            row["plan"],
            datetime.fromisoformat(row["month_at"]),
            row["currency"],
            *(int(row[name]) for name in amounts),
        )
        for row in _read(priced)
    ]
    frame = lake.spark.createDataFrame(rows, schemas.BACKTEST.schema)
    condition = f"back_test = '{schemas.quoted(back_test)}'"
    writer = frame.write.format("delta").mode("overwrite").option("replaceWhere", condition)
    writer.save(lake.path(schemas.BACKTEST))
    pin = tables.pin(lake, schemas.BACKTEST)
    return {"id": pin.table_id, "version": pin.version, "rows": len(rows)}


def _read(path: Path) -> Iterator[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def main(arguments: list[str] | None = None) -> int:
    """Run the job with command-line ``arguments`` (None: those of the process).

    Returns its exit code: 0, or 2 if it printed an error (``lakehouse.errors``).
    """
    options = _parser().parse_args(arguments)
    if options.end_with_stdin:
        end_with_stdin()
    try:
        spark = session.start(
            "waypost-backtest",
            root=options.root,
            threads=options.threads,
            memory=options.memory,
            bulk=options.bulk,
        )
        with object_store.translated_errors(options.root):
            lake = Lake(spark, object_store.hadoop_root(options.root))
            report = (
                store(lake, options.back_test, options.store)
                if options.store
                else quantities(
                    lake,
                    options.windows,
                    options.quantities,
                    options.gold_id,
                    options.gold_version,
                )
            )
    except LakehouseError as error:
        sys.stdout.write(json.dumps({"error": {"code": error.code, "message": str(error)}}) + "\n")
        return 2
    report["cpu_seconds"] = round(session.cpu_seconds(spark), 2)
    sys.stdout.write(json.dumps(report) + "\n")
    sys.stdout.flush()
    spark.stop()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="lakehouse.jobs.backtest", description=__doc__)
    parser.add_argument(
        "--root", required=True, help="folder of the lakehouse, or s3://bucket/prefix"
    )
    parser.add_argument("--windows", type=Path, help="CSV: tenant_id, starts_at, ends_at")
    parser.add_argument("--quantities", type=Path, help="where to write the sums")
    parser.add_argument("--gold-id", help="the id that gold.usage must have")
    parser.add_argument("--gold-version", type=int, help="its version to read")
    parser.add_argument("--store", type=Path, help="CSV of priced months")
    parser.add_argument("--back-test", help="the id of their back-test")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--memory", default="1g", help="heap of the Spark driver")
    parser.add_argument("--bulk", action="store_true", help="for millions of rows")
    parser.add_argument("--end-with-stdin", action="store_true", help="end when stdin is closed")
    return parser


if __name__ == "__main__":
    sys.exit(main())
