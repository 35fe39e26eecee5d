from typing import Literal, cast

ListAlarmsSort = Literal[
    "-address", "-created_at", "-threshold", "address", "created_at", "threshold"
]


def check_list_alarms_sort(value: str) -> ListAlarmsSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListAlarmsSort, value)
