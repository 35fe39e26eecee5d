"""Figures of ``make bench-live``."""

import math
from collections.abc import Callable
from typing import TypeVar

from controlplane.demo.bench_results import Result

COMMAND = "make bench-live"
RUNS = 3
T = TypeVar("T")


def figure(
    what: str, value: float, unit: str, *, load: float, more: str = "", limit: float = math.inf
) -> Result:
    """Return a figure of ``make bench-live``."""
    return Result(what, value, unit, limit, COMMAND, load, more)


def milliseconds(seconds: list[float], share: float) -> float:
    """Return the time in milliseconds that ``share`` of the ``seconds`` do not exceed."""
    return 1000 * sorted(seconds)[math.ceil(share * len(seconds)) - 1]


def best(run: Callable[[], T], by: Callable[[T], float]) -> T:
    """Return the result of three runs whose ``by`` is least."""
    return min((run() for _ in range(RUNS)), key=by)
