"""Identifiers of rows: their prefix says what they identify."""

from collections import Counter
from inspect import getmembers, isfunction

from controlplane.core import ids


def test_no_two_kinds_of_rows_share_a_prefix() -> None:
    makers = [make for name, make in getmembers(ids, isfunction) if name.endswith("_id")]

    prefixes = Counter(make().partition("_")[0] for make in makers)

    assert len(makers) > 20
    assert [prefix for prefix, n in prefixes.items() if n > 1] == []
