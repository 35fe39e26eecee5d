"""The budget's form takes the decimals that the currency has."""

import pytest

from controlplane.console.forms.notifications import BudgetForm


@pytest.mark.parametrize(
    ("amount", "currency", "minor"),
    [("", "EUR", None), ("10", "JPY", 10), ("120.50", "EUR", 12_050), ("0.001", "KWD", 1)],
)
def test_a_budget_is_in_minor_units(amount: str, currency: str, minor: int | None) -> None:
    form = BudgetForm({"budget": amount}, currency=currency)

    assert form.is_valid(), form.errors
    assert form.cleaned_data["budget"] == minor


@pytest.mark.parametrize(
    ("amount", "currency", "reason"),
    [
        ("10.99", "JPY", "whole amount"),
        ("10.999", "EUR", "at most 2 decimals"),
        ("0.0001", "KWD", "at most 3 decimals"),
        ("-1", "EUR", "positive"),
    ],
)
def test_a_budget_that_the_currency_lacks_is_refused(
    amount: str, currency: str, reason: str
) -> None:
    assert reason in str(BudgetForm({"budget": amount}, currency=currency).errors["budget"])
