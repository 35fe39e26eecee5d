from typing import Literal, cast

ListSpacePlansSort = Literal["-key", "-title", "key", "title"]


def check_list_space_plans_sort(value: str) -> ListSpacePlansSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListSpacePlansSort, value)
