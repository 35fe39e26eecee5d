from typing import Literal, cast

ListSpacesSort = Literal["-created_at", "-name", "-phase", "created_at", "name", "phase"]


def check_list_spaces_sort(value: str) -> ListSpacesSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListSpacesSort, value)
