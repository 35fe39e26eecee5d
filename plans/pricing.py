"""From usage to invoice lines: a pure function of plain values.

No database, no clock, no catalogue format: ``plans.invoicing`` turns rows into these values. All
quantities are integers in base units, prices are decimals of up to 12 places in the currency's
main unit, amounts are integers in minor units. Each line is rounded once, by the legal entity's
rule; tax is taken per rate on the sum of the lines.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

from plans import money
from plans.meters import Model as Model
from plans.money import EXACT, Rounding
from plans.periods import Period

TWELVE_PLACES = Decimal("1E-12")
SECONDS_PER_HOUR = 3600


@dataclass(frozen=True)
class Tier:
    """Units above the previous tier and up to ``up_to`` (None: all further) at ``unit_price``."""

    up_to: Decimal | None
    unit_price: Decimal


@dataclass(frozen=True)
class PriceRule:
    """The price of one meter. ``included`` base units a month cost nothing."""

    meter: str
    title: str
    model: Model
    unit: str
    base_per_unit: int
    tiers: tuple[Tier, ...]
    included: int = 0
    is_peak: bool = False  # the busiest space counts alone; otherwise spaces add up


@dataclass(frozen=True)
class SpaceUsage:
    """How many base units of a meter one space used inside a segment."""

    space_id: str
    meter: str
    quantity: int


@dataclass(frozen=True)
class Segment:
    """The span of the period in which one plan version was in force, and the use in it."""

    period: Period
    plan_key: str
    plan_version: int
    plan_title: str
    monthly_fee_minor: int
    rules: tuple[PriceRule, ...]
    usage: tuple[SpaceUsage, ...] = ()
    included_hours: Mapping[str, int] = field(default_factory=dict)  # a month, by lifetime meter


@dataclass(frozen=True)
class Lifetime:
    """One space or address that lived in the period: its span inside it and its hourly price."""

    meter: str
    plan_key: str
    plan_version: int
    title: str
    hour_price: Decimal
    space_id: str
    period: Period


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
    """A priced period."""

    lines: tuple[Line, ...]
    taxes: tuple[TaxLine, ...]

    @property
    def net_minor(self) -> int:
        return sum(line.amount_minor for line in self.lines)

    @property
    def tax_minor(self) -> int:
        return sum(tax.tax_minor for tax in self.taxes)


def rate(
    segments: Sequence[Segment], lifetimes: Sequence[Lifetime], seller: SellerRule, month: Period
) -> Rating:
    """Return the lines and the tax of one period.

    ``month`` is the billing month that the segments lie in: the fee and the included amounts of a
    segment are its share of the month, by seconds. The result does not depend on the order of
    ``usage`` and ``lifetimes``.
    """
    lines: list[Line] = []
    for segment in segments:
        lines += _fee(segment, seller, month)
        for rule in segment.rules:
            lines += _usage(segment, rule, seller, month)
    lines += _lifetimes(lifetimes, seller, _included_seconds(segments, month))
    net = sum(line.amount_minor for line in lines)
    return Rating(tuple(lines), (tax_on(net, seller),))


def tax_on(taxable_minor: int, seller: SellerRule) -> TaxLine:
    """Return the seller's tax on the sum of its lines."""
    exact = EXACT.divide(EXACT.multiply(Decimal(taxable_minor), seller.tax_percent), Decimal(100))
    return TaxLine(seller.tax_percent, taxable_minor, money.round_minor(exact, seller.rounding))


