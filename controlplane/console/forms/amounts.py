"""Amounts of money that people enter in forms."""

from decimal import Decimal

from django import forms


def minor_amount(entered: Decimal, digits: int) -> int:
    """Return an entered amount in minor units of a currency with ``digits`` decimals.

    Raises:
        ValidationError: it is not positive, or has more decimals than the currency.
    """
    # The form field allows more decimals than the currency has.
    minor = Decimal(entered).scaleb(digits)
    if minor <= 0 or minor != minor.to_integral_value():
        wanted = f"amount with at most {digits} decimals" if digits else "whole amount"
        raise forms.ValidationError(f"Enter a positive {wanted}.")
    return int(minor)
