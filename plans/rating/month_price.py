"""Prices a billing month from its beginning to the last known segment. Pure; ``pricing`` calls it.

The result depends on the usage and on when each plan was in force, but not on where invoices end:
two adjacent segments of one plan cost as much as one segment over both.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from plans.rating import money, price_rules
from plans.rating.billable import Lifetime, Segment, SpaceUsage
from plans.rating.month_so_far import merged
from plans.rating.periods import Period
from plans.rating.price_rules import Billed, Price, PriceRule

SECONDS_PER_HOUR = 3600
FEE = "plan_fee"
PlanVersion = tuple[str, str, int]  # lifetime meter, plan key, version


@dataclass(frozen=True)
class Part:
    """The usage of one meter in one segment, in base units; ``charges``: the billed part by price.

    ``included`` is what the month's included amount had left before this segment; ``start`` is what
    was billed earlier in the month.
    """

    rule: PriceRule
    spaces: Sequence[tuple[str, int]]
    used: int
    included: int
    start: int
    charges: Sequence[tuple[Price, int]]


@dataclass(frozen=True)
class Hours:
    """The priced hours of one plan version; ``billed`` is in seconds, without the included ones."""

    title: str
    price: Price
    billed: int


@dataclass(frozen=True)
class MonthPrice:
    """Fees by segment, parts by (segment number, meter), hours by plan version."""

    fees: Sequence[tuple[Price, int]]
    parts: Mapping[tuple[int, str], Part]
    hours: Mapping[PlanVersion, Hours]

    def charges(self) -> Counter[tuple[str, Price]]:
        """Return the billed base units of the month by meter and price."""
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
    """Return the price of the month; ``segments`` are all its segments in order of time."""
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
    """Running totals of one meter over the segments of the month, in base units."""

    left: int = 0  # of the included units
    used: int = 0  # for a peak: the largest so far
    billed: int = 0
    flat_paid: Decimal = Decimal(0)


def _parts(segments: Sequence[Segment], month: Period) -> dict[tuple[int, str], Part]:
    """Consume the included units segment by segment in order of time; price the rest."""
    included = ((s, rule.meter, rule.included) for s in segments for rule in s.rules)
    pools = _pools(included, month)
    tallies = {meter: _Tally(left=units) for meter, units in pools.items()}
    numbered = [
        (n, rule, _per_space(segment.usage, rule))
        for n, segment in enumerate(segments)
        for rule in segment.rules
    ]
    # Two passes: a volume price depends on the billed total of the whole month, so all segments are
    # counted before the first one is priced.
    counted = [_count(rule, spaces, tallies[rule.meter]) for _, rule, spaces in numbered]
    return {
        (n, rule.meter): _part(rule, spaces, step, tallies[rule.meter])
        for (n, rule, spaces), step in zip(numbered, counted, strict=True)
    }


@dataclass(frozen=True)
class _Step:
    """The counts of one meter in one segment; see ``Part``."""

    used: int
    included: int
    start: int
    billed: int


def _count(rule: PriceRule, spaces: Sequence[tuple[str, int]], tally: _Tally) -> _Step:
    used = sum(quantity for _, quantity in spaces)
    # Of a peak, only what exceeds the month's peak so far is new.
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
    """Return the included units of each meter, in proportion to seconds, rounded up.

    A plan that runs on counts to the end of the month: its units may be used ahead.
    """
    granted: Counter[str] = Counter()
    for segment, meter, units in included:
        granted[meter] += units * (segment.period.seconds + _seconds_ahead(segment, month))
    # -(-a // b) is integer division rounded up. Dividing only the sum makes the result independent
    # of how the month is divided into segments.
    return {meter: -(-units // month.seconds) for meter, units in granted.items()}


def _seconds_ahead(segment: Segment, month: Period) -> int:
    if not segment.runs_on or segment.period.ends_at >= month.ends_at:
        return 0
    return Period(segment.period.ends_at, month.ends_at).seconds


def _included_seconds(segments: Sequence[Segment], month: Period) -> dict[str, int]:
    """Return the seconds that the month's plans include, by lifetime meter."""
    included = (
        (segment, meter, hours * SECONDS_PER_HOUR)
        for segment in segments
        for meter, hours in segment.included_hours.items()
    )
    return _pools(included, month)


def _hours(lifetimes: Iterable[Lifetime], left: dict[str, int]) -> dict[PlanVersion, Hours]:
    """Price the lifetimes by plan version.

    Included seconds go to the plan version with the highest price first, which is best for the
    buyer. ``left`` (seconds by meter) is reduced.
    """
    found = {}
    for lifetime in sorted(merged(lifetimes), key=lambda row: (row.meter, -row.hour_price)):
        free = min(lifetime.seconds, left.get(lifetime.meter, 0))
        left[lifetime.meter] = left.get(lifetime.meter, 0) - free
        version = f"{lifetime.plan_key}/{lifetime.plan_version}"
        cost = Price(version, lifetime.hour_price, SECONDS_PER_HOUR)
        key = (lifetime.meter, lifetime.plan_key, lifetime.plan_version)
        found[key] = Hours(lifetime.title, cost, lifetime.seconds - free)
    return found


def _per_space(usage: Iterable[SpaceUsage], rule: PriceRule) -> list[tuple[str, int]]:
    """Return (space id, base units) of the rule's meter; of a peak only the busiest space."""
    mine = [(use.space_id, use.quantity) for use in usage if use.meter == rule.meter]
    if rule.is_peak:
        return sorted(mine, key=lambda space: (-space[1], space[0]))[:1]
    return summed(mine)


def summed(parts: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return the sum of each space, ordered by space id."""
    sums: Counter[str] = Counter()
    for space_id, quantity in parts:
        sums[space_id] += quantity
    return sorted(sums.items())
