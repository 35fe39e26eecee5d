"""Create Java's class-data archive, which halves Spark's start-up time.

Run ``python -m lakehouse.jobs.archive`` once at set-up. The job runs a small pipeline in a
temporary folder. At its end the JVM writes the classes that it has loaded to the archive
(``java -XX:ArchiveClassesAtExit``). If the archive exists already, the job does nothing, unless
``--force`` is given.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from lakehouse import schemas, session, tables
from lakehouse.errors import LakehouseError
from lakehouse.jobs import pipeline
from lakehouse.tables import Lake

_WAIT_SECONDS = 120  # for the JVM, which writes the archive when it ends


def make(path: Path) -> None:
    """Run a small pipeline and write the archive to ``path``, replacing an existing one.

    A run that fails leaves ``path`` as it was. A killed run leaves a temporary file beside it,
    which the next run removes.

    Raises:
        LakehouseError: Java or Delta is missing, or the archive was not written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_orphans(path)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        _run_small_pipeline(f"-XX:ArchiveClassesAtExit={temporary}")
        if not temporary.exists():
            raise LakehouseError(
                "Java wrote no class-data archive. Spark works without it, but starts slower."
            )
        temporary.replace(path)  # atomic: a job never loads a half-written archive
    finally:
        temporary.unlink(missing_ok=True)


def remove_orphans(path: Path) -> None:
    """Delete the temporary files of killed runs: ``<path>.<pid>`` where no process has this id."""
    for orphan in path.parent.glob(f"{path.name}.*"):
        pid = orphan.suffix[1:]
        if pid.isdigit() and not _is_alive(int(pid)):
            orphan.unlink(missing_ok=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)  # signal 0 only checks that the process exists
    except ProcessLookupError:
        return False
    except PermissionError:  # it exists and belongs to another user
        return True
    return True


def _run_small_pipeline(java_options: str) -> None:
    """Run the pipeline into empty tables, then into tables with rows; always end the JVM.

    ``java_options`` makes the JVM write the archive when it ends. The two runs load the classes of
    both cases. After a failure the JVM is killed, because it would spend seconds on an archive that
    nobody wants.
    """
    spark = session.start("waypost-archive", java_options=java_options)
    try:
        with tempfile.TemporaryDirectory(prefix="waypost-archive-") as folder:
            lake = Lake(spark, folder)
            tables.ensure(lake, schemas.BRONZE)
            for seq in (1, 2):
                commit = tables.Commit("archive", seq)
                tables.append(lake, schemas.BRONZE, _sample(spark, seq), commit)
                pipeline.run(lake)
    except BaseException:
        _end(spark, _kill)
        raise
    _end(spark, _finish)


def _sample(spark: SparkSession, seq: int) -> Any:
    taken_at = datetime(2026, 1, 1, tzinfo=UTC)
    values = {
        "seq": seq,
        "messages_in": seq,
        "taken_at": taken_at,
        "bucket_at": taken_at,
        "date": taken_at.date(),
    }
    # Every other column gets an empty value, so that a new column needs no change here.
    zero = {"string": "", "bigint": 0}
    fields = schemas.BRONZE.schema.fields
    row = tuple(values.get(f.name, zero.get(f.dataType.simpleString())) for f in fields)
    return spark.createDataFrame([row], schemas.BRONZE.schema)


def _end(spark: SparkSession, end: Callable[[Any], None]) -> None:
    """Stop the session, which removes its temporary files, then end its JVM by ``end(gateway)``."""
    # PySpark offers no public way to reach the process of its JVM.
    gateway: Any = spark.sparkContext._gateway
    spark.stop()
    end(gateway)


def _finish(gateway: Any) -> None:
    """Let the JVM exit, and wait until it has written the archive; kill it after a time limit."""
    gateway.shutdown()
    gateway.proc.stdin.close()
    try:
        gateway.proc.wait(_WAIT_SECONDS)
    except subprocess.TimeoutExpired:
        _kill(gateway)


def _kill(gateway: Any) -> None:
    gateway.proc.kill()
    gateway.proc.wait()


def main(arguments: list[str] | None = None) -> int:
    """Run the job with command-line ``arguments`` (None: those of the process).

    Returns its exit code: 0, or 2 if it printed an error (``lakehouse.errors``).
    """
    parser = argparse.ArgumentParser(prog="lakehouse.jobs.archive", description=make.__doc__)
    parser.add_argument("--force", action="store_true", help="recreate an existing archive")
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
