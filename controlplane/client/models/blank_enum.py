from typing import Literal, cast

BlankEnum = Literal[""]


def check_blank_enum(value: str) -> BlankEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(BlankEnum, value)
