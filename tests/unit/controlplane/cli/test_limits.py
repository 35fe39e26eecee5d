"""Amounts of limits in the units that their titles name."""

import pytest

from controlplane.cli import limits


@pytest.mark.parametrize(
    ("resource", "unit", "amount", "shown"),
    [
        ("connection_ms_per_month", "connection-hours", 5_400_000, "1.5"),
        ("connection_ms_per_month", "connection-hours", 41_970, "<0.1"),
        ("stored_byte_ms_per_month", "GiB-hours", 2 * 2**30 * 3_600_000, "2"),
        ("bytes_per_month", "GiB", 3 * 2**30, "3"),
        ("bytes_per_month", "GiB", 0, "0"),
        ("messages_per_month", "messages", 12_345, "12,345"),
        ("spend", "EUR", 10_000, "100.00 EUR"),
        ("spaces", "", 3, "3"),
    ],
)
def test_amounts_are_in_the_unit_of_the_title(
    resource: str, unit: str, amount: int, shown: str
) -> None:
    row = limits.in_unit({"resource": resource, "unit": unit, "used": amount, "limit": None})

    assert (row["used"], row["limit"]) == (shown, None)
