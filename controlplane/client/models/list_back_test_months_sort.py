from typing import Literal, cast

ListBackTestMonthsSort = Literal[
    "-difference_minor", "-present_net_minor", "difference_minor", "present_net_minor"
]


def check_list_back_test_months_sort(value: str) -> ListBackTestMonthsSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListBackTestMonthsSort, value)
