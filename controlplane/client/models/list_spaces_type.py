from typing import Literal, cast

ListSpacesType = Literal["brokered", "standard"]


def check_list_spaces_type(value: str) -> ListSpacesType:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListSpacesType, value)
