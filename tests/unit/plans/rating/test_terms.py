"""Discounts and commitments one by one, and how documents store them."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from plans.rating.money import Rounding
from plans.rating.periods import Period
from plans.rating.terms import Adjustment, Commitment, Discount, Terms

MONTH = Period(datetime(2026, 4, 1, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC))
MIDDLE = MONTH.starts_at + timedelta(days=15)
HALF = Period(MIDDLE, MONTH.ends_at)
UP = Rounding.HALF_UP
TERMS = Terms(
    (
        Discount("p", "Partner", Decimal("10.50"), meters=("a", "b")),
        Discount("h", "All of it", Decimal(100)),
        Discount("w", "Welcome", None, 500),
    ),
    (Commitment("c", "Yearly deal", 15_000, HALF), Commitment("e", "Extra", 1, MONTH)),
)
PLAIN: dict[str, list[Any]] = {
    "discounts": [
        ["p", "Partner", "10.5", None, ["a", "b"]],
        ["h", "All of it", "100", None, []],
        ["w", "Welcome", None, 500, []],
    ],
    "commitments": [
        ["c", "Yearly deal", 15_000, ["2026-04-16T00:00:00+00:00", "2026-05-01T00:00:00+00:00"]],
        ["e", "Extra", 1, ["2026-04-01T00:00:00+00:00", "2026-05-01T00:00:00+00:00"]],
    ],
}


def test_terms_are_stored_as_json_and_read_again() -> None:
    assert TERMS.plain() == PLAIN
    assert Terms.from_plain(json.loads(json.dumps(PLAIN))) == TERMS


def test_terms_without_a_part_are_read_without_it() -> None:
    assert Terms.from_plain({}) == Terms()
    assert Terms.from_plain({"discounts": PLAIN["discounts"]}) == Terms(TERMS.discounts)
    assert Terms.from_plain({"commitments": PLAIN["commitments"]}) == Terms((), TERMS.commitments)


def test_terms_are_false_only_if_there_are_none() -> None:
    assert not Terms()
    assert Terms(TERMS.discounts)
    assert Terms((), TERMS.commitments)


@pytest.mark.parametrize(
    ("discount", "off"),
    [
        (Discount("d", "D", Decimal(10)), {"a": 100, "b": 20}),
        (Discount("d", "D", Decimal(10), meters=("b", "c")), {"b": 20}),
        (Discount("d", "D", Decimal(100)), {"a": 1000, "b": 200}),
        (Discount("d", "D", None, 600), {"a": 500, "b": 100}),
        (Discount("d", "D", None, 1200), {"a": 1000, "b": 200}),
        (Discount("d", "D", None, 5000), {"a": 1000, "b": 200}),
        (Discount("d", "D", None, 5000, ("b",)), {"b": 200}),
        (Discount("d", "D", None, None), {"a": 0, "b": 0}),
        (Discount("d", "D", Decimal(10), meters=("c",)), {}),
    ],
)
def test_a_discount_takes_off_meters_that_cost_something(
    discount: Discount, off: dict[str, int]
) -> None:
    left = {"b": 200, "c": 0, "a": 1000, "d": -50}

    found = discount.off(left, UP)

    assert found == off
    assert list(found) == sorted(off)


def test_one_minor_unit_is_enough_for_a_discount() -> None:
    assert Discount("d", "D", Decimal(100)).off({"a": 1}, UP) == {"a": 1}


def test_a_discount_is_rounded_by_the_rule_of_the_seller() -> None:
    tenth = Discount("d", "D", Decimal(10))

    assert tenth.off({"a": 25}, Rounding.HALF_UP) == {"a": 3}
    assert tenth.off({"a": 25}, Rounding.HALF_EVEN) == {"a": 2}


def test_a_discount_is_computed_with_all_digits() -> None:
    """The default of ``decimal`` has 28 digits, and these amounts have 30."""
    large = 2 * 10**29 + 2

    assert Discount("d", "D", Decimal(50)).off({"a": large}, UP) == {"a": 10**29 + 1}


@pytest.mark.parametrize(
    ("until", "minimum"),
    [
        (MONTH.starts_at + timedelta(days=10), 0),
        (MIDDLE, 0),
        (MIDDLE + timedelta(days=3), 1500),
        (MONTH.ends_at, 7500),
    ],
)
def test_a_commitment_counts_by_its_seconds_in_the_month(until: datetime, minimum: int) -> None:
    commitment = Commitment("c", "C", 15_000, HALF)

    assert commitment.minimum(MONTH, until) == minimum


def test_a_commitment_that_began_earlier_counts_from_the_begin_of_the_month() -> None:
    longer = Period(MONTH.starts_at - timedelta(days=40), MONTH.ends_at + timedelta(days=40))

    assert Commitment("c", "C", 3000, longer).minimum(MONTH, MIDDLE) == 1500


def test_a_minimum_is_exact_to_the_last_digit() -> None:
    """A third of a minor unit has 60 digits, so that sums of commitments stay exact."""
    third = Period(MONTH.starts_at, MONTH.starts_at + timedelta(days=10))

    assert str(Commitment("c", "C", 1, third).minimum(MONTH, MONTH.ends_at)) == "0." + "3" * 60


def test_each_discount_applies_to_what_the_ones_before_it_left() -> None:
    terms = Terms((Discount("h", "Half", Decimal(50), meters=("a",)), Discount("w", "W", None, 70)))

    found = terms.adjustments({"a": 100, "b": 10}, MONTH, MONTH.ends_at, UP)

    assert found == [
        Adjustment("h", "discount", "Half", -50),
        Adjustment("w", "discount", "W", -60),
    ]


@pytest.mark.parametrize(("charged", "missing"), [(0, 7501), (7500, 1), (7501, 0), (9000, 0)])
def test_commitments_together_charge_what_is_missing_on_the_line_of_the_first(
    charged: int, missing: int
) -> None:
    terms = Terms((), TERMS.commitments)

    assert terms.adjustments({"a": charged}, MONTH, MONTH.ends_at, UP) == [
        Adjustment("c", "commitment", "Yearly deal", missing)
    ]


def test_commitments_are_compared_with_what_discounts_left() -> None:
    terms = Terms((Discount("d", "D", Decimal(10)),), (Commitment("c", "C", 1000, MONTH),))

    found = terms.adjustments({"a": 600, "b": 400}, MONTH, MONTH.ends_at, UP)

    assert [row.amount_minor for row in found] == [-100, 100]


def test_the_sum_of_commitments_is_rounded_once_by_the_rule_of_the_seller() -> None:
    """Twice a quarter of a minor unit is half of one."""
    quarter = Commitment(
        "c", "C", 1, Period(MONTH.starts_at, MONTH.starts_at + timedelta(days=7.5))
    )
    terms = Terms((), (quarter, quarter))

    for rounding, amount in ((Rounding.HALF_UP, 1), (Rounding.HALF_EVEN, 0)):
        [found] = terms.adjustments({}, MONTH, MONTH.ends_at, rounding)
        assert found.amount_minor == amount
