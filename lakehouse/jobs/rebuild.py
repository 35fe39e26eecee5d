"""Compute state and gold again from bronze. ``python -m lakehouse.jobs.rebuild --root ROOT``.

Prints the bronze version, and how many rows of each table differ from the computed ones, as JSON.
With ``--write``, each table that differs gets all of its rows replaced, in one commit per table.
The tables keep their ids, and older versions of the tables that invoices pin stay readable for the
audit period. The rows of bronze and quarantine do not change.
"""

import argparse
import json
import sys
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse import checks, object_store, schemas, session, tables
from lakehouse.errors import LakehouseError
from lakehouse.schemas import Table
from lakehouse.tables import Lake
from lakehouse.transforms import (
    bucket_maxima,
    bucket_usage,
    daily_usage,
    incarnations,
    sample_quality,
)


def run(lake: Lake, *, write: bool) -> dict[str, Any]:
    """Compare state and gold with their rebuilt rows; return a report.

    The report holds how many rows differ, by table (``differences``), ``bronze_version``, and
    ``written``, which is ``write``. With ``write``, replaces all rows of each table that differs.
    Creates missing tables, also without ``write``; bronze must exist. Stop the pipeline first
    (docs/lakehouse.md, "Jobs"): both jobs write the same tables, and this one takes no lease.

    Raises:
        LakehouseError: there is no bronze table, so nothing can be computed. Nothing is created.
    """
    if not lake.log(schemas.BRONZE).is_there:
        raise LakehouseError(
            f"{lake.root} has no table {schemas.BRONZE.name}, which state and gold are computed "
            "from. Check the root; the metering worker creates the table with the first samples."
        )
    for table in schemas.DERIVED:
        tables.ensure(lake, table)
    bronze = tables.pin(lake, schemas.BRONZE)
    # One version of bronze for all tables, whatever lands meanwhile.
    samples = checks.valid(tables.read(lake, schemas.BRONZE, bronze.version))
    differences = {}
    for table, rows in _rebuilt(lake, samples):
        rows = rows.persist()  # read up to three times
        found = tables.read(lake, table)
        stored, rebuilt = found.drop(*table.upkeep), rows.drop(*table.upkeep)
        # Rows that only one side has; a changed row counts twice.
        n_differing = stored.exceptAll(rebuilt).count() + rebuilt.exceptAll(stored).count()
        differences[table.name] = n_differing
        if write and differences[table.name]:
            # The watermark of the rebuilt state, as the pipeline notes it.
            buckets = bucket_maxima.buckets(samples, bucket_maxima.address_types(samples))
            sources = bucket_maxima.newest_samples(buckets)
            as_of = bucket_maxima.complete_until(sources)
            note = json.dumps({"bronze_version": bronze.version, "as_of": as_of})
            tables.overwrite(lake, table, rows, note)
        rows.unpersist()
    return {"bronze_version": bronze.version, "differences": differences, "written": write}


def _rebuilt(lake: Lake, samples: DataFrame) -> list[tuple[Table, DataFrame]]:
    buckets = bucket_maxima.buckets(samples, bucket_maxima.address_types(samples))
    # Gold comes from the rebuilt state, because the state table may have the error to correct. It
    # comes from all days at once, without openings, so it also checks the pipeline's openings.
    cells = bucket_usage.usage(buckets)
    heartbeats = samples.where(F.col("address") == "")
    quarantine = tables.read(lake, schemas.QUARANTINE)
    return [
        (schemas.STATE, buckets),
        (schemas.OPENINGS, incarnations.openings(buckets)),
        (schemas.HEADS, incarnations.rested(incarnations.heads(buckets))),
        (schemas.SOURCES, bucket_maxima.newest_samples(buckets)),
        (schemas.USAGE, cells),
        (schemas.USAGE_DAILY, daily_usage.daily(cells)),
        (schemas.QUALITY, sample_quality.quality(heartbeats, quarantine)),
    ]


def main(arguments: list[str] | None = None) -> int:
    """Run the job with command-line ``arguments`` (None: those of the process).

    Returns its exit code: 0, also if tables differ, or 2 if it printed an error
    (``lakehouse.errors``).
    """
    parser = argparse.ArgumentParser(prog="lakehouse.jobs.rebuild", description=run.__doc__)
    parser.add_argument(
        "--root", required=True, help="folder of the lakehouse, or s3://bucket/prefix"
    )
    parser.add_argument(
        "--write", action="store_true", help="replace the rows of tables that differ"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--memory", default="2g", help="heap of the Spark driver")
    options = parser.parse_args(arguments)
    try:
        spark = session.start(
            "waypost-rebuild",
            root=options.root,
            threads=options.threads,
            memory=options.memory,
            bulk=True,
        )
        with object_store.translated_errors(options.root):
            lake = Lake(spark, object_store.hadoop_root(options.root))
            report = run(lake, write=options.write)
    except LakehouseError as error:
        sys.stdout.write(json.dumps({"error": {"code": error.code, "message": str(error)}}) + "\n")
        return 2
    sys.stdout.write(json.dumps(report) + "\n")
    sys.stdout.flush()
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
