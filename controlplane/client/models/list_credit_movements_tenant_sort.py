from typing import Literal, cast

ListCreditMovementsTenantSort = Literal["-booked", "booked"]


def check_list_credit_movements_tenant_sort(value: str) -> ListCreditMovementsTenantSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListCreditMovementsTenantSort, value)
