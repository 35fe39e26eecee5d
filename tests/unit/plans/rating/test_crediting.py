"""What a credit note may take back, and what its refusals say."""

from decimal import Decimal

import pytest

from controlplane.core.errors import Invalid
from plans.rating import crediting
from plans.rating.crediting import Credited, NothingLeft, TooMuch
from plans.rating.money import Rounding
from plans.rating.pricing import SellerRule, TaxLine
from plans.rating.taxes import TaxRule

SELLER = SellerRule("EUR", Rounding.HALF_UP, Decimal(19))
CHARGED = {1: 1000, 2: 500, 3: 0, 4: -300}


def note(lines: dict[int, int], taxable: int, tax: int, *, is_rest: bool) -> Credited:
    return Credited(lines, (TaxLine(Decimal(19), taxable, tax),), is_rest)


def credit(wanted: dict[int, int] | None, before: dict[int, int] | None = None) -> Credited:
    return crediting.credit(CHARGED, before or {}, wanted, SELLER)


def test_all_that_is_left_has_every_line_with_an_amount() -> None:
    everything = credit(None)

    assert everything == note({1: 1000, 2: 500, 4: -300}, 1200, 228, is_rest=True)
    assert everything.total_minor == 1428


def test_the_rest_is_what_earlier_notes_left() -> None:
    assert credit(None, {1: 1000, 4: -100}) == note({2: 500, 4: -200}, 300, 57, is_rest=True)


def test_a_part_is_the_rest_only_if_nothing_is_left() -> None:
    assert credit({1: 400}) == note({1: 400}, 400, 76, is_rest=False)
    assert credit({1: 1000, 2: 200}) == note({1: 1000, 2: 200}, 1200, 228, is_rest=True)


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
    assert credit({2: 1}) == note({2: 1}, 1, 0, is_rest=False)
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


OLD = TaxRule(Decimal(20), "S")  # what line 3 of the invoices below bears
TAXED = {3: OLD}


def test_a_line_is_taken_back_with_the_tax_that_it_bears() -> None:
    charged, before = {1: 5, 2: 0, 3: 8}, {1: 3}

    made = crediting.credit(charged, before, {1: 1, 3: 4}, SELLER, TAXED)

    # 4 at 19 % are 0.76, so 1; 3 of it were 0.57, so 1. 4 at 20 % are 0.8, so 1.
    assert made.taxes == (TaxLine(Decimal(19), 1, 0), TaxLine(Decimal(20), 4, 1, "S"))
    assert (made.net_minor, made.tax_minor, made.total_minor) == (5, 1, 6)
    only = crediting.credit(charged, before, {3: 4}, SELLER, TAXED)
    assert only.taxes == (TaxLine(Decimal(20), 4, 1, "S"),)


def test_the_rest_takes_back_what_is_left_of_each_tax() -> None:
    charged = {1: 1000, 3: -300}

    rest = crediting.credit(charged, {1: 333}, None, SELLER, TAXED)

    # 190 less the 63 of the first note, and all of -60.
    assert [tax.tax_minor for tax in rest.taxes] == [127, -60]
    assert (rest.net_minor, rest.total_minor, rest.is_rest) == (367, 434, True)


def test_lines_below_zero_make_up_for_lines_with_the_same_tax_only() -> None:
    """Without the last line nothing is left before tax, but 57 less 60 of tax."""
    charged = {1: 1000, 3: -300}

    with pytest.raises(TooMuch) as refused:
        crediting.credit(charged, {}, {1: 700}, SELLER, TAXED)

    assert refused.value.message == (
        "This would leave lines of several taxes that no credit note could take back: take back "
        "less, or all that is left."
    )
    assert refused.value.fields == {"left_minor": 700}
    assert crediting.credit(charged, {}, {1: 700}, SELLER).is_rest


def test_a_part_never_leaves_less_than_nothing_with_tax() -> None:
    """Line 1 has reverse charge: 1000 - 500 - 100 of tax are 400, so 399 can be taken back."""
    free = SELLER.taxed(TaxRule(Decimal(0), "AE"))
    charged = {1: 1000, 3: -500}

    assert crediting.credit(charged, {}, {1: 399}, free, TAXED).total_minor == 399
    with pytest.raises(TooMuch, match="several taxes"):
        crediting.credit(charged, {}, {1: 400}, free, TAXED)
    assert crediting.credit(charged, {1: 399}, None, free, TAXED).total_minor == 1


def test_lines_of_each_tax_may_be_taken_back_in_full_by_name() -> None:
    made = crediting.credit({1: 1000, 2: 0, 3: 500}, {}, {1: 1000, 3: 500}, SELLER, TAXED)

    assert (made.is_rest, made.tax_minor) == (True, 290)


def test_an_invoice_below_zero_with_tax_takes_no_credit_note() -> None:
    free = SELLER.taxed(TaxRule(Decimal(0), "AE"))

    with pytest.raises(NothingLeft):
        crediting.credit({1: 1000, 3: -900}, {}, None, free, TAXED)


def test_an_invoice_of_nothing_with_tax_takes_no_credit_note() -> None:
    free = SELLER.taxed(TaxRule(Decimal(0), "AE"))

    with pytest.raises(NothingLeft):
        crediting.credit({1: 1200, 3: -1000}, {}, None, free, TAXED)


def test_what_is_left_is_taken_back_though_only_tax_is_left() -> None:
    """Line 3 has no tax: without 700 of line 1 nothing is left before tax, but 57 of tax."""
    charged, free = {1: 1000, 3: -300}, {3: TaxRule(Decimal(0), "AE")}

    part = crediting.credit(charged, {}, {1: 700}, SELLER, free)
    rest = crediting.credit(charged, part.lines, None, SELLER, free)

    assert (part.is_rest, rest.is_rest, rest.net_minor, rest.tax_minor) == (False, True, 0, 57)
    with pytest.raises(TooMuch, match="Void it"):
        crediting.credit(charged, part.lines, {1: 1}, SELLER, free)


def test_an_invoice_below_zero_before_tax_is_taken_back_whole() -> None:
    """95.00 at 20 % and -100.00 without tax: -5.00 before tax, and 14.00 are to be paid."""
    charged, free = {1: 9500, 3: -10_000}, {3: TaxRule(Decimal(0), "AE")}
    french = SELLER.taxed(TaxRule(Decimal(20), "S"))

    rest = crediting.credit(charged, {}, None, french, free)

    assert (rest.net_minor, rest.total_minor) == (-500, 1400)
    with pytest.raises(TooMuch) as refused:
        crediting.credit(charged, {}, {1: 100}, french, free)
    assert refused.value.message == (
        "Before tax nothing of this invoice is left: a part of it cannot be taken back, but all "
        "that is left can. Void it."
    )
    assert refused.value.fields == {"left_minor": 0}
    assert crediting.credit({1: 1}, {}, {1: 1}, french).is_rest


def test_of_a_line_without_an_amount_nothing_can_be_taken_back() -> None:
    with pytest.raises(TooMuch, match="Of line 3 only 0 is left"):
        credit({3: 1})
