from typing import Literal, cast

ListCreditMovementsSort = Literal["-booked", "booked"]


def check_list_credit_movements_sort(value: str) -> ListCreditMovementsSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListCreditMovementsSort, value)
