"""Make the class-data archive that halves Spark's start. ``python -m lakehouse.jobs.archive``.

Run once at set-up: it plays one small pipeline in a temporary folder and lets the Java machine
write what it loaded (java -XX:ArchiveClassesAtExit). Idempotent; ``--force`` makes it anew.
"""

import argparse
import json
import os
import subprocess
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

    A run that fails leaves nothing; what a killed one left is removed by the next.

    Raises:
        LakehouseError: Java or Delta is missing, or the archive was not written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_strays(path)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        _play(f"-XX:ArchiveClassesAtExit={temporary}")
        if not temporary.exists():
            raise LakehouseError(
                "Java wrote no class-data archive; Spark works without, only slower."
            )
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def remove_strays(path: Path) -> None:
    """Delete what runs that were killed left beside ``path``: files named by a pid that is gone."""
    for stray in path.parent.glob(f"{path.name}.*"):
        pid = stray.suffix[1:]
        if pid.isdigit() and not _is_alive(int(pid)):
            stray.unlink(missing_ok=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _play(java_options: str) -> None:
    """Run the pipeline twice over one sample each, and end the Java machine in any case."""
    spark = session.start("waypost-archive", java_options=java_options)
    try:
        with tempfile.TemporaryDirectory(prefix="waypost-archive-") as folder:
            lake = Lake(spark, folder)
            tables.ensure(lake, schemas.BRONZE)
            for seq in (1, 2):
                commit = tables.Commit("archive", seq)
                tables.append(lake, schemas.BRONZE, _sample(spark, seq), commit)
                pipeline.run(lake)
    finally:
        _stop(spark)


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
    """End the Java machine and wait for it: it writes the archive as it exits, or is killed."""
    gateway: Any = spark.sparkContext._gateway
    spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    try:
        gateway.proc.wait(_WAIT_SECONDS)
    except subprocess.TimeoutExpired:
        gateway.proc.kill()
        gateway.proc.wait()


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
