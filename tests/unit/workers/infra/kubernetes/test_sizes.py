"""Amounts are written as the API writes them back."""

import pytest

from workers.infra.kubernetes import sizes


@pytest.mark.parametrize(
    ("mebibytes", "quantity"),
    [
        (0, "0"),
        (1, "1Mi"),
        (576, "576Mi"),
        (1024, "1Gi"),
        (1536, "1536Mi"),
        (5 * 1024, "5Gi"),
        (1024 * 1024, "1Ti"),
        (1024 * 1024 * 1024, "1024Ti"),
    ],
)
def test_an_amount_takes_the_largest_whole_unit(mebibytes: int, quantity: str) -> None:
    assert sizes.quantity(mebibytes) == quantity
    assert sizes.mebibytes(quantity) == mebibytes


@pytest.mark.parametrize("other", ["", "1.5Gi", "1G", "many"])
def test_amounts_of_others_count_nothing(other: str) -> None:
    assert sizes.mebibytes(other) == 0
