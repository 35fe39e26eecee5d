from typing import Literal, cast

MovementKindEnum = Literal["credit", "prepaid", "promotional"]


def check_movement_kind_enum(value: str) -> MovementKindEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(MovementKindEnum, value)
