"""What is priced: spans of plans with their use, and lives of spaces and addresses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from plans.periods import Period
from plans.price_rules import PriceRule


@dataclass(frozen=True)
class SpaceUsage:
    """How many base units of a meter one space used inside a segment."""

    space_id: str
    meter: str
    quantity: int


@dataclass(frozen=True)
class Segment:
    """The span of the period in which one plan version was in force, and the use in it.

    With ``runs_on`` the plan is still in force when the invoice ends: what it includes for the
    rest of the month may be used already. ``counted`` are the buckets that ``usage`` is from, by
    where they start.
    """

    period: Period
    plan_key: str
    plan_version: int
    plan_title: str
    monthly_fee_minor: int
    rules: tuple[PriceRule, ...]
    usage: tuple[SpaceUsage, ...] = ()
    included_hours: Mapping[str, int] = field(default_factory=dict)  # a month, by lifetime meter
    runs_on: bool = False
    counted: Period | None = None


@dataclass(frozen=True)
class Lifetime:
    """Spaces or addresses (``count``) that lived in the period on one plan version, in one space.

    ``seconds`` is how long they lived inside it, added up.
    """

    meter: str
    plan_key: str
    plan_version: int
    title: str
    hour_price: Decimal
    space_id: str
    seconds: int
    count: int = 1
