from typing import Literal, cast

SpaceType = Literal["brokered", "standard"]


def check_space_type(value: str) -> SpaceType:
    """Return ``value``; a newer server may know others than these."""
    return cast(SpaceType, value)
