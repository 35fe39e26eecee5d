from typing import Literal, cast

StatusEnum = Literal["False", "True", "Unknown"]


def check_status_enum(value: str) -> StatusEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(StatusEnum, value)
