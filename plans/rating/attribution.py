"""Divides what one invoice line bills among steps of time, such as days. Pure.

Usage takes from the included amount in the order of time, and what is left goes through tiers and
packages in this order. So each step has a share of the line, and the shares add up to the line
exactly: each one is the difference of two running totals.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from plans.usage.meters import Model


@dataclass(frozen=True)
class Counting:
    """How a line of usage counts. Numbers are in base units of the meter, but ``billed``.

    * ``included``: what the month's included amount had left when the line's segment began.
    * ``start``: how much was billed earlier in the month.
    * ``skipped``: how much of the segment the lines of lower tiers bill.
    * ``billed``: what the line bills, in base units, packages or months (``price_rules.Price``).
    * ``reached``: of a peak, the largest value of the month before the segment.
    """

    model: Model
    included: int
    start: int
    base_per_unit: int
    billed: int
    skipped: int = 0
    is_peak: bool = False
    reached: int = 0

    def after(self, used: int) -> tuple[int, int]:
        """Return (included, billed) once the segment has used ``used``.

        ``used`` is a sum, or the largest value of a peak. Both only grow with ``used``, from 0.
        """
        grown = max(0, used - self.reached) if self.is_peak else used
        free = min(grown, self.included)
        return free, self.billed_of(grown - free)

    def billed_of(self, units: int) -> int:
        """Return what the line bills of the first ``units`` that are not included."""
        if self.model is Model.FLAT:
            return min(self.billed, 1) if units else 0
        if self.model is Model.PACKAGE:
            # -(-a // b) is integer division rounded up.
            per = self.base_per_unit
            return -(-(self.start + units) // per) - -(-self.start // per)
        if self.model is Model.GRADUATED:
            return min(max(0, units - self.skipped), self.billed)
        return units


@dataclass(frozen=True)
class Share:
    """The part of a line that belongs to the step which begins at ``starts_at``.

    ``used`` and ``included`` are in base units; ``billed`` is in the unit of ``Counting.billed``.
    Of a peak, ``used`` is the largest value of the step.
    """

    starts_at: datetime
    used: int
    included: int
    billed: int


def shares(counting: Counting, steps: Iterable[tuple[datetime, int]]) -> Iterator[Share]:
    """Yield the share of each step; ``steps`` are (start, used base units) in the order of time.

    The sums of ``included`` and ``billed`` over all shares are what a single step would have.
    """
    used, before = 0, (0, 0)
    for starts_at, quantity in steps:
        used = max(used, quantity) if counting.is_peak else used + quantity
        after = counting.after(used)
        yield Share(starts_at, quantity, after[0] - before[0], after[1] - before[1])
        before = after
