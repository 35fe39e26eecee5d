from typing import Literal, cast

KindEnum = Literal["person", "token"]


def check_kind_enum(value: str) -> KindEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(KindEnum, value)
