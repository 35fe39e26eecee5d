from typing import Literal, cast

ListAddressPlansSpaceType = Literal["brokered", "standard"]


def check_list_address_plans_space_type(value: str) -> ListAddressPlansSpaceType:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListAddressPlansSpaceType, value)
