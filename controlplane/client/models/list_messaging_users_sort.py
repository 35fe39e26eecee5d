from typing import Literal, cast

ListMessagingUsersSort = Literal["-created_at", "-name", "-phase", "created_at", "name", "phase"]


def check_list_messaging_users_sort(value: str) -> ListMessagingUsersSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListMessagingUsersSort, value)
