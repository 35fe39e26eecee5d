"""From usage to invoice lines: a pure function of plain values.

No database, no clock, no catalogue format: ``plans.invoicing`` turns rows into these values. All
quantities are integers in base units, prices are decimals of up to 12 places in the currency's
main unit, amounts are integers in minor units. Each line is rounded once, by the legal entity's
rule; tax is taken per rate on the sum of the lines.

An invoice charges what its month costs from the beginning to the invoice's end, less what the
month was charged before: however closes cut a month, its invoices cost together what one would.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

from plans import money, month_price, price_rules
from plans.billable import Lifetime as Lifetime
from plans.billable import Segment as Segment
from plans.billable import SpaceUsage as SpaceUsage
from plans.meters import Model as Model
from plans.money import EXACT, Rounding
from plans.month_price import FEE, Hours, MonthPrice, Part, PlanVersion
from plans.month_so_far import MonthSoFar, merged
from plans.periods import Period
from plans.price_rules import Price
from plans.price_rules import PriceRule as PriceRule
from plans.price_rules import Tier as Tier

TWELVE_PLACES = Decimal("1E-12")


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
    A ``repriced`` line changes what earlier invoices of the month charged.
    """

    kind: str  # fee | usage | lifetime | repriced | correction
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
    of it, by seconds. ``so_far`` is the month before this period (None: it begins here). Lines may
    take back what was charged before. The result does not depend on the order of ``usage`` and
    ``lifetimes``.
    """
    before = so_far or MonthSoFar()
    known = [*before.segments, *segments]
    lived = merged([*before.lifetimes, *lifetimes])
    whole = month_price.price(known, lived, month, seller.currency)
    bill = _Bill(seller, Counter(before.charged))
    lines = [
        *_lines_of(segments, whole, len(before.segments), bill),
        *_lifetimes(lifetimes, whole, bill),
        *_repriced(whole, bill),
    ]
    charged = {key: base for key, base in bill.charged.items() if base}
    net = sum(line.amount_minor for line in lines)
    ended = tuple(replace(segment, runs_on=False) for segment in known)
    after = MonthSoFar(ended, lived, charged)
    return Rating(tuple(lines), (tax_on(net, seller),), after)


def tax_on(taxable_minor: int, seller: SellerRule) -> TaxLine:
    """Return the seller's tax on the sum of its lines."""
    exact = EXACT.divide(EXACT.multiply(Decimal(taxable_minor), seller.tax_percent), Decimal(100))
    return TaxLine(seller.tax_percent, taxable_minor, money.round_minor(exact, seller.rounding))


@dataclass(frozen=True)
class _Bill:
    """What the month was charged, while lines are added to it."""

    seller: SellerRule
    charged: Counter[tuple[str, Price]]

    def line(
        self,
        named: tuple[str, str, str],
        unit: str,
        charge: tuple[Price, int],
        detail: dict[str, Any],
    ) -> Line:
        """Charge base units at a price: ``named`` is kind, meter and description of the line."""
        kind, meter, description = named
        price, base = charge
        before = self.charged[meter, price]
        self.charged[meter, price] = before + base
        quantity = EXACT.divide(Decimal(base), Decimal(price.per))
        span = (before, before + base)
        return Line(
            kind,
            meter,
            description,
            quantity.quantize(TWELVE_PLACES, ROUND_HALF_EVEN, EXACT),
            unit,
            price.unit_price,
            price_rules.amount_minor(price, span, self.seller.currency, self.seller.rounding),
            {**detail, "billed_base": base},
        )


def _lines_of(
    segments: Sequence[Segment], whole: MonthPrice, first: int, bill: _Bill
) -> Iterator[Line]:
    for n, segment in enumerate(segments, start=first):
        if segment.monthly_fee_minor:
            yield _fee(segment, whole.fees[n], bill)
        for rule in segment.rules:
            yield from _usage(segment, whole.parts[n, rule.meter], bill)


