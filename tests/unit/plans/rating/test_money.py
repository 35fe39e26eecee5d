"""Currencies, rounding and largest remainders."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.core.errors import Invalid
from plans.rating import money
from plans.rating.money import Rounding


@pytest.mark.parametrize(
    ("currency", "digits"), [("JPY", 0), ("EUR", 2), ("USD", 2), ("KWD", 3), ("CLF", 4)]
)
def test_minor_digits_follow_iso_4217(currency: str, digits: int) -> None:
    assert money.minor_digits(currency) == digits


@pytest.mark.parametrize("currency", ["", "eur", "XXX", "EURO"])
def test_minor_digits_refuse_what_is_no_currency(currency: str) -> None:
    with pytest.raises(Invalid, match="ISO 4217"):
        money.minor_digits(currency)


@pytest.mark.parametrize(
    ("exact", "even", "up"),
    [("0.5", 0, 1), ("1.5", 2, 2), ("2.5", 2, 3), ("-0.5", 0, -1), ("2.4999999999", 2, 2)],
)
def test_round_minor_knows_both_rules(exact: str, even: int, up: int) -> None:
    assert money.round_minor(Decimal(exact), Rounding.HALF_EVEN) == even
    assert money.round_minor(Decimal(exact), Rounding.HALF_UP) == up


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [(123450, "EUR", "1,234.50 EUR"), (-5, "EUR", "-0.05 EUR"), (1200, "JPY", "1,200 JPY")],
)
def test_display_shows_the_currencys_decimals(amount: int, currency: str, text: str) -> None:
    assert money.display(amount, currency) == text


@pytest.mark.parametrize(
    ("amount", "weights", "parts"),
    [
        (100, [1, 1, 1], [34, 33, 33]),
        (-100, [1, 1, 1], [-34, -33, -33]),
        (1, [1, 2], [0, 1]),
        (7, [0, 0], [7, 0]),
        (5, [], []),
    ],
)
def test_allocate_gives_the_rest_to_the_largest_remainder(
    amount: int, weights: list[int], parts: list[int]
) -> None:
    assert money.allocate(amount, weights) == parts


@given(
    amount=st.integers(-(10**12), 10**12),
    weights=st.lists(st.integers(0, 10**9), min_size=1, max_size=20),
)
def test_allocate_sums_exactly_and_stays_within_one(amount: int, weights: list[int]) -> None:
    parts = money.allocate(amount, weights)

    assert sum(parts) == amount
    whole = sum(weights)
    if whole:
        assert all(
            abs(part * whole - amount * weight) < whole
            for part, weight in zip(parts, weights, strict=True)
        )


def test_an_unknown_currency_is_refused_with_an_example() -> None:
    with pytest.raises(Invalid) as refused:
        money.minor_digits("eur")

    assert refused.value.error_code == "currency.unknown"
    assert refused.value.message == (
        "'eur' is not an ISO 4217 currency code: use three capital letters, as in EUR."
    )


@pytest.mark.parametrize(
    ("amount", "currency", "major"),
    [(1250, "EUR", "12.50"), (7, "JPY", "7"), (-1, "KWD", "-0.001")],
)
def test_to_major_has_all_decimals(amount: int, currency: str, major: str) -> None:
    assert str(money.to_major(amount, currency)) == major


def test_large_amounts_keep_all_digits() -> None:
    """The default of ``decimal`` has 28 digits."""
    amount = 10**35 + 1

    assert str(money.to_major(amount, "EUR")) == f"1{'0' * 33}.01"
    assert money.round_minor(Decimal(amount), Rounding.HALF_UP) == amount


@pytest.mark.parametrize(
    ("amount", "weights", "parts"),
    [
        (5, [0], [5]),
        (5, [3], [5]),
        (5, [0, 0, 0], [5, 0, 0]),
        (-5, [0, 0], [-5, 0]),
        (0, [1, 2], [0, 0]),
        (1, [0, 1], [0, 1]),
        (-1, [1, 2], [0, -1]),
        (3, [1, 1], [2, 1]),
        (8, [1, 2, 2], [2, 3, 3]),
        (10, [1, 1, 4], [2, 2, 6]),
        (7, [3, 3, 1], [3, 3, 1]),
        (2, [1, 1, 1, 1], [1, 1, 0, 0]),
    ],
)
def test_allocate_splits_in_proportion(amount: int, weights: list[int], parts: list[int]) -> None:
    assert money.allocate(amount, weights) == parts
