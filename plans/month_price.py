"""Prices a billing month from its beginning, as far as it is known. Pure; ``pricing`` calls it.

The result depends on use and on which plans were in force when, never on where invoices end: two
neighbouring segments of one plan are priced as one would be.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from plans import money, price_rules
from plans.billable import Lifetime, Segment, SpaceUsage
from plans.month_so_far import merged
from plans.periods import Period
from plans.price_rules import Billed, Price, PriceRule

SECONDS_PER_HOUR = 3600
FEE = "plan_fee"
PlanVersion = tuple[str, str, int]  # meter, plan key, version


@dataclass(frozen=True)
class Part:
    """The use of one meter in one segment; ``charges`` are base units at each price.

    ``included`` is what the month had left of it, ``start`` what was billed earlier in the month.
    """

    rule: PriceRule
    spaces: Sequence[tuple[str, int]]
    used: int
    included: int
    start: int
    charges: Sequence[tuple[Price, int]]


@dataclass(frozen=True)
class Hours:
    """Seconds of life on one plan version in the month, ``billed`` of them beyond the included."""

    title: str
    price: Price
    billed: int


@dataclass(frozen=True)
class MonthPrice:
    """Fees by segment, parts by segment and meter, hours by plan version."""

    fees: Sequence[tuple[Price, int]]
    parts: Mapping[tuple[int, str], Part]
    hours: Mapping[PlanVersion, Hours]

    def charges(self) -> Counter[tuple[str, Price]]:
        """Return all base units by meter and price."""
        found: Counter[tuple[str, Price]] = Counter()
        for price, seconds in self.fees:
            found[FEE, price] += seconds if price.unit_price else 0
        for (_, meter), part in self.parts.items():
            for price, base in part.charges:
                found[meter, price] += base
        for (meter, _, _), hours in self.hours.items():
            found[meter, hours.price] += hours.billed
        return found


def price(
    segments: Sequence[Segment], lifetimes: Iterable[Lifetime], month: Period, currency: str
) -> MonthPrice:
    """Return the price of the month from its first segment to its last, in order of time."""
    return MonthPrice(
        [_fee(segment, month, currency) for segment in segments],
        _parts(segments, month),
        _hours(lifetimes, _included_seconds(segments, month)),
    )


def _fee(segment: Segment, month: Period, currency: str) -> tuple[Price, int]:
    fee = money.to_major(segment.monthly_fee_minor, currency)
    return Price("fee", fee, month.seconds), segment.period.seconds


@dataclass
class _Tally:
    """One meter while the month is walked through."""

    left: int = 0  # included units
    used: int = 0  # of a peak the largest
    billed: int = 0
    flat_paid: Decimal = Decimal(0)


def _parts(segments: Sequence[Segment], month: Period) -> dict[tuple[int, str], Part]:
    """Give the included units to the use of each segment in order of time; price what is beyond."""
    included = ((s, rule.meter, rule.included) for s in segments for rule in s.rules)
    pools = _pools(included, month)
    tallies = {meter: _Tally(left=units) for meter, units in pools.items()}
    placed = [
        (n, rule, _per_space(segment.usage, rule))
        for n, segment in enumerate(segments)
        for rule in segment.rules
    ]
    walked = [_walk(rule, spaces, tallies[rule.meter]) for _, rule, spaces in placed]
    return {
        (n, rule.meter): _part(rule, spaces, step, tallies[rule.meter])
        for (n, rule, spaces), step in zip(placed, walked, strict=True)
    }


@dataclass(frozen=True)
class _Step:
    used: int
    included: int
    start: int
    billed: int


def _walk(rule: PriceRule, spaces: Sequence[tuple[str, int]], tally: _Tally) -> _Step:
    used = sum(quantity for _, quantity in spaces)
    grown = max(0, used - tally.used) if rule.is_peak else used
    free = min(grown, tally.left)
    step = _Step(used, tally.left, tally.billed, grown - free)
    tally.used += grown
    tally.left -= free
    tally.billed += step.billed
    return step


def _part(rule: PriceRule, spaces: Sequence[tuple[str, int]], step: _Step, tally: _Tally) -> Part:
    billed = Billed(step.start, step.billed, tally.billed, tally.flat_paid)
    charges = price_rules.charges(rule, billed)
    if step.billed and rule.is_flat:
        tally.flat_paid = max(tally.flat_paid, rule.tiers[0].unit_price)
    return Part(rule, spaces, step.used, step.included, step.start, charges)


def _pools(included: Iterable[tuple[Segment, str, int]], month: Period) -> dict[str, int]:
    """Return the included units of each meter: shares of the month by seconds, a begun one whole.

    What a running plan includes may be used ahead.
    """
    granted: Counter[str] = Counter()
    for segment, meter, units in included:
        granted[meter] += units * (segment.period.seconds + _seconds_ahead(segment, month))
    return {meter: -(-units // month.seconds) for meter, units in granted.items()}


def _seconds_ahead(segment: Segment, month: Period) -> int:
    if not segment.runs_on or segment.period.ends_at >= month.ends_at:
        return 0
    return Period(segment.period.ends_at, month.ends_at).seconds


def _included_seconds(segments: Sequence[Segment], month: Period) -> dict[str, int]:
    """Return the seconds of life that the month's plans include, per lifetime meter."""
    included = (
        (segment, meter, hours * SECONDS_PER_HOUR)
        for segment in segments
        for meter, hours in segment.included_hours.items()
    )
    return _pools(included, month)


def _hours(lifetimes: Iterable[Lifetime], left: dict[str, int]) -> dict[PlanVersion, Hours]:
    """Included hours go to the dearest plan of the month first: that is the best for the buyer."""
    found = {}
    for each in sorted(merged(lifetimes), key=lambda x: (x.meter, -x.hour_price)):
        free = min(each.seconds, left.get(each.meter, 0))
        left[each.meter] = left.get(each.meter, 0) - free
        version = f"{each.plan_key}/{each.plan_version}"
        cost = Price(version, each.hour_price, SECONDS_PER_HOUR)
        key = (each.meter, each.plan_key, each.plan_version)
        found[key] = Hours(each.title, cost, each.seconds - free)
    return found


def _per_space(usage: Iterable[SpaceUsage], rule: PriceRule) -> list[tuple[str, int]]:
    mine = [(use.space_id, use.quantity) for use in usage if use.meter == rule.meter]
    if rule.is_peak:
        return sorted(mine, key=lambda space: (-space[1], space[0]))[:1]
    return summed(mine)


def summed(parts: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return one sum a space, in order of their ids."""
    sums: Counter[str] = Counter()
    for space_id, quantity in parts:
        sums[space_id] += quantity
    return sorted(sums.items())
