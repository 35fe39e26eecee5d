"""Small runs of the pipeline: a process for each, with and without CDS, or one warm session."""

import os
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from controlplane.demo.bench_results import Result
from tests.support.lakehouse.bench import processes
from tests.support.lakehouse.bench.figures import figure
from tests.support.lakehouse.samples import Landed, at, beat, row

_SOURCES = 50


class _Lake:
    """A lake into which each call lands one minute of 50 sources."""

    def __init__(self, root: Path) -> None:
        self.root, self._landed, self._minute = root, Landed(root), 0

    def land(self) -> Path:
        """Land one minute, and return the root."""
        self._minute += 1
        taken_at, seq = at(0, self._minute), self._minute
        self._landed(
            *(
                sample
                for n in range(_SOURCES)
                for sample in (
                    row(taken_at, seq, messages_in=10 * seq, **_of(n)),
                    beat(taken_at, seq, **_of(n)),
                )
            )
        )
        return self.root


def _of(n: int) -> dict[str, str]:
    return {"tenant_id": f"ten_{n // 5}", "space_id": f"spc_{n}", "source": f"spc_{n}/broker-0"}


def measure(runs: int) -> Iterator[Result]:
    """Run the pipeline ``runs`` times on a new minute each, by three kinds of runners."""
    with tempfile.TemporaryDirectory(prefix="wp-small-") as folder:
        lake = _Lake(Path(folder))
        processes.pipeline(lake.land())  # makes the tables
        load = os.getloadavg()[0]
        for what, archive in (
            ("with the class-data archive", True),
            ("without an archive", False),
        ):
            costs = [processes.pipeline(lake.land(), archive=archive) for _ in range(runs)]
            yield _result(f"small run, a process of its own {what}", costs, load)
        warm = processes.WarmRunner()
        costs = [warm.run(lake.land()) for _ in range(runs + 1)]
        memory = warm.memory_mb()
        warm.close()
        yield _result("small run in a warm session", costs[1:], load)
        yield figure(
            "first run of that session", costs[0].cpu_seconds, "CPU s", load=load,
            more=f"{costs[0].seconds:.0f} s on the clock, with its start",
        )  # fmt: skip
        yield figure("memory that it keeps between runs", memory, "MiB", load=load)


def _result(what: str, costs: list[processes.Cost], load: float) -> Result:
    clock = statistics.median(cost.seconds for cost in costs)
    median = statistics.median(cost.cpu_seconds for cost in costs)
    more = f"median of {len(costs)}; {clock:.1f} s on the clock"
    return figure(what, median, "CPU s", load=load, more=more)
