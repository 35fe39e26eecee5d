from typing import Literal, cast

ListInvoicesSort = Literal["-starts_at", "-total_minor", "starts_at", "total_minor"]


def check_list_invoices_sort(value: str) -> ListInvoicesSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListInvoicesSort, value)
