"""Figures of ``make bench-lakehouse``."""

import math

from controlplane.demo.bench_results import Result

COMMAND = "make bench-lakehouse"


def figure(
    what: str, value: float, unit: str, *, load: float, more: str = "", limit: float = math.inf
) -> Result:
    """Return a figure of ``make bench-lakehouse``."""
    return Result(what, value, unit, limit, COMMAND, load, more)
