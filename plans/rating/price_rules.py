"""Turns a billed quantity into charges, by the price model of a rule. Pure.

A charge depends on what was billed earlier in the month, because tiers and packages count the units
of the whole month.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from plans.rating import money
from plans.rating.money import EXACT
from plans.usage.meters import Model


@dataclass(frozen=True)
class Tier:
    """The price of the units above the previous tier's ``up_to``, up to and including its own.

    ``up_to`` counts units, not base units. None: the tier has no upper end.
    """

    up_to: Decimal | None
    unit_price: Decimal


class Price(NamedTuple):
    """``per`` base units cost ``unit_price``, in the currency's main unit.

    ``kind`` is a price model, ``fee``, or ``key/version`` of the space or address plan whose hours
    are priced. Fees and hours count seconds. A package price counts packages, and a flat price
    counts months: their ``per`` is 1.
    """

    kind: str
    unit_price: Decimal
    per: int


@dataclass(frozen=True)
class Billed:
    """A billed quantity: the next ``base`` base units after ``start`` billed ones of the month.

    Included units are not billed and do not count here. ``end`` is the billed total of the month as
    known now; it selects the tier of a volume price. ``flat_paid`` is the highest flat price that
    was charged for the meter earlier in the month.
    """

    start: int
    base: int
    end: int
    flat_paid: Decimal = Decimal(0)


@dataclass(frozen=True)
class PriceRule:
    """The price of one meter on one plan. ``included`` base units per month cost nothing."""

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
        """Return the charges for a billed quantity, as (price, quantity); always at least one.

        A quantity counts base units, packages or months (see ``Price``). If nothing is charged,
        there is one charge with quantity zero.
        """
        if self.is_flat:
            return [self.flat_charge(billed)]
        if self.model is Model.GRADUATED:
            return self.graduated_charges(billed)
        per, base = self.base_per_unit, billed.base
        if self.model is Model.PACKAGE:
            # A package that was begun earlier in the month is paid already. Charge the difference
            # of the begun packages; -(-a // b) is integer division rounded up.
            base = -(-(billed.start + base) // per) - -(-billed.start // per)
            per = 1
        tier = self.tier_of(billed.end) if self.model is Model.VOLUME else self.tiers[0]
        return [(Price(self.model.value, tier.unit_price, per), base)]

    def flat_charge(self, billed: Billed) -> tuple[Price, int]:
        """Return the flat price less what the month already paid as flat price, with quantity 1.

        The quantity is 0 without billed units, or if the month already paid as much.
        """
        price = self.tiers[0].unit_price
        more = price - billed.flat_paid
        if billed.base == 0 or more <= 0:
            return Price(Model.FLAT.value, price, 1), 0
        return Price(Model.FLAT.value, more, 1), 1

    def graduated_charges(self, billed: Billed) -> list[tuple[Price, int]]:
        """Return a charge for each tier into which some of the billed units fall.

        Without billed units, returns the price of the next unit with quantity zero.
        """
        found: list[tuple[Price, int]] = []
        below, end = billed.start, billed.start + billed.base
        for tier in self.tiers:
            top = end if tier.up_to is None else min(end, self.end_of(tier))
            if top > below:
                found.append((self.price_in(tier), top - below))
                below = top
        return found or [(self.price_in(self.tier_of(billed.start + 1)), 0)]

    def price_in(self, tier: Tier) -> Price:
        """Return the price of the units in ``tier`` under this rule."""
        return Price(self.model.value, tier.unit_price, self.base_per_unit)

    def tier_of(self, billed: int) -> Tier:
        """Return the tier of the ``billed``-th billed base unit of the month, counted from 1."""
        for tier in self.tiers:
            if tier.up_to is None or billed <= self.end_of(tier):
                return tier
        return self.tiers[-1]  # not reached: the last tier has no upper end

    def end_of(self, tier: Tier) -> int:
        """Return the number of the last base unit in ``tier``, counted from 1 over the month.

        ``tier`` must have an upper end.
        """
        return int((tier.up_to or Decimal(0)) * self.base_per_unit)


def amount_minor(
    price: Price, span: tuple[int, int], currency: str, rounding: money.Rounding
) -> int:
    """Return what an invoice line costs in minor units of ``currency``, rounded.

    ``span`` has two quantities: what the month was charged at this price before the line, and
    with the line. The result is the rounded cost of the second minus that of the first. So
    splitting a quantity over several lines never changes the sum by a cent. The result may be
    negative.
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
