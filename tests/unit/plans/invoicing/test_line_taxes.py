"""Which tax each line of a document bears, and the words that say it."""

from decimal import Decimal

from plans.invoicing import line_taxes
from plans.rating.taxes import TaxRule
from tests.support.finance import documents


def texts(name: str) -> list[str]:
    made = documents.invoices()[name]
    return [line_taxes.words(made, line) for line in made["lines"]]


def test_lines_of_one_tax_say_nothing() -> None:
    made = documents.invoices()["reverse charge"]

    assert texts("reverse charge") == [""] * 3
    assert set(line_taxes.by_position(made).values()) == {line_taxes.own_tax(made)}


def test_lines_of_several_taxes_say_the_rate() -> None:
    assert texts("two rates") == [*["Tax 19 %"] * 4, *["Tax 5.5 %"] * 2]


def test_lines_of_two_taxes_of_one_rate_say_what_differs() -> None:
    assert texts("two certificates") == [
        "Tax 0 %, E, Certificate 12", "Tax 0 %, E, Certificate 9"
    ]  # fmt: skip


def test_the_tax_of_the_period_is_the_first_even_if_no_line_bears_it() -> None:
    made = documents.invoices()["a correction alone"]

    assert line_taxes.own_tax(made) == TaxRule(Decimal(0), "G", "Not subject to VAT")
    assert line_taxes.by_position(made) == {1: documents.FORMER}
    assert line_taxes.entry_of(made, made["lines"][0])["tax_minor"] == 11
