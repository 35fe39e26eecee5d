from typing import Literal, cast

ReadFromEnum = Literal["copy", "pinned"]


def check_read_from_enum(value: str) -> ReadFromEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(ReadFromEnum, value)
