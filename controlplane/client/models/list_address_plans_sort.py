from typing import Literal, cast

ListAddressPlansSort = Literal["-key", "-title", "key", "title"]


def check_list_address_plans_sort(value: str) -> ListAddressPlansSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListAddressPlansSort, value)
