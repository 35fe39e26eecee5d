from typing import Literal, cast

ListOperationsSort = Literal["-created_at", "created_at"]


def check_list_operations_sort(value: str) -> ListOperationsSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListOperationsSort, value)
