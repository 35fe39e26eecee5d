from typing import Literal, cast

ListRolloutsSort = Literal["-started_at", "started_at"]


def check_list_rollouts_sort(value: str) -> ListRolloutsSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListRolloutsSort, value)
