from typing import Literal, cast

ReasonEnum = Literal["date", "fall", "negative", "null", "time"]


def check_reason_enum(value: str) -> ReasonEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(ReasonEnum, value)
