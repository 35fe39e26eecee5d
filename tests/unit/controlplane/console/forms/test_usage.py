"""The spend cap's form takes the decimals that the currency has."""

import pytest

from controlplane.console.forms.usage import SpendCapForm


def filled(amount: str, currency: str) -> SpendCapForm:
    return SpendCapForm({"amount": amount, "action": "notify"}, currency=currency)


@pytest.mark.parametrize(
    ("amount", "currency", "minor"),
    [("10", "JPY", 10), ("10.99", "EUR", 1099), ("10.990", "EUR", 1099), ("0.001", "KWD", 1)],
)
def test_a_cap_is_in_minor_units(amount: str, currency: str, minor: int) -> None:
    form = filled(amount, currency)

    assert form.is_valid(), form.errors
    assert form.wanted == {"amount_minor": minor, "action": "notify"}


@pytest.mark.parametrize(
    ("amount", "currency", "reason"),
    [
        ("10.99", "JPY", "whole amount"),
        ("10.999", "EUR", "at most 2 decimals"),
        ("0.0001", "KWD", "at most 3 decimals"),
        ("0", "EUR", "positive"),
        ("1000000001", "EUR", "less than or equal"),
    ],
)
def test_an_amount_that_the_currency_lacks_is_refused(
    amount: str, currency: str, reason: str
) -> None:
    assert reason in str(filled(amount, currency).errors["amount"])
