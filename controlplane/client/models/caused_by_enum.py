from typing import Literal, cast

CausedByEnum = Literal[
    "commitment",
    "correction",
    "credit",
    "discount",
    "divided_month",
    "plan",
    "price",
    "quantity",
    "tax",
]


def check_caused_by_enum(value: str) -> CausedByEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(CausedByEnum, value)
