"""Divides the lines of invoice documents between the spaces that caused them. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


class SpaceCosts(NamedTuple):
    """Net amounts in minor units: of each space by its id, and of lines that no space caused.

    All amounts together are the net amount of the documents.
    """

    by_space: Mapping[str, int]
    shared_minor: int


def divide(documents: Iterable[Mapping[str, Any]]) -> SpaceCosts:
    """Return the costs of the spaces in ``documents``, which are invoices or previews.

    Lines without spaces are shared, such as a plan's fee, a discount or a later change of price.
    """
    by_space: Counter[str] = Counter()
    shared = 0
    for line in (line for document in documents for line in document["lines"]):
        parts = line["detail"].get("spaces") or []
        for part in parts:
            by_space[part["space_id"]] += part["amount_minor"]
        # The parts of a line add up to its amount; without parts all of it is shared.
        shared += line["amount_minor"] - sum(part["amount_minor"] for part in parts)
    return SpaceCosts({space: amount for space, amount in by_space.items() if amount}, shared)