def included_share(included: int, part: Period, month: Period) -> int:
    """Return how much of a month's included amount belongs to ``part``, in base units.

    A begun base unit is given whole, so any cutting of a month includes at least the amount.
    """
    return -(-included * part.seconds // month.seconds)


@dataclass(frozen=True)
class Charge:
    """Base units billed at one price: what one line of a priced meter is made of."""

    base: int
    unit_price: Decimal
    per: int  # base units that one unit price buys


def charges(rule: PriceRule, billed: int) -> list[Charge]:
    """Return what ``billed`` base units beyond the included ones are charged at."""
    first = rule.tiers[0].unit_price
    if rule.model is Model.FLAT:
        return [Charge(1 if billed else 0, first, 1)]
    if rule.model is Model.UNIT:
        return [Charge(billed, first, rule.base_per_unit)]
    if rule.model is Model.PACKAGE:
        return [Charge(-(-billed // rule.base_per_unit), first, 1)]
    if rule.model is Model.VOLUME:
        return [Charge(billed, _tier_of(rule, billed).unit_price, rule.base_per_unit)]
    return _graduated(rule, billed)


def exact_minor(charge: Charge, currency: str) -> Decimal:
    """Return the exact price of a charge in minor units: products first, one division last."""
    major = EXACT.multiply(Decimal(charge.base), charge.unit_price)
    minor = major.scaleb(money.minor_digits(currency), EXACT)
    return EXACT.divide(minor, Decimal(charge.per))


def _graduated(rule: PriceRule, billed: int) -> list[Charge]:
    found: list[Charge] = []
    below = 0
    for tier in rule.tiers:
        top = billed if tier.up_to is None else min(billed, _tier_end(rule, tier))
        if top > below or not found:
            found.append(Charge(top - below, tier.unit_price, rule.base_per_unit))
        below = max(below, top)
    return found


def _tier_of(rule: PriceRule, billed: int) -> Tier:
    for tier in rule.tiers:
        if tier.up_to is None or billed <= _tier_end(rule, tier):
            return tier
    return rule.tiers[-1]


def _tier_end(rule: PriceRule, tier: Tier) -> int:
    return int((tier.up_to or Decimal(0)) * rule.base_per_unit)


def _fee(segment: Segment, seller: SellerRule, month: Period) -> list[Line]:
    if segment.monthly_fee_minor == 0:
        return []
    fee = money.to_major(segment.monthly_fee_minor, seller.currency)
    charge = Charge(segment.period.seconds, fee, month.seconds)
    detail = {**_segment_detail(segment), "seconds": charge.base, "seconds_per_month": charge.per}
    return [
        _line(
            "fee",
            ("plan_fee", f"Plan {segment.plan_title}"),
            "month",
            charge,
            seller=seller,
            detail=detail,
        )
    ]


def _usage(segment: Segment, rule: PriceRule, seller: SellerRule, month: Period) -> list[Line]:
    spaces = _per_space(segment.usage, rule)
    used = sum(quantity for _, quantity in spaces)
    included = included_share(rule.included, segment.period, month)
    detail = {
        **_segment_detail(segment),
        "model": rule.model.value,
        "used_base": used,
        "included_base": included,
        "base_per_unit": rule.base_per_unit,
    }
    lines = [
        _line("usage", (rule.meter, rule.title), rule.unit, charge, seller=seller, detail=detail)
        for charge in charges(rule, max(0, used - included))
    ]
    return [_shared_out(line, spaces) for line in lines]


def _lifetimes(
    lifetimes: Sequence[Lifetime], seller: SellerRule, included: dict[str, int]
) -> list[Line]:
    """One line per meter and plan version: the hours of all spaces or addresses on it.

    Included hours go to the dearest plan first: that is the best for the buyer.
    """
    grouped: dict[tuple[str, Decimal, str, int], list[Lifetime]] = {}
    for each in lifetimes:
        key = (each.meter, -each.hour_price, each.plan_key, each.plan_version)
        grouped.setdefault(key, []).append(each)
    lines = []
    for key in sorted(grouped):
        line, free = _hours(grouped[key], included.get(key[0], 0), seller)
        included[key[0]] = included.get(key[0], 0) - free
        lines.append(line)
    return lines


def _hours(same: Sequence[Lifetime], included: int, seller: SellerRule) -> tuple[Line, int]:
    """Return the line of lifetimes on one plan version, and the included seconds it used up."""
    first, spaces = same[0], _summed((x.space_id, x.period.seconds) for x in same)
    lived = sum(seconds for _, seconds in spaces)
    free = min(lived, included)
    detail = {
        "plan": first.plan_key,
        "plan_version": first.plan_version,
        "lifetimes": len(same),
        "used_base": lived,
        "included_base": free,
        "base_per_unit": SECONDS_PER_HOUR,
    }
    charge = Charge(lived - free, first.hour_price, SECONDS_PER_HOUR)
    named = (first.meter, first.title)
    line = _line("lifetime", named, "hours", charge, seller=seller, detail=detail)
    return _shared_out(line, spaces), free


def _included_seconds(segments: Sequence[Segment], month: Period) -> dict[str, int]:
    """Return the seconds of life that the plans of a period include, per lifetime meter."""
    found: dict[str, int] = {}
    for segment in segments:
        for meter, hours in segment.included_hours.items():
            share = included_share(hours * SECONDS_PER_HOUR, segment.period, month)
            found[meter] = found.get(meter, 0) + share
    return found


def _line(
    kind: str,
    named: tuple[str, str],
    unit: str,
    charge: Charge,
    *,
    seller: SellerRule,
    detail: dict[str, Any],
) -> Line:
    exact = exact_minor(charge, seller.currency)
    quantity = EXACT.divide(Decimal(charge.base), Decimal(charge.per))
    return Line(
        kind,
        named[0],
        named[1],
        quantity.quantize(TWELVE_PLACES, ROUND_HALF_EVEN, EXACT),
        unit,
        charge.unit_price,
        money.round_minor(exact, seller.rounding),
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
