from typing import Literal, cast

ListReadCountersSort = Literal["-position", "position"]


def check_list_read_counters_sort(value: str) -> ListReadCountersSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListReadCountersSort, value)
