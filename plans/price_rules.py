"""How a quantity becomes charges: the price models, at their place in the month. Pure."""

from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from plans import money
from plans.meters import Model
from plans.money import EXACT


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

    @property
    def is_flat(self) -> bool:
        return self.model is Model.FLAT


class Price(NamedTuple):
    """What ``per`` base units cost. ``kind`` is a model, ``fee``, or a plan version of hours."""

    kind: str
    unit_price: Decimal
    per: int


@dataclass(frozen=True)
class Billed:
    """``base`` units beyond the included ones, after ``start`` in the month.

    ``end`` is where the month ends as far as it is known: volume prices go by that. ``flat_paid``
    is the dearest flat price of the meter that the month has met before.
    """

    start: int
    base: int
    end: int
    flat_paid: Decimal = Decimal(0)


def charges(rule: PriceRule, billed: Billed) -> list[tuple[Price, int]]:
    """Return the base units charged at each price; at least one, zero where nothing is."""
    if rule.is_flat:
        return [_flat(rule, billed)]
    if rule.model is Model.GRADUATED:
        return _graduated(rule, billed)
    per, base = rule.base_per_unit, billed.base
    if rule.model is Model.PACKAGE:
        base = _packages(billed.start + base, per) - _packages(billed.start, per)
        per = 1
    tier = _tier_of(rule, billed.end) if rule.model is Model.VOLUME else rule.tiers[0]
    return [(Price(rule.model.value, tier.unit_price, per), base)]


def amount_minor(
    price: Price, span: tuple[int, int], currency: str, rounding: money.Rounding
) -> int:
    """Return what the base units from ``span[0]`` to ``span[1]`` at a price cost, in minor units.

    The rounded price of all less the rounded price of those before, so that cutting adds no cents.
    """
    before, after = (_exact_minor(price, base, currency) for base in span)
    return money.round_minor(after, rounding) - money.round_minor(before, rounding)


def _exact_minor(price: Price, base: int, currency: str) -> Decimal:
    """Return an exact price in minor units: products first, one division last."""
    major = EXACT.multiply(Decimal(base), price.unit_price)
    minor = major.scaleb(money.minor_digits(currency), EXACT)
    return EXACT.divide(minor, Decimal(price.per))


def _flat(rule: PriceRule, billed: Billed) -> tuple[Price, int]:
    """Once a month; where a dearer plan follows, the difference."""
    price = rule.tiers[0].unit_price
    more = price - billed.flat_paid
    if billed.base == 0 or more <= 0:
        return Price(Model.FLAT.value, price, 1), 0
    return Price(Model.FLAT.value, more, 1), 1


def _packages(base: int, per: int) -> int:
    return -(-base // per)


def _graduated(rule: PriceRule, billed: Billed) -> list[tuple[Price, int]]:
    """Each unit at the price of its tier; of no unit the tier that the next one falls into."""
    found: list[tuple[Price, int]] = []
    below, end = billed.start, billed.start + billed.base
    for tier in rule.tiers:
        top = end if tier.up_to is None else min(end, _tier_end(rule, tier))
        if top > below:
            found.append((_tier_price(rule, tier), top - below))
            below = top
    return found or [(_tier_price(rule, _tier_of(rule, billed.start + 1)), 0)]


def _tier_price(rule: PriceRule, tier: Tier) -> Price:
    return Price(rule.model.value, tier.unit_price, rule.base_per_unit)


def _tier_of(rule: PriceRule, billed: int) -> Tier:
    for tier in rule.tiers:
        if tier.up_to is None or billed <= _tier_end(rule, tier):
            return tier
    return rule.tiers[-1]


def _tier_end(rule: PriceRule, tier: Tier) -> int:
    return int((tier.up_to or Decimal(0)) * rule.base_per_unit)
