"""From usage to invoice lines: a pure function of plain values.

No database, no clock, no catalogue format: ``plans.invoicing`` turns rows into these values. All
quantities are integers in base units, prices are decimals of up to 12 places in the currency's
main unit, amounts are integers in minor units. Each line is rounded once, by the legal entity's
rule; tax is taken per rate on the sum of the lines.

Included amounts, tiers and flat prices run over the calendar month: ``rate`` goes on where the
month's last invoice ended, so that pieces of a month cost together what it costs in one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

from plans import money, price_rules
from plans.meters import Model as Model
from plans.money import EXACT, Rounding
from plans.month_so_far import Hours, MonthSoFar, Tally
from plans.periods import Period
from plans.price_rules import Billed, Charge
from plans.price_rules import PriceRule as PriceRule
from plans.price_rules import Tier as Tier

TWELVE_PLACES = Decimal("1E-12")
SECONDS_PER_HOUR = 3600
_FEE = "plan_fee"


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
    rest of the month may be used already.
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


@dataclass(frozen=True)
class SellerRule:
    """What the selling legal entity fixes for all its invoices."""

    currency: str
    rounding: Rounding
    tax_percent: Decimal


@dataclass(frozen=True)
class Line:
    """One line: ``quantity`` units at ``unit_price`` make ``amount_minor`` after one rounding.

    ``quantity`` is printed to 12 places; the amount comes from the exact base units in ``detail``.
    """

    kind: str  # fee | usage | lifetime
    meter: str
    description: str
    quantity: Decimal
    unit: str
    unit_price: Decimal
    amount_minor: int
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TaxLine:
    """Tax at one rate on the sum of the lines it applies to (EN 16931, BR-CO-17)."""

    percent: Decimal
    taxable_minor: int
    tax_minor: int


@dataclass(frozen=True)
class Rating:
    """A priced period, and the month after it."""

    lines: tuple[Line, ...]
    taxes: tuple[TaxLine, ...]
    so_far: MonthSoFar

    @property
    def net_minor(self) -> int:
        return sum(line.amount_minor for line in self.lines)

    @property
    def tax_minor(self) -> int:
        return sum(tax.tax_minor for tax in self.taxes)


def rate(
    segments: Sequence[Segment],
    lifetimes: Sequence[Lifetime],
    seller: SellerRule,
    month: Period,
    so_far: MonthSoFar | None = None,
) -> Rating:
    """Return the lines and the tax of one period, and the state of the month after it.

    ``month`` is the billing month that the segments lie in: fees and included amounts are shares
    of it, by seconds. ``so_far`` is the month before this period (None: it begins here) and stays
    as it is. The result does not depend on the order of ``usage`` and ``lifetimes``.
    """
    after = so_far.copy() if so_far else MonthSoFar()
    parts = _parts(segments, month, after)
    lines: list[Line] = []
    for n, segment in enumerate(segments):
        lines += _fee(segment, seller, month, after)
        for rule in segment.rules:
            end = after.tally(rule.meter).billed
            lines += _usage(segment, rule, (parts[n, rule.meter], end), seller, after)
    lines += _lifetimes(lifetimes, seller, _included_seconds(segments, month, after), after)
    net = sum(line.amount_minor for line in lines)
    return Rating(tuple(lines), (tax_on(net, seller),), after)


def tax_on(taxable_minor: int, seller: SellerRule) -> TaxLine:
    """Return the seller's tax on the sum of its lines."""
    exact = EXACT.divide(EXACT.multiply(Decimal(taxable_minor), seller.tax_percent), Decimal(100))
    return TaxLine(seller.tax_percent, taxable_minor, money.round_minor(exact, seller.rounding))


@dataclass(frozen=True)
class _Part:
    """The use of one meter in one segment; ``billed`` of it is beyond the included units."""

    spaces: Sequence[tuple[str, int]]
    used: int
    included: int  # what the month had left of it
    free: int
    start: int  # what was billed earlier in the month
    billed: int


