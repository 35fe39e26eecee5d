"""Figures of ``make bench-portal``."""

import math
import os

from controlplane.demo.bench_results import Result

COMMAND = "make bench-portal"


def figure(
    what: str, value: float, unit: str, *, more: str = "", limit: float = math.inf
) -> Result:
    """Return a figure of ``make bench-portal`` with the present load of the machine."""
    return Result(what, value, unit, limit, COMMAND, os.getloadavg()[0], more)


def share(values: list[float], part: float) -> float:
    """Return the value that ``part`` of ``values`` do not exceed."""
    return sorted(values)[math.ceil(part * len(values)) - 1]
