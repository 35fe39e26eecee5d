"""What a credit note may take back, and what its refusals say."""

from decimal import Decimal

import pytest

from controlplane.core.errors import Invalid
from plans.rating import crediting
from plans.rating.crediting import Credited, NothingLeft, TooMuch
from plans.rating.money import Rounding
from plans.rating.pricing import SellerRule

SELLER = SellerRule("EUR", Rounding.HALF_UP, Decimal(19))
CHARGED = {1: 1000, 2: 500, 3: 0, 4: -300}


def credit(wanted: dict[int, int] | None, before: dict[int, int] | None = None) -> Credited:
    return crediting.credit(CHARGED, before or {}, wanted, SELLER)


def test_all_that_is_left_has_every_line_with_an_amount() -> None:
    everything = credit(None)

    assert everything == Credited({1: 1000, 2: 500, 4: -300}, 1200, 228, is_rest=True)
    assert everything.total_minor == 1428


def test_the_rest_is_what_earlier_notes_left() -> None:
    assert credit(None, {1: 1000, 4: -100}) == Credited({2: 500, 4: -200}, 300, 57, is_rest=True)


def test_a_part_is_the_rest_only_if_nothing_is_left() -> None:
    assert credit({1: 400}) == Credited({1: 400}, 400, 76, is_rest=False)
    assert credit({1: 1000, 2: 200}) == Credited({1: 1000, 2: 200}, 1200, 228, is_rest=True)


def test_the_tax_is_rounded_over_all_notes() -> None:
    """5 at 19 % are 0.95: the first note of 3 takes 1, so nothing remains for the second."""
    first = crediting.credit({1: 5}, {}, {1: 3}, SELLER)
    second = crediting.credit({1: 5}, {1: 3}, {1: 2}, SELLER)

    assert [(note.tax_minor, note.is_rest) for note in (first, second)] == [(1, False), (0, True)]


@pytest.mark.parametrize("before", [{1: 1000, 2: 200}, {1: 1000, 2: 500}])
def test_nothing_is_left_of_an_invoice_that_was_taken_back(before: dict[int, int]) -> None:
    with pytest.raises(NothingLeft) as refused:
        credit(None, before)

    assert refused.value.error_code == "credit_note.nothing_left"
    assert refused.value.message == (
        "Nothing of this invoice is left that a credit note could take back."
    )


def test_one_minor_unit_can_be_taken_back() -> None:
    assert credit({2: 1}) == Credited({2: 1}, 1, 0, is_rest=False)
    assert credit(None, {1: 1000, 2: 199}).net_minor == 1


@pytest.mark.parametrize("wanted", [{}, {9: 1}, {1: 5, 9: 1}, {1: 0}, {1: -1}, {1: 5, 2: 0}])
def test_a_note_names_lines_with_positive_amounts(wanted: dict[int, int]) -> None:
    with pytest.raises(Invalid) as refused:
        credit(wanted)

    assert refused.value.error_code == "credit_note.lines"
    assert refused.value.message == (
        "Name lines of the invoice by their positions, each with a positive amount."
    )


def test_no_more_than_a_line_has_left_can_be_taken_back() -> None:
    assert credit({2: 400}, {2: 100}).net_minor == 400
    with pytest.raises(TooMuch) as refused:
        credit({2: 401}, {2: 100})

    assert refused.value.error_code == "credit_note.too_much"
    assert refused.value.message == "Of line 2 only 400 is left: take back at most that."
    assert refused.value.fields == {"position": 2, "left_minor": 400}


def test_no_more_than_the_invoice_has_left_can_be_taken_back() -> None:
    """A discount made the invoice smaller than its positive lines."""
    assert credit({1: 1000, 2: 200}).net_minor == 1200
    with pytest.raises(TooMuch) as refused:
        credit({1: 1000, 2: 201})

    assert refused.value.message == (
        "Of the invoice only 1200 before tax is left: take back at most that."
    )
    assert refused.value.fields == {"left_minor": 1200}
