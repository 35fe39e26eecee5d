"""Compares the permissions of messaging users, as the API and files have them. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any


def are_equal(present: Sequence[Mapping[str, Any]], wanted: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether two lists of permissions have the same entries in the same order.

    Each entry has ``addresses`` and ``operations``. The order of addresses counts. The order of
    operations, and how often one is named, do not count: the server stores each operation once, in
    an order of its own.
    """
    left, right = (
        [(list(grant["addresses"]), frozenset(grant["operations"])) for grant in grants]
        for grants in (present, wanted)
    )
    return left == right
