from typing import Literal, cast

SetSpendCapIfNoneMatch = Literal["*"]


def check_set_spend_cap_if_none_match(value: str) -> SetSpendCapIfNoneMatch:
    """Return ``value``; a newer server may know others than these."""
    return cast(SetSpendCapIfNoneMatch, value)
