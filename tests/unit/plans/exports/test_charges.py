"""Charges of documents: what a space used, of any size."""

from decimal import Decimal
from typing import Any

import pytest

from plans.exports import charges

PERIOD = {
    f"{prefix}{bound}": at
    for prefix in ("", "month_")
    for bound, at in (("starts_at", "2026-04-01T00:00:00Z"), ("ends_at", "2026-05-01T00:00:00Z"))
}


def document(used_base: int, base_per_unit: int) -> dict[str, Any]:
    """Return an invoice with one line, which is of one space."""
    spaces = [{"space_id": "as_1", "used_base": used_base, "amount_minor": 7}]
    line = {
        "kind": "usage",
        "meter": "messages",
        "description": "Messages, in and out",
        "quantity": f"{Decimal(used_base) / base_per_unit:f}",
        "unit": "messages",
        "unit_price": "0.000001",
        "amount_minor": 7,
        "detail": {"base_per_unit": base_per_unit, "spaces": spaces},
    }
    return {
        "number": "WP-000001",
        "currency": "EUR",
        "period": PERIOD,
        "buyer": {"name": "", "organisation": "Acme"},
        "seller": {"name": "Waypost"},
        "usage": [{"space_id": "as_1", "space": "shop"}],
        "lines": [line],
        "taxes": [],
    }


@pytest.mark.parametrize(
    ("used_base", "base_per_unit", "used"),
    [
        (10**16, 1, Decimal(10**16)),
        (10**20 + 1, 1000, Decimal("100000000000000000.001")),
        # Twelve places, rounded half to even as before.
        (2, 3, Decimal("0.666666666667")),
        (5, 2 * 10**12, Decimal("0.000000000002")),
    ],
)
def test_used_has_twelve_exact_places(used_base: int, base_per_unit: int, used: Decimal) -> None:
    (charge,) = charges.of_invoice("tn_1", document(used_base, base_per_unit))

    assert charge.used == used
    assert (charge.space, charge.amount_minor) == ("shop", 7)
