"""The whole pipeline over a history, beside DuckDB on the same files; new samples; one read."""

import math
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from deltalake import DeltaTable

from controlplane.demo.bench_results import Result
from tests.support.lakehouse.bench import histories, processes, reference
from tests.support.lakehouse.bench.figures import figure
from tests.support.lakehouse.bench.histories import Plan
from workers.metering import gold
from workers.metering.pipeline import Table

_BULK = ("--bulk", "--threads", "2", "--memory", "4g")
_NEW = 100_000  # samples of a run on an existing history
_LEAST_RATIO_LIMIT = 3.0  # of a sparse history; a dense one may take 5 times
_READS = 9


def measure(plans: Sequence[Plan], rounds: int) -> Iterator[Result]:
    """Measure each history; yields the growth of the processor time after the last of a kind."""
    start = processes.session(bulk=True, memory="4g")
    yield figure("start of Spark's session, bulk", start.cpu_seconds, "CPU s", load=_load())
    costs: dict[int, list[tuple[int, float]]] = {}
    for plan in plans:
        with tempfile.TemporaryDirectory(prefix="wp-lake-") as folder:
            run = _History(plan, Path(folder), start.cpu_seconds)
            yield from run.whole(rounds)
            yield from run.increment()
            yield run.read()
            costs.setdefault(plan.per_bucket, []).append((run.rows, run.cpu_seconds))
    for per_bucket, found in costs.items():
        yield from _growth(per_bucket, found)


class _History:
    """One history in ``folder``; ``start`` is the processor time of a session's start."""

    def __init__(self, plan: Plan, folder: Path, start: float) -> None:
        self._plan, self._start = plan, start
        self._root, self._out = folder / "lake", folder / "duckdb"
        self._root.mkdir()
        self.rows = histories.write(self._root, plan)
        self.cpu_seconds = math.inf  # of the best run, without the session's start

    def whole(self, rounds: int) -> Iterator[Result]:
        """Compute all tables by Spark and by DuckDB, alternately; compare them cell by cell."""
        load, spark, duck = _load(), list[float](), list[float]()
        for _ in range(rounds):
            for name in ("bronze/quarantine", "state", "gold"):
                shutil.rmtree(self._root / name, ignore_errors=True)
            spark.append(processes.pipeline(self._root, *_BULK).cpu_seconds)
            shutil.rmtree(self._out, ignore_errors=True)
            duck.append(processes.duckdb(self._root, self._out).cpu_seconds)
        differing = reference.differences(self._root, self._out)
        if any(differing.values()):
            raise RuntimeError(f"Spark and DuckDB differ: {differing}")
        self.cpu_seconds = min(spark) - self._start
        best, limit = min(duck), 5.0 if self._plan.per_bucket > 1 else _LEAST_RATIO_LIMIT
        name, runs = self._plan.name, f"best of {rounds}"
        yield figure(
            f"{name}: pipeline", min(spark), "CPU s", load=load,
            more=f"{self.rows:,} rows; {runs}; {self.cpu_seconds:.1f} CPU s without the start",
        )  # fmt: skip
        yield figure(f"{name}: DuckDB, equal cells", best, "CPU s", load=load, more=runs)
        ratio = (min(spark) if self._plan.per_bucket == 1 else self.cpu_seconds) / best
        counted = "with" if self._plan.per_bucket == 1 else "without"
        yield figure(
            f"{name}: pipeline / DuckDB", ratio, "times", load=load, limit=limit,
            more=f"{counted} the session's start",
        )  # fmt: skip

    def increment(self) -> Iterator[Result]:
        """Add 100,000 samples of the next day, and compute what they change."""
        histories.add(self._root, self._plan, _NEW)
        load = _load()
        cost = processes.pipeline(self._root)
        yield figure(
            f"{self._plan.name}: {_NEW:,} new samples", cost.cpu_seconds, "CPU s", load=load,
            more=f"{cost.seconds:.0f} s on the clock",
        )  # fmt: skip

    def read(self) -> Result:
        """Read the cells of one tenant and 28 days from gold."""
        table = DeltaTable(self._root / "gold/usage")
        pin = Table(str(table.metadata().id), int(table.version()))
        first = datetime.combine(histories.FIRST, datetime.min.time(), UTC)
        last = first + timedelta(days=histories.DAYS)
        times, cells = list[float](), []
        for _ in range(_READS):
            began = time.process_time()
            cells = gold.cells(self._root, pin, "ten_0", first, last)
            times.append(time.process_time() - began)
        return figure(
            f"{self._plan.name}: gold of one tenant-month", 1000 * statistics.median(times),
            "CPU ms", load=_load(), limit=100, more=f"{len(cells):,} cells; median of {_READS}",
        )  # fmt: skip


def _growth(per_bucket: int, costs: Sequence[tuple[int, float]]) -> Iterator[Result]:
    """Yield the exponent by which the processor time grows from the smallest to the largest."""
    (few, little), (many, much) = min(costs), max(costs)
    if many > few:
        exponent = math.log(much / little) / math.log(many / few)
        kind = "dense" if per_bucket > 1 else "sparse"
        yield figure(
            f"growth of the {kind} pipeline from {few:,} to {many:,} rows", exponent, "",
            load=_load(), limit=1.1, more="exponent, without the session's start",
        )  # fmt: skip


def _load() -> float:
    return os.getloadavg()[0]
