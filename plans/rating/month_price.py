"""Prices a billing month from its beginning to the end of the last known segment. Pure.

``pricing`` turns the result into invoice lines. The result depends on the usage, on the lifetimes
of spaces and addresses, and on when each plan was in force, but not on where invoices end: two
adjacent segments of one plan cost as much as one segment over both.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from plans.rating import money
from plans.rating.billable import Lifetime, Segment, SpaceUsage
from plans.rating.month_so_far import merged
from plans.rating.periods import Period
from plans.rating.price_rules import Billed, Price, PriceRule

SECONDS_PER_HOUR = 3600  # lifetimes are priced by the hour and counted in seconds
FEE = "plan_fee"
PlanVersion = tuple[str, str, int]  # lifetime meter, key and version of a space or address plan


@dataclass(frozen=True)
class Part:
    """The priced usage of one meter in one segment. Numbers are in base units.

    * ``spaces``: (space id, used), of a peak only the busiest space. ``used`` is their sum.
    * ``included``: what the month's included amount had left before this segment.
    * ``start``: how much of the meter was billed earlier in the month.
    * ``charges``: what the billed part of ``used`` is charged, as (price, quantity). A quantity
      counts base units, packages or months (see ``Price``).
    """

    rule: PriceRule
    spaces: Sequence[tuple[str, int]]
    used: int
    included: int
    start: int
    charges: Sequence[tuple[Price, int]]


@dataclass(frozen=True)
class Hours:
    """The priced hours of one version of a space or address plan over the month so far.

    ``billed`` is the active time in seconds, less the included seconds.
    """

    title: str
    price: Price
    billed: int


@dataclass(frozen=True)
class MonthPrice:
    """The price of a month so far, as the function ``price`` returns it.

    Segments are numbered from 0 in order of time. ``fees`` has (price, seconds) of each segment, in
    this order. ``parts`` has the usage by (segment number, meter), ``hours`` the hours of spaces
    and addresses by plan version.
    """

    fees: Sequence[tuple[Price, int]]
    parts: Mapping[tuple[int, str], Part]
    hours: Mapping[PlanVersion, Hours]

    def charges(self) -> Counter[tuple[str, Price]]:
        """Return {(meter, price): quantity} of everything that the month so far is billed.

        A quantity counts base units, packages or months (see ``Price``); of fees and of hours it
        counts seconds. Quantities may be zero.
        """
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
    """Return the price of ``month`` from its beginning to the end of the last segment.

    ``segments`` are those since the month began, in order of time and with their usage.
    ``lifetimes`` are those since the month began, in any order.
    """
    fees = [
        (
            Price("fee", money.to_major(segment.monthly_fee_minor, currency), month.seconds),
            segment.fee_seconds,
        )
        for segment in segments
    ]
    included_hours = (
        (segment, meter, hours * SECONDS_PER_HOUR)
        for segment in segments
        for meter, hours in segment.included_hours.items()
    )
    # Included space hours and address hours are pools of seconds, just as other included amounts
    # are pools of base units.
    return MonthPrice(
        fees, _parts(segments, month), _hours(lifetimes, pools(included_hours, month))
    )


@dataclass(frozen=True)
class _Step:
    """The counts of one meter in one segment, in base units.

    ``used``, ``included`` and ``start`` mean the same as in ``Part``. ``billed`` is the part of
    ``used`` that the included units do not cover.
    """

    used: int
    included: int
    start: int
    billed: int


@dataclass
class _Tally:
    """Running totals of one meter over the segments of the month, in base units.

    Call ``count`` for every segment in order of time, then ``part`` for every segment in the same
    order. ``flat_paid`` is the highest flat price that was charged so far.
    """

    left: int = 0  # of the included units
    used: int = 0  # for a peak: the largest so far
    billed: int = 0
    flat_paid: Decimal = Decimal(0)

    def count(self, rule: PriceRule, spaces: Sequence[tuple[str, int]]) -> _Step:
        """Count the usage of the next segment, and subtract it from the included units left."""
        used = sum(quantity for _, quantity in spaces)
        # Of a peak, only the part above the month's highest peak so far is new (docs/billing.md,
        # rule 8).
        grown = max(0, used - self.used) if rule.is_peak else used
        free = min(grown, self.left)
        step = _Step(used, self.left, self.billed, grown - free)
        self.used += grown
        self.left -= free
        self.billed += step.billed
        return step

    def part(self, rule: PriceRule, spaces: Sequence[tuple[str, int]], step: _Step) -> Part:
        """Return the priced part of the next segment, whose ``step`` came from ``count``."""
        charges = rule.charges(Billed(step.start, step.billed, self.billed, self.flat_paid))
        if step.billed and rule.is_flat:
            self.flat_paid = max(self.flat_paid, rule.tiers[0].unit_price)
        return Part(rule, spaces, step.used, step.included, step.start, charges)


def _parts(segments: Sequence[Segment], month: Period) -> dict[tuple[int, str], Part]:
    """Return the priced usage by (segment number, meter).

    Usage takes from the included units in order of time. The rest is billed.
    """
    included = ((s, rule.meter, rule.included) for s in segments for rule in s.rules)
    tallies = {meter: _Tally(left=units) for meter, units in pools(included, month).items()}
    numbered = [
        (n, rule, per_space(segment.usage, rule))
        for n, segment in enumerate(segments)
        for rule in segment.rules
    ]
    # Two passes: a volume price depends on the billed total of the whole month, so all segments are
    # counted before the first one is priced.
    counted = [tallies[rule.meter].count(rule, spaces) for _, rule, spaces in numbered]
    return {
        (n, rule.meter): tallies[rule.meter].part(rule, spaces, step)
        for (n, rule, spaces), step in zip(numbered, counted, strict=True)
    }


def pools(included: Iterable[tuple[Segment, str, int]], month: Period) -> dict[str, int]:
    """Return {meter: included units} that the month so far has in total.

    ``included`` are (segment, meter, units per month). Each segment contributes in proportion to
    its share of the month's seconds. A segment with ``runs_on`` counts to the end of the month,
    because the tenant may use up these units early. The sum of a meter is rounded up.
    """
    granted: Counter[str] = Counter()
    for segment, meter, units in included:
        seconds = segment.period.seconds
        if segment.runs_on and segment.period.ends_at < month.ends_at:
            seconds += Period(segment.period.ends_at, month.ends_at).seconds
        granted[meter] += units * seconds
    # -(-a // b) is integer division rounded up. Dividing only the sum makes the result independent
    # of how the month is divided into segments.
    return {meter: -(-units // month.seconds) for meter, units in granted.items()}


def _hours(lifetimes: Iterable[Lifetime], left: dict[str, int]) -> dict[PlanVersion, Hours]:
    """Return the priced hours by plan version.

    ``left`` are the included seconds by meter; this function reduces them. The plan version with
    the highest price gets them first, which is best for the buyer (docs/billing.md, rule 11).
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


def per_space(usage: Iterable[SpaceUsage], rule: PriceRule) -> list[tuple[str, int]]:
    """Return (space id, base units) of the rule's meter, ordered by space id.

    Of a peak returns only the busiest space. Empty if no space used the meter.
    """
    mine = [(use.space_id, use.quantity) for use in usage if use.meter == rule.meter]
    if rule.is_peak:
        # Of equal peaks take the lowest space id, so that the invoice is the same each time.
        return sorted(mine, key=lambda space: (-space[1], space[0]))[:1]
    return summed(mine)


def summed(parts: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return (space id, sum of its quantities) of each space in ``parts``, ordered by space id."""
    sums: Counter[str] = Counter()
    for space_id, quantity in parts:
        sums[space_id] += quantity
    return sorted(sums.items())
