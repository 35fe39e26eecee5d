"""The price models: turn a billed quantity into charges. Pure.

A charge depends on what was billed earlier in the month: tiers and packages run over the month.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from plans.rating import money
from plans.rating.money import EXACT
from plans.usage.meters import Model


@dataclass(frozen=True)
class Tier:
    """The price of units above the previous tier and up to ``up_to`` (None: no upper end)."""

    up_to: Decimal | None
    unit_price: Decimal


@dataclass(frozen=True)
class PriceRule:
    """The price of one meter. ``included`` base units per month cost nothing."""

    meter: str
    title: str
    model: Model
    unit: str
    base_per_unit: int
    tiers: tuple[Tier, ...]
    included: int = 0
    is_peak: bool = False  # only the busiest space counts; otherwise spaces add up

    @property
    def is_flat(self) -> bool:
        return self.model is Model.FLAT


class Price(NamedTuple):
    """``per`` base units cost ``unit_price``.

    ``kind`` is a price model, ``fee``, or the ``key/version`` of the plan that hours belong to. Of
    package and flat prices, ``per`` is 1 and a base unit is a package or the whole month.
    """

    kind: str
    unit_price: Decimal
    per: int


@dataclass(frozen=True)
class Billed:
    """``base`` units beyond the included ones, after ``start`` billed units of the month.

    ``end`` is the billed total of the month as known now; it selects the tier of a volume price.
    ``flat_paid`` is the highest flat price of the meter charged earlier in the month.
    """

    start: int
    base: int
    end: int
    flat_paid: Decimal = Decimal(0)


def charges(rule: PriceRule, billed: Billed) -> list[tuple[Price, int]]:
    """Return (price, base units), at least one; its units are zero if nothing is charged."""
    if rule.is_flat:
        return [_flat(rule, billed)]
    if rule.model is Model.GRADUATED:
        return _graduated(rule, billed)
    per, base = rule.base_per_unit, billed.base
    if rule.model is Model.PACKAGE:
        # A package that an earlier invoice of the month began is paid already.
        base = _packages(billed.start + base, per) - _packages(billed.start, per)
        per = 1
    tier = _tier_of(rule, billed.end) if rule.model is Model.VOLUME else rule.tiers[0]
    return [(Price(rule.model.value, tier.unit_price, per), base)]


def amount_minor(
    price: Price, span: tuple[int, int], currency: str, rounding: money.Rounding
) -> int:
    """Return the cost of base units ``span[0]`` to ``span[1]`` of the month in minor units.

    It is the rounded cost up to ``span[1]`` minus the rounded cost up to ``span[0]``. So splitting
    a quantity over several lines never changes the sum by a cent.
    """
    before, after = (_exact_minor(price, base, currency) for base in span)
    return money.round_minor(after, rounding) - money.round_minor(before, rounding)


def _exact_minor(price: Price, base: int, currency: str) -> Decimal:
    """Return an exact cost in minor units: the only division comes last."""
    major = EXACT.multiply(Decimal(base), price.unit_price)
    minor = major.scaleb(money.minor_digits(currency), EXACT)
    return EXACT.divide(minor, Decimal(price.per))


def _flat(rule: PriceRule, billed: Billed) -> tuple[Price, int]:
    """Charge the flat price once a month; after a lower one was paid, only the difference."""
    price = rule.tiers[0].unit_price
    more = price - billed.flat_paid
    if billed.base == 0 or more <= 0:
        return Price(Model.FLAT.value, price, 1), 0
    return Price(Model.FLAT.value, more, 1), 1


def _packages(base: int, per: int) -> int:
    return -(-base // per)  # rounded up


def _graduated(rule: PriceRule, billed: Billed) -> list[tuple[Price, int]]:
    """Price each unit by its tier; without units, name the tier of the next unit."""
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
    return rule.tiers[-1]  # not reached: the last tier has no upper end


def _tier_end(rule: PriceRule, tier: Tier) -> int:
    return int((tier.up_to or Decimal(0)) * rule.base_per_unit)
