from typing import Literal, cast

ListSpacePlansSpaceType = Literal["brokered", "standard"]


def check_list_space_plans_space_type(value: str) -> ListSpacePlansSpaceType:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListSpacePlansSpaceType, value)
