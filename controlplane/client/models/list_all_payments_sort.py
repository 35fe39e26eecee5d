from typing import Literal, cast

ListAllPaymentsSort = Literal["-amount_minor", "-received_on", "amount_minor", "received_on"]


def check_list_all_payments_sort(value: str) -> ListAllPaymentsSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListAllPaymentsSort, value)
