from typing import Literal, cast

ListPaymentsSort = Literal["-received_on", "-recorded", "received_on", "recorded"]


def check_list_payments_sort(value: str) -> ListPaymentsSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListPaymentsSort, value)
