from typing import Literal, cast

ListCouponsSort = Literal["-code", "-created", "code", "created"]


def check_list_coupons_sort(value: str) -> ListCouponsSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListCouponsSort, value)
