"""What the demonstration says of an invoice and of a wait."""

import time

import pytest

from controlplane.demo import bills
from controlplane.demo.narrator import Narrator

INVOICE = {
    "currency": "EUR",
    "total_minor": 1190,
    "document": {
        "lines": [
            {"description": "Messages", "quantity": "10.50", "unit": "m", "amount_minor": 1000}
        ],
        "taxes": [{"percent": "19", "taxable_minor": 1000, "tax_minor": 190}],
    },
}


def test_an_invoice_is_told_with_its_tax_and_total() -> None:
    assert bills.table(INVOICE)[1:] == [
        ["Messages", "10.5", "m", "10.00 EUR"],
        ["tax 19 % on 10.00 EUR", "", "", "1.90 EUR"],
        ["total", "", "", "11.90 EUR"],
    ]


def test_a_wait_is_told_after_a_silence_that_is_longer_for_nothing_new(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    narrator = Narrator()

    for now, text in ((1.9, "a"), (2.0, "a"), (3.9, "b"), (4.0, "b"), (13.9, "b"), (14.0, "b")):
        narrator.still(f"{text} {now:.0f}" if text == "a" else text)

    told = [line.split("  ")[-1] for line in capsys.readouterr().out.splitlines()]
    assert told == ["a 2", "b", "b"]