def _fee(segment: Segment, charge: tuple[Price, int], bill: _Bill) -> Line:
    price, seconds = charge
    detail = {**_segment_detail(segment), "seconds": seconds, "seconds_per_month": price.per}
    return bill.line(("fee", FEE, f"Plan {segment.plan_title}"), "month", charge, detail)


def _usage(segment: Segment, part: Part, bill: _Bill) -> Iterator[Line]:
    rule = part.rule
    detail = {
        **_segment_detail(segment),
        "model": rule.model.value,
        "used_base": part.used,
        "included_base": part.included,
        "billed_before_base": part.start,
        "base_per_unit": rule.base_per_unit,
    }
    for charge in part.charges:
        line = bill.line(("usage", rule.meter, rule.title), rule.unit, charge, detail)
        yield _shared_out(line, part.spaces)


def _lifetimes(lifetimes: Sequence[Lifetime], whole: MonthPrice, bill: _Bill) -> Iterator[Line]:
    """One line per meter and plan version: the hours of all spaces or addresses on it."""
    lived: dict[PlanVersion, list[Lifetime]] = {}
    for each in lifetimes:
        lived.setdefault((each.meter, each.plan_key, each.plan_version), []).append(each)
    for key, hours in whole.hours.items():
        if key in lived:
            yield _hours(key, hours, lived[key], bill)


def _hours(key: PlanVersion, hours: Hours, same: Sequence[Lifetime], bill: _Bill) -> Line:
    meter, plan_key, version = key
    spaces = month_price.summed((x.space_id, x.seconds) for x in same)
    lived = sum(seconds for _, seconds in spaces)
    billed = min(max(0, hours.billed - bill.charged[meter, hours.price]), lived)
    detail = {
        "plan": plan_key,
        "plan_version": version,
        "lifetimes": sum(each.count for each in same),
        "used_base": lived,
        "included_base": lived - billed,
        "base_per_unit": hours.price.per,
    }
    line = bill.line(("lifetime", meter, hours.title), "hours", (hours.price, billed), detail)
    return _shared_out(line, spaces)


def _repriced(whole: MonthPrice, bill: _Bill) -> Iterator[Line]:
    """What the month costs otherwise than it was charged: lines that make it right."""
    right = whole.charges()
    for key in sorted({*right, *bill.charged}):
        base = right[key] - bill.charged[key]
        if base:
            (meter, price), (title, unit) = key, _named(key, whole)
            detail = {"base_per_unit": price.per}
            yield bill.line(("repriced", meter, title), unit, (price, base), detail)


def _named(key: tuple[str, Price], whole: MonthPrice) -> tuple[str, str]:
    """Return title and unit of what is charged at a price."""
    meter, price = key
    if meter == FEE:
        return "Plan", "month"
    for (lived_meter, _, _), hours in whole.hours.items():
        if (lived_meter, hours.price) == key:
            return hours.title, "hours"
    rules = [part.rule for (_, each), part in whole.parts.items() if each == meter]
    same = [rule for rule in rules if rule.model.value == price.kind]
    return same[0].title, same[0].unit


def _shared_out(line: Line, spaces: Sequence[tuple[str, int]]) -> Line:
    """Say what each space contributed; the parts sum to the line, by largest remainder."""
    parts = money.allocate(line.amount_minor, [quantity for _, quantity in spaces])
    line.detail["spaces"] = [
        {"space_id": space_id, "used_base": quantity, "amount_minor": part}
        for (space_id, quantity), part in zip(spaces, parts, strict=True)
    ]
    return line


def _segment_detail(segment: Segment) -> dict[str, Any]:
    return {
        "plan": segment.plan_key,
        "plan_version": segment.plan_version,
        "starts_at": segment.period.starts_at.isoformat(),
        "ends_at": segment.period.ends_at.isoformat(),
    }