def _parts(
    segments: Sequence[Segment], month: Period, so_far: MonthSoFar
) -> dict[tuple[int, str], _Part]:
    """Give the included units to the use of each segment, in order of time, and tally both."""
    included = ((s, rule.meter, rule.included) for s in segments for rule in s.rules)
    left = _pools(included, month, so_far)
    found = {}
    for n, segment in enumerate(segments):
        for rule in segment.rules:
            part = _part(segment, rule, left[rule.meter], so_far.tally(rule.meter))
            left[rule.meter] -= part.free
            found[n, rule.meter] = part
    return found


def _part(segment: Segment, rule: PriceRule, left: int, tally: Tally) -> _Part:
    spaces = _per_space(segment.usage, rule)
    used = sum(quantity for _, quantity in spaces)
    grown = max(0, used - tally.used) if rule.is_peak else used
    free = min(grown, left)
    part = _Part(spaces, used, left, free, tally.billed, grown - free)
    tally.used += grown
    tally.included += free
    tally.billed += part.billed
    return part


def _pools(
    included: Iterable[tuple[Segment, str, int]], month: Period, so_far: MonthSoFar
) -> dict[str, int]:
    """Return the included units that are left of each meter: shares of the month by seconds.

    A begun unit is given whole, once a month. What a running plan includes may be used ahead.
    """
    ahead: dict[str, int] = {}
    for segment, meter, units in included:
        so_far.tally(meter).granted += units * segment.period.seconds
        ahead[meter] = ahead.get(meter, 0) + units * _seconds_ahead(segment, month)
    found = {}
    for meter, units_ahead in ahead.items():
        tally = so_far.tally(meter)
        granted = -(-(tally.granted + units_ahead) // month.seconds)
        found[meter] = max(0, granted - tally.included)
    return found


def _seconds_ahead(segment: Segment, month: Period) -> int:
    if not segment.runs_on or segment.period.ends_at >= month.ends_at:
        return 0
    return Period(segment.period.ends_at, month.ends_at).seconds


def _fee(segment: Segment, seller: SellerRule, month: Period, so_far: MonthSoFar) -> list[Line]:
    if segment.monthly_fee_minor == 0:
        return []
    fee = money.to_major(segment.monthly_fee_minor, seller.currency)
    tally, seconds = so_far.tally(_FEE), segment.period.seconds
    charge = price_rules.charged(tally, "fee", seconds, fee, month.seconds)
    detail = {**_segment_detail(segment), "seconds": seconds, "seconds_per_month": month.seconds}
    named = (_FEE, f"Plan {segment.plan_title}")
    return [_line("fee", named, "month", charge, seller=seller, detail=detail)]


def _usage(
    segment: Segment,
    rule: PriceRule,
    placed: tuple[_Part, int],
    seller: SellerRule,
    so_far: MonthSoFar,
) -> list[Line]:
    part, end = placed
    detail = {
        **_segment_detail(segment),
        "model": rule.model.value,
        "used_base": part.used,
        "included_base": part.included,
        "billed_before_base": part.start,
        "base_per_unit": rule.base_per_unit,
    }
    billed = Billed(part.start, part.billed, end)
    lines = [
        _line("usage", (rule.meter, rule.title), rule.unit, charge, seller=seller, detail=detail)
        for charge in price_rules.charges(rule, billed, so_far.tally(rule.meter))
    ]
    return [_shared_out(line, part.spaces) for line in lines]


def _lifetimes(
    lifetimes: Sequence[Lifetime], seller: SellerRule, left: dict[str, int], so_far: MonthSoFar
) -> list[Line]:
    """One line per meter and plan version: the hours of all spaces or addresses on it.

    Included hours go to the dearest plan of the month first: that is the best for the buyer.
    """
    lived: dict[tuple[str, str, int], list[Lifetime]] = {}
    for each in lifetimes:
        lived.setdefault((each.meter, each.plan_key, each.plan_version), []).append(each)
    for key, same in lived.items():
        hours = so_far.hours.setdefault(key, Hours(same[0].title, str(same[0].hour_price)))
        hours.lived += sum(each.seconds for each in same)
    lines = []
    for key, hours in sorted(so_far.hours.items(), key=_dearest_first):
        free = min(hours.lived, left.get(key[0], 0))
        left[key[0]] = left.get(key[0], 0) - free
        more = max(0, hours.lived - free - hours.billed)
        if key in lived or more:
            lines.append(_hours(key, lived.get(key, []), more, seller, so_far))
    return lines


def _dearest_first(item: tuple[tuple[str, str, int], Hours]) -> tuple[str, Decimal, str, int]:
    (meter, plan_key, version), hours = item
    return meter, -Decimal(hours.hour_price), plan_key, version


def _hours(
    key: tuple[str, str, int],
    same: Sequence[Lifetime],
    more: int,
    seller: SellerRule,
    so_far: MonthSoFar,
) -> Line:
    """Return the line of one plan version: ``more`` seconds of the month beyond included ones."""
    (meter, plan_key, version), hours = key, so_far.hours[key]
    spaces = _summed((x.space_id, x.seconds) for x in same)
    lived = sum(seconds for _, seconds in spaces)
    detail = {
        "plan": plan_key,
        "plan_version": version,
        "lifetimes": sum(each.count for each in same),
        "used_base": lived,
        "included_base": lived - more,
        "base_per_unit": SECONDS_PER_HOUR,
    }
    hours.billed += more
    charge = price_rules.charged(
        so_far.tally(meter),
        f"{plan_key}/{version}",
        more,
        Decimal(hours.hour_price),
        SECONDS_PER_HOUR,
    )
    line = _line("lifetime", (meter, hours.title), "hours", charge, seller=seller, detail=detail)
    return _shared_out(line, spaces)


def _included_seconds(
    segments: Sequence[Segment], month: Period, so_far: MonthSoFar
) -> dict[str, int]:
    """Return the seconds of life that the month's plans include, per lifetime meter."""
    included = (
        (segment, meter, hours * SECONDS_PER_HOUR)
        for segment in segments
        for meter, hours in segment.included_hours.items()
    )
    return _pools(included, month, so_far)


def _line(
    kind: str,
    named: tuple[str, str],
    unit: str,
    charge: Charge,
    *,
    seller: SellerRule,
    detail: dict[str, Any],
) -> Line:
    quantity = EXACT.divide(Decimal(charge.base), Decimal(charge.per))
    return Line(
        kind,
        named[0],
        named[1],
        quantity.quantize(TWELVE_PLACES, ROUND_HALF_EVEN, EXACT),
        unit,
        charge.unit_price,
        price_rules.amount_minor(charge, seller.currency, seller.rounding),
        {**detail, "billed_base": charge.base},
    )


def _shared_out(line: Line, spaces: Sequence[tuple[str, int]]) -> Line:
    """Say what each space contributed; the parts sum to the line, by largest remainder."""
    parts = money.allocate(line.amount_minor, [quantity for _, quantity in spaces])
    line.detail["spaces"] = [
        {"space_id": space_id, "used_base": quantity, "amount_minor": part}
        for (space_id, quantity), part in zip(spaces, parts, strict=True)
    ]
    return line


def _per_space(usage: Iterable[SpaceUsage], rule: PriceRule) -> list[tuple[str, int]]:
    mine = [(use.space_id, use.quantity) for use in usage if use.meter == rule.meter]
    if rule.is_peak:
        return sorted(mine, key=lambda space: (-space[1], space[0]))[:1]
    return _summed(mine)


def _summed(parts: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    sums: dict[str, int] = {}
    for space_id, quantity in parts:
        sums[space_id] = sums.get(space_id, 0) + quantity
    return sorted(sums.items())


def _segment_detail(segment: Segment) -> dict[str, Any]:
    return {
        "plan": segment.plan_key,
        "plan_version": segment.plan_version,
        "starts_at": segment.period.starts_at.isoformat(),
        "ends_at": segment.period.ends_at.isoformat(),
    }
