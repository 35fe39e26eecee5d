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

    def charges(self, billed: Billed) -> list[tuple[Price, int]]:
        """Return (price, base units), at least one; its units are zero if nothing is charged."""
        if self.is_flat:
            return [self.flat_charge(billed)]
        if self.model is Model.GRADUATED:
            return self.graduated_charges(billed)
        per, base = self.base_per_unit, billed.base
        if self.model is Model.PACKAGE:
            # A package that an earlier invoice of the month began is paid already: charge only the
            # difference of begun packages, each count rounded up (-(-a // b)).
            base = -(-(billed.start + base) // per) - -(-billed.start // per)
            per = 1
        tier = self.tier_of(billed.end) if self.model is Model.VOLUME else self.tiers[0]
        return [(Price(self.model.value, tier.unit_price, per), base)]

    def flat_charge(self, billed: Billed) -> tuple[Price, int]:
        """Charge the flat price once a month; after a lower one was paid, only the difference."""
        price = self.tiers[0].unit_price
        more = price - billed.flat_paid
        if billed.base == 0 or more <= 0:
            return Price(Model.FLAT.value, price, 1), 0
        return Price(Model.FLAT.value, more, 1), 1

    def graduated_charges(self, billed: Billed) -> list[tuple[Price, int]]:
        """Price each unit by its tier; without units, name the tier of the next unit."""
        found: list[tuple[Price, int]] = []
        below, end = billed.start, billed.start + billed.base
        for tier in self.tiers:
            top = end if tier.up_to is None else min(end, self.end_of(tier))
            if top > below:
                found.append((self.price_in(tier), top - below))
                below = top
        return found or [(self.price_in(self.tier_of(billed.start + 1)), 0)]

    def price_in(self, tier: Tier) -> Price:
        """Return the price of one unit inside ``tier``."""
        return Price(self.model.value, tier.unit_price, self.base_per_unit)

    def tier_of(self, billed: int) -> Tier:
        """Return the tier that contains the billed base unit of this number."""
        for tier in self.tiers:
            if tier.up_to is None or billed <= self.end_of(tier):
                return tier
        return self.tiers[-1]  # not reached: the last tier has no upper end

    def end_of(self, tier: Tier) -> int:
        """Return the last base unit of a tier that has an end."""
        return int((tier.up_to or Decimal(0)) * self.base_per_unit)


def amount_minor(
    price: Price, span: tuple[int, int], currency: str, rounding: money.Rounding
) -> int:
    """Return the cost of base units ``span[0]`` to ``span[1]`` of the month in minor units.

    It is the rounded cost up to ``span[1]`` minus the rounded cost up to ``span[0]``. So splitting
    a quantity over several lines never changes the sum by a cent.
    """
    rounded = []
    for base in span:
        major = EXACT.multiply(Decimal(base), price.unit_price)
        minor = major.scaleb(money.minor_digits(currency), EXACT)
        # The only division comes last, so that it is the only step that may be inexact.
        exact = EXACT.divide(minor, Decimal(price.per))
        rounded.append(money.round_minor(exact, rounding))
    before, after = rounded
    return after - before
