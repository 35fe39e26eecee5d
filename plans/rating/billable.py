"""Declares the inputs of pricing: plan segments with usage, lifetimes of spaces and addresses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from plans.rating.periods import Period
from plans.rating.price_rules import PriceRule


@dataclass(frozen=True)
class SpaceUsage:
    """How much of one meter a space used inside a segment, in base units."""

    space_id: str
    meter: str
    quantity: int


@dataclass(frozen=True)
class Segment:
    """A part of an invoice's period in which one plan version was in force, and the usage in it.

    ``runs_on``: the plan is still in force at the end of the invoice's period. Then the amounts
    that the plan includes for the rest of the month are available in this segment already.
    ``usage`` is that of the buckets that start in ``counted``, a window that may differ from
    ``period``. ``counted`` is None while the usage is not read yet. The fee is not charged for
    ``trial_seconds`` of the period.
    """

    period: Period
    plan_key: str
    plan_version: int
    plan_title: str
    monthly_fee_minor: int
    rules: tuple[PriceRule, ...]
    usage: tuple[SpaceUsage, ...] = ()
    included_hours: Mapping[str, int] = field(default_factory=dict)  # per month, by lifetime meter
    runs_on: bool = False
    counted: Period | None = None
    trial_seconds: int = 0

    @property
    def fee_seconds(self) -> int:
        """The seconds of the period for which the fee is charged; never below zero."""
        return max(0, self.period.seconds - self.trial_seconds)


@dataclass(frozen=True)
class Lifetime:
    """The active time of a space, or of its addresses, on one plan version inside a period.

    ``meter`` is ``space_hours`` or ``address_hours``, ``plan_key`` the space plan or address plan,
    ``count`` the number of spaces or addresses, and ``seconds`` the sum of their active time.
    """

    meter: str
    plan_key: str
    plan_version: int
    title: str
    hour_price: Decimal
    space_id: str
    seconds: int
    count: int = 1
