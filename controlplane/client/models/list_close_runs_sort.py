from typing import Literal, cast

ListCloseRunsSort = Literal["-created_at", "created_at"]


def check_list_close_runs_sort(value: str) -> ListCloseRunsSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListCloseRunsSort, value)
