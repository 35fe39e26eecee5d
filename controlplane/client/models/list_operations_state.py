from typing import Literal, cast

ListOperationsState = Literal["Failed", "Running", "Succeeded"]


def check_list_operations_state(value: str) -> ListOperationsState:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListOperationsState, value)
