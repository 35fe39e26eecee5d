"""The inputs of pricing: plan segments with their usage, and lifetimes of spaces and addresses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from plans.rating.periods import Period
from plans.rating.price_rules import PriceRule


@dataclass(frozen=True)
class SpaceUsage:
    """The base units of a meter that one space used inside a segment."""

    space_id: str
    meter: str
    quantity: int


@dataclass(frozen=True)
class Segment:
    """The span of the period in which one plan version was in force, and the usage in it.

    ``runs_on`` means that the plan is still in force when the invoice ends. The amounts that it
    includes for the rest of the month may then be used in this segment.
    ``counted``: ``usage`` comes from the buckets that start in this span.
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


@dataclass(frozen=True)
class Lifetime:
    """``count`` spaces or addresses of one space that existed in the period on one plan version.

    ``seconds`` is the sum of their active time in the period.
    """

    meter: str
    plan_key: str
    plan_version: int
    title: str
    hour_price: Decimal
    space_id: str
    seconds: int
    count: int = 1
