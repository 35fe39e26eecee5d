"""Declares what changes the price of a month: discounts and minimum commitments. Pure.

``pricing.rate`` applies them to what the month so far costs, before tax. The result does not depend
on where invoices end, so the invoices of a month add up to one invoice for all of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from plans.rating import money
from plans.rating.money import EXACT, Rounding
from plans.rating.periods import Period

DISCOUNT = "discount"
COMMITMENT = "commitment"


@dataclass(frozen=True)
class Discount:
    """Makes each month cheaper by ``percent``, or by up to ``amount_minor``; one of them is set.

    ``meters`` are the meters whose lines get cheaper; empty: all. ``key`` is unique in a month.
    """

    key: str
    title: str
    percent: Decimal | None = None
    amount_minor: int | None = None
    meters: tuple[str, ...] = ()

    def off(self, left: Mapping[str, int], rounding: Rounding) -> dict[str, int]:
        """Return by how much each meter gets cheaper, in minor units.

        ``left`` is {meter: amount in minor units} after the discounts before this one. A meter
        whose amount is not positive gets nothing.
        """
        scope = sorted(
            meter
            for meter, amount in left.items()
            if amount > 0 and (not self.meters or meter in self.meters)
        )
        base = sum(left[meter] for meter in scope)
        if self.percent is None:
            # Never more than the lines cost: a discount pays nothing out.
            amount = min(self.amount_minor or 0, base)
        else:
            exact = EXACT.divide(EXACT.multiply(Decimal(base), self.percent), Decimal(100))
            amount = money.round_minor(exact, rounding)
        return dict(zip(scope, money.allocate(amount, [left[m] for m in scope]), strict=True))


@dataclass(frozen=True)
class Commitment:
    """The tenant pays at least ``minimum_minor`` for a whole month, before tax.

    ``period`` is the time of the commitment in one month. The minimum of the month is in proportion
    to the seconds of ``period``.
    """

    key: str
    title: str
    minimum_minor: int
    period: Period

    def minimum(self, month: Period, until: datetime) -> Decimal:
        """Return the exact minimum in minor units for the month up to the instant ``until``."""
        span = self.period.clip(month.starts_at, until)
        seconds = span.seconds if span else 0
        return EXACT.divide(Decimal(self.minimum_minor * seconds), Decimal(month.seconds))


@dataclass(frozen=True)
class Adjustment:
    """What one discount (negative) or commitment comes to for the month so far."""

    key: str
    kind: str
    title: str
    amount_minor: int


@dataclass(frozen=True)
class Terms:
    """The discounts of a month, in the order in which they apply, and its commitments.

    The object is false if there are none.
    """

    discounts: tuple[Discount, ...] = ()
    commitments: tuple[Commitment, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.discounts or self.commitments)

    def adjustments(
        self, charged: Mapping[str, int], month: Period, until: datetime, rounding: Rounding
    ) -> list[Adjustment]:
        """Return what the terms come to for the month up to ``until``.

        ``charged`` is {meter: amount in minor units} of the month up to then. Each discount applies
        to what the ones before it left. The commitments together are compared with what is left
        after all discounts; the difference is charged, on the line of the first one.
        """
        left = dict(charged)
        found = []
        for discount in self.discounts:
            off = discount.off(left, rounding)
            left = {meter: amount - off.get(meter, 0) for meter, amount in left.items()}
            found.append(Adjustment(discount.key, DISCOUNT, discount.title, -sum(off.values())))
        if self.commitments:
            # Rounded once for all commitments together.
            exact = sum((row.minimum(month, until) for row in self.commitments), Decimal(0))
            missing = max(0, money.round_minor(exact, rounding) - sum(left.values()))
            first = self.commitments[0]
            found.append(Adjustment(first.key, COMMITMENT, first.title, missing))
        return found

    def plain(self) -> dict[str, Any]:
        """Return the terms as JSON values, from which ``from_plain`` makes them again."""
        return {
            "discounts": [
                [
                    row.key,
                    row.title,
                    None if row.percent is None else f"{row.percent.normalize():f}",
                    row.amount_minor,
                    list(row.meters),
                ]
                for row in self.discounts
            ],
            "commitments": [
                [row.key, row.title, row.minimum_minor, row.period.plain()]
                for row in self.commitments
            ],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Sequence[Any]]) -> "Terms":
        """Return the terms from the result of ``plain``; an empty mapping has none."""
        return cls(
            tuple(
                Discount(
                    key, title, None if percent is None else Decimal(percent), amount, tuple(meters)
                )
                for key, title, percent, amount, meters in plain.get("discounts", ())
            ),
            tuple(
                Commitment(key, title, minimum, Period.from_plain(span))
                for key, title, minimum, span in plain.get("commitments", ())
            ),
        )
