from typing import Literal, cast

ListMembersSort = Literal["-created_at", "-email", "-role", "created_at", "email", "role"]


def check_list_members_sort(value: str) -> ListMembersSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListMembersSort, value)
