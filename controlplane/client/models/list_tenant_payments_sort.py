from typing import Literal, cast

ListTenantPaymentsSort = Literal["-amount_minor", "-received_on", "amount_minor", "received_on"]


def check_list_tenant_payments_sort(value: str) -> ListTenantPaymentsSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListTenantPaymentsSort, value)
