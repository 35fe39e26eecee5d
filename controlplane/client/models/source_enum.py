from typing import Literal, cast

SourceEnum = Literal["copy", "lakehouse"]


def check_source_enum(value: str) -> SourceEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(SourceEnum, value)
