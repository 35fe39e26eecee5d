"""Figures of ``make bench-routers``, each with the load of the machine before the measurement."""

import math
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from controlplane.demo.figures import Figure

COMMAND = "make bench-routers"
_QUIET_LOAD = 1.5  # the load average of one minute


@dataclass(frozen=True)
class Result(Figure):
    """A figure with the machine's load average before the measurement, and a remark in ``more``.

    A limit of ``math.inf`` means that there is no limit.
    """

    load: float = 0.0
    more: str = ""

    def row(self) -> str:
        """Return the result as a line of a Markdown table, as ``Figure.row`` does."""
        digits = 0 if self.value >= 100 else 1 if self.value >= 10 else 2
        parts = [f"{self.value:,.{digits}f} {self.unit}{' **over**' if self.is_over else ''}"]
        parts += [self.more] if self.more else []
        limit = "none" if math.isinf(self.limit) else f"{self.limit:g} {self.unit}"
        shown = "; ".join([*parts, f"load {self.load:.1f}"])
        return f"| {self.what} | {shown} | {limit} | `{self.command}` |"


def result(
    what: str, value: float, unit: str, *, load: float, more: str = "", limit: float = math.inf
) -> Result:
    """Return a figure of ``make bench-routers``; the parameters are the fields of ``Result``."""
    return Result(what, value, unit, limit, COMMAND, load, more)


def of_runs(what: str, seconds: Sequence[float], load: float, limit: float = math.inf) -> Result:
    """Return the median of ``seconds``, the times of several runs, as a figure.

    A remark has the longest time and the number of runs. ``load`` and ``limit`` are as in
    ``Result``.
    """
    more = f"max {max(seconds):.2f} s of {len(seconds)}"
    return result(what, statistics.median(seconds), "s", load=load, more=more, limit=limit)


def wait_quiet() -> float:
    """Wait until the machine's load average is at most 1.5, and return the load average.

    Otherwise earlier work would disturb the next figure. After ``WAYPOST_BENCH_PATIENCE`` seconds
    (default 120) the wait ends, and the higher load is returned.
    """
    deadline = time.monotonic() + float(os.environ.get("WAYPOST_BENCH_PATIENCE", "120"))
    while (load := os.getloadavg()[0]) > _QUIET_LOAD and time.monotonic() < deadline:
        time.sleep(2)
    return load


def seconds_of(act: Callable[[], object]) -> float:
    """Call ``act`` and return how many seconds it took."""
    began = time.monotonic()
    act()
    return time.monotonic() - began
