"""Runs of the pipeline and of DuckDB as processes of their own, with their processor time."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lakehouse import session as lakehouse_session

_SESSION = """
import json, sys
from lakehouse import session
spark = session.start("bench", bulk=sys.argv[1] == "bulk", memory=sys.argv[2])
spark.range(1).count()
print(json.dumps({"cpu_seconds": session.cpu_seconds(spark)}))
"""
# ``pipeline`` at each line of stdin, in one session that stays warm.
_WARM = """
import json, sys
from lakehouse import session
from lakehouse.jobs import pipeline
from lakehouse.tables import Lake
spark = session.start("bench")
for root in sys.stdin:
    before = session.cpu_seconds(spark)
    pipeline.run(Lake(spark, root.strip()))
    used = session.cpu_seconds(spark) - before
    print(json.dumps({"cpu_seconds": used}), flush=True)
"""


@dataclass(frozen=True)
class Cost:
    """What a process took: its processor time with its children, and the time of the clock."""

    cpu_seconds: float
    seconds: float


def pipeline(root: Path, *options: str, archive: bool = True) -> Cost:
    """Run the job ``pipeline`` on the lakehouse at ``root``; ``archive`` False leaves CDS out."""
    command = [sys.executable, "-m", "lakehouse.jobs.pipeline", "--root", str(root), *options]
    # Another cache folder has the JARs, and no archive.
    jars = str(lakehouse_session.cache_dir() / "jars")
    elsewhere = {"WAYPOST_CACHE": str(root / "cache"), "WAYPOST_JARS_DIR": jars}
    return _job(command, {} if archive else elsewhere)


def session(*, bulk: bool, memory: str) -> Cost:
    """Start a Spark session that does nothing."""
    return _job([sys.executable, "-c", _SESSION, "bulk" if bulk else "small", memory], {})


def duckdb(root: Path, out: Path) -> Cost:
    """Compute the tables from the same files by DuckDB (``reference``)."""
    files = str(root / "bronze/samples/date=*/*.parquet")
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.lakehouse.bench.reference", files, str(out)]
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return Cost(usage.ru_utime + usage.ru_stime, time.monotonic() - began)


class WarmRunner:
    """A process with one Spark session that runs the pipeline again and again."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _WARM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, root: Path) -> Cost:
        """Run the pipeline on the lakehouse at ``root``."""
        process, began = self._process, time.monotonic()
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the runner has no pipes")
        process.stdin.write(f"{root}\n")
        process.stdin.flush()
        found = _answer(process.stdout.readline())
        return Cost(found["cpu_seconds"], time.monotonic() - began)

    def memory_mb(self) -> float:
        """Return the resident memory of Python and Java together."""
        pids = [self._process.pid, *_children(self._process.pid)]
        pages = [int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids]
        return sum(pages) * os.sysconf("SC_PAGE_SIZE") / 2**20

    def close(self) -> None:
        """End the session."""
        self._process.communicate()


def _children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in found]


def _job(command: list[str], environment: dict[str, str]) -> Cost:
    began = time.monotonic()
    ended = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    if ended.returncode:
        raise RuntimeError(f"{command} ended with {ended.returncode}: {ended.stderr[-3000:]}")
    return Cost(_answer(ended.stdout)["cpu_seconds"], time.monotonic() - began)


def _answer(out: str) -> dict[str, Any]:
    lines = [line for line in out.splitlines() if line.startswith("{")]
    found: dict[str, Any] = json.loads(lines[-1])
    return found
