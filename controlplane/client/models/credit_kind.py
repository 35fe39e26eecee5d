from typing import Literal, cast

CreditKind = Literal["prepaid", "promotional"]


def check_credit_kind(value: str) -> CreditKind:
    """Return ``value``; a newer server may know others than these."""
    return cast(CreditKind, value)
