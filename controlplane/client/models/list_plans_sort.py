from typing import Literal, cast

ListPlansSort = Literal["-key", "-title", "key", "title"]


def check_list_plans_sort(value: str) -> ListPlansSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListPlansSort, value)
