"""No text cell of a CSV is run as a formula."""

import pytest

from controlplane.core import spreadsheets


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_text_that_would_be_a_formula_gets_an_apostrophe(start: str) -> None:
    assert spreadsheets.harmless(f"{start}cmd()") == f"'{start}cmd()"


@pytest.mark.parametrize("text", ["", "orders", "a=b", "'=1", "1-2"])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert spreadsheets.harmless(text) == text
