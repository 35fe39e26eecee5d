"""Make the class-data archive that halves Spark's start. ``python -m lakehouse.jobs.archive``.

Run once at set-up: it plays one small pipeline in a temporary folder and lets the Java machine
write what it loaded (java -XX:ArchiveClassesAtExit). Idempotent; ``--force`` makes it anew.
"""

import argparse
import json
import os
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from lakehouse import schemas, session, tables
from lakehouse.errors import LakehouseError
from lakehouse.jobs import pipeline
from lakehouse.tables import Lake

_WAIT_SECONDS = 120


def make(path: Path) -> None:
    """Write the archive to ``path`` by a small pipeline run; replaces what is there.

    Raises:
        LakehouseError: Java or Delta is missing, or the archive was not written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    spark = session.start("waypost-archive", java_options=f"-XX:ArchiveClassesAtExit={temporary}")
    with tempfile.TemporaryDirectory(prefix="waypost-archive-") as folder:
        lake = Lake(spark, folder)
        tables.ensure(lake, schemas.BRONZE)
        for seq in (1, 2):
            tables.append(lake, schemas.BRONZE, _sample(spark, seq), tables.Commit("archive", seq))
            pipeline.run(lake)
    _stop(spark)
    if not temporary.exists():
        raise LakehouseError("Java wrote no class-data archive; Spark works without, only slower.")
    temporary.replace(path)


def _sample(spark: SparkSession, seq: int) -> Any:
    taken_at = datetime(2026, 1, 1, tzinfo=UTC)
    values = {
        "seq": seq,
        "messages_in": seq,
        "taken_at": taken_at,
        "bucket_at": taken_at,
        "date": taken_at.date(),
    }
    zero = {"string": "", "bigint": 0}
    fields = schemas.BRONZE.schema.fields
    row = tuple(values.get(f.name, zero.get(f.dataType.simpleString())) for f in fields)
    return spark.createDataFrame([row], schemas.BRONZE.schema)


def _stop(spark: SparkSession) -> None:
    """End the Java machine and wait for it: it writes the archive as it exits."""
    gateway: Any = spark.sparkContext._gateway
    spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(_WAIT_SECONDS)


def main(arguments: list[str] | None = None) -> int:
    """Run the job; return its exit code: 0, or 2 with one line that says what is wrong."""
    parser = argparse.ArgumentParser(prog="lakehouse.jobs.archive", description=make.__doc__)
    parser.add_argument("--force", action="store_true", help="make it even if it is there")
    options = parser.parse_args(arguments)
    path = session.archive_path()
    try:
        if options.force or not path.exists():
            make(path)
    except LakehouseError as error:
        sys.stdout.write(json.dumps({"error": {"code": error.code, "message": str(error)}}) + "\n")
        return 2
    sys.stdout.write(json.dumps({"archive": str(path), "bytes": path.stat().st_size}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
