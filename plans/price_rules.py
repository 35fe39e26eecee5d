"""How a quantity becomes charges: the price models, at their place in the month. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from plans import money
from plans.meters import Model
from plans.money import EXACT
from plans.month_so_far import Tally


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
class Charge:
    """Base units billed at one price: what one line of a priced meter is made of.

    ``before`` base units were charged at this price earlier in the month. The amount is the
    rounded price of all less the rounded price of those, so that cutting adds no cents.
    """

    base: int
    unit_price: Decimal
    per: int  # base units that one unit price buys
    before: int = 0


@dataclass(frozen=True)
class Billed:
    """``base`` units beyond the included ones, after ``start`` in the month.

    ``end`` is where the invoice ends: volume prices go by that.
    """

    start: int
    base: int
    end: int


def charges(rule: PriceRule, billed: Billed, tally: Tally) -> list[Charge]:
    """Return what ``billed`` is charged at, and enter it in ``tally.charged``."""
    if rule.model is Model.FLAT:
        return [_flat(rule, billed, tally)]
    return [charged(tally, rule.model, *priced) for priced in _priced(rule, billed, tally)]


def charged(tally: Tally, model: str, base: int, unit_price: Decimal, per: int) -> Charge:
    """Enter ``base`` units at a price in the tally and return their charge."""
    key = _key(model, unit_price, per)
    before = tally.charged.get(key, 0)
    tally.charged[key] = before + base
    return Charge(base, unit_price, per, before)


def amount_minor(charge: Charge, currency: str, rounding: money.Rounding) -> int:
    """Return the rounded amount of a charge in minor units."""
    whole = _exact_minor(charge, charge.before + charge.base, currency)
    before = _exact_minor(charge, charge.before, currency)
    return money.round_minor(whole, rounding) - money.round_minor(before, rounding)


def _exact_minor(charge: Charge, base: int, currency: str) -> Decimal:
    """Return an exact price in minor units: products first, one division last."""
    major = EXACT.multiply(Decimal(base), charge.unit_price)
    minor = major.scaleb(money.minor_digits(currency), EXACT)
    return EXACT.divide(minor, Decimal(charge.per))


def _flat(rule: PriceRule, billed: Billed, tally: Tally) -> Charge:
    """Once a month; where a dearer plan follows, the difference."""
    paid = [Decimal(key.split("/")[1]) for key in tally.charged if key.startswith(Model.FLAT)]
    price = max(rule.tiers[0].unit_price - max(paid, default=Decimal(0)), Decimal(0))
    if billed.base == 0 or not price:
        return Charge(0, rule.tiers[0].unit_price, 1)
    tally.charged[_key(Model.FLAT, rule.tiers[0].unit_price, 1)] = 1
    return Charge(1, price, 1)


def _priced(rule: PriceRule, billed: Billed, tally: Tally) -> Iterable[tuple[int, Decimal, int]]:
    first, per = rule.tiers[0].unit_price, rule.base_per_unit
    if rule.model is Model.UNIT:
        return [(billed.base, first, per)]
    if rule.model is Model.PACKAGE:
        return [
            (_packages(billed.start + billed.base, per) - _packages(billed.start, per), first, 1)
        ]
    if rule.model is Model.VOLUME:
        return _volume(rule, billed, tally)
    return _graduated(rule, billed)


def _packages(base: int, per: int) -> int:
    return -(-base // per)


def _volume(rule: PriceRule, billed: Billed, tally: Tally) -> Iterator[tuple[int, Decimal, int]]:
    """All units of the month at one price: earlier ones charged at another are charged anew."""
    price, per = _tier_of(rule, billed.end).unit_price, rule.base_per_unit
    moved = 0
    for other in sorted({tier.unit_price for tier in rule.tiers} - {price}):
        base = tally.charged.get(_key(rule.model, other, per), 0)
        if base:
            moved += base
            yield -base, other, per
    yield billed.base + moved, price, per


def _graduated(rule: PriceRule, billed: Billed) -> list[tuple[int, Decimal, int]]:
    """Each unit at the price of its tier; of no unit the tier that the next one falls into."""
    found: list[tuple[int, Decimal, int]] = []
    below, end = billed.start, billed.start + billed.base
    for tier in rule.tiers:
        top = end if tier.up_to is None else min(end, _tier_end(rule, tier))
        if top > below:
            found.append((top - below, tier.unit_price, rule.base_per_unit))
            below = top
    return found or [(0, _tier_of(rule, billed.start + 1).unit_price, rule.base_per_unit)]


def _tier_of(rule: PriceRule, billed: int) -> Tier:
    for tier in rule.tiers:
        if tier.up_to is None or billed <= _tier_end(rule, tier):
            return tier
    return rule.tiers[-1]


def _tier_end(rule: PriceRule, tier: Tier) -> int:
    return int((tier.up_to or Decimal(0)) * rule.base_per_unit)


def _key(model: str, unit_price: Decimal, per: int) -> str:
    return f"{model}/{unit_price.normalize():f}/{per}"
