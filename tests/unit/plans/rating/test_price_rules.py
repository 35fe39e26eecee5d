"""What each price model charges for the next units of a month."""

from decimal import Decimal
from typing import Any

import pytest

from plans.rating import price_rules
from plans.rating.money import Rounding
from plans.rating.price_rules import Billed, Price, PriceRule, Tier
from plans.usage.meters import Model

TIERS = (
    Tier(Decimal(10), Decimal(3)),
    Tier(Decimal("20.5"), Decimal(2)),
    Tier(None, Decimal(1)),
)
ONE, TWO, THREE = Decimal(1), Decimal(2), Decimal(3)


def rule(model: Model, per: int = 2, tiers: tuple[Tier, ...] = TIERS) -> PriceRule:
    return PriceRule("m", "M", model, "unit", per, tiers)


def billed(start: int, base: int, **fields: Any) -> Billed:
    return Billed(start, base, **{"end": start + base, **fields})


@pytest.mark.parametrize(
    ("start", "base", "charges"),
    [
        (0, 0, [(THREE, 0)]),
        (0, 20, [(THREE, 20)]),
        (0, 21, [(THREE, 20), (TWO, 1)]),
        (19, 2, [(THREE, 1), (TWO, 1)]),
        (20, 0, [(TWO, 0)]),
        (20, 21, [(TWO, 21)]),
        (20, 22, [(TWO, 21), (ONE, 1)]),
        (40, 0, [(TWO, 0)]),
        (41, 0, [(ONE, 0)]),
        (41, 5, [(ONE, 5)]),
        (0, 50, [(THREE, 20), (TWO, 21), (ONE, 9)]),
    ],
)
def test_graduated_units_are_charged_by_the_tier_they_are_in(
    start: int, base: int, charges: list[tuple[Decimal, int]]
) -> None:
    found = rule(Model.GRADUATED).charges(billed(start, base))

    assert found == [(Price("graduated", price, 2), units) for price, units in charges]


@pytest.mark.parametrize(
    ("end", "price"), [(0, THREE), (20, THREE), (21, TWO), (41, TWO), (42, ONE)]
)
def test_the_total_of_the_month_selects_the_tier_of_a_volume_price(
    end: int, price: Decimal
) -> None:
    found = rule(Model.VOLUME).charges(Billed(3, 4, end))

    assert found == [(Price("volume", price, 2), 4)]


def test_a_total_above_all_tiers_is_in_the_last_one() -> None:
    found = rule(Model.VOLUME, tiers=TIERS[:2]).charges(Billed(0, 4, 99))

    assert found == [(Price("volume", TWO, 2), 4)]


def test_a_unit_price_is_that_of_the_first_tier() -> None:
    assert rule(Model.UNIT).charges(Billed(30, 4, 99)) == [(Price("unit", THREE, 2), 4)]


@pytest.mark.parametrize(
    ("start", "base", "packages"),
    [(0, 0, 0), (0, 1, 1), (0, 10, 1), (0, 11, 2), (9, 1, 0), (10, 1, 1), (15, 16, 2), (20, 0, 0)],
)
def test_packages_are_charged_when_they_begin(start: int, base: int, packages: int) -> None:
    found = rule(Model.PACKAGE, per=10).charges(billed(start, base))

    assert found == [(Price("package", THREE, 1), packages)]


@pytest.mark.parametrize(
    ("base", "paid", "charge"),
    [
        (0, "0", (THREE, 0)),
        (1, "0", (THREE, 1)),
        (9, "0", (THREE, 1)),
        (9, "2.99", (Decimal("0.01"), 1)),
        (9, "3", (THREE, 0)),
        (9, "4", (THREE, 0)),
        (0, "1", (THREE, 0)),
    ],
)
def test_a_flat_price_is_charged_as_far_as_the_month_has_not_paid_it(
    base: int, paid: str, charge: tuple[Decimal, int]
) -> None:
    price, quantity = charge

    found = rule(Model.FLAT).charges(billed(5, base, flat_paid=Decimal(paid)))

    assert found == [(Price("flat", price, 1), quantity)]


@pytest.mark.parametrize("currency", ["EUR", "KWD", "JPY"])
@pytest.mark.parametrize("rounding", list(Rounding))
def test_a_quantity_costs_the_same_however_lines_divide_it(
    currency: str, rounding: Rounding
) -> None:
    price = Price("unit", Decimal("0.4567"), 7)

    parts = [
        price_rules.amount_minor(price, (n, n + 1), currency, rounding) for n in range(-50, 500)
    ]

    assert sum(parts) == price_rules.amount_minor(price, (-50, 500), currency, rounding)


@pytest.mark.parametrize(
    ("span", "up", "even"), [((0, 1), 1, 0), ((1, 2), 0, 1), ((0, 3), 2, 2), ((3, 0), -2, -2)]
)
def test_an_amount_is_the_difference_of_two_rounded_totals(
    span: tuple[int, int], up: int, even: int
) -> None:
    """A unit costs half a cent."""
    price = Price("unit", Decimal("0.01"), 2)

    assert price_rules.amount_minor(price, span, "EUR", Rounding.HALF_UP) == up
    assert price_rules.amount_minor(price, span, "EUR", Rounding.HALF_EVEN) == even


def test_an_amount_is_computed_with_all_digits() -> None:
    """The default of ``decimal`` has 28 digits, and these products have up to 42."""
    price = Price("unit", Decimal("1.000000000001"), 3)

    found = price_rules.amount_minor(price, (0, 3 * 10**30 + 3), "EUR", Rounding.HALF_UP)

    assert found == 10**32 + 10**20 + 100


def test_a_tier_that_ends_at_nothing_has_no_unit() -> None:
    assert rule(Model.GRADUATED).end_of(Tier(Decimal(0), ONE)) == 0
