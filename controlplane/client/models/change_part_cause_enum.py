from typing import Literal, cast

ChangePartCauseEnum = Literal[
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


def check_change_part_cause_enum(value: str) -> ChangePartCauseEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(ChangePartCauseEnum, value)
