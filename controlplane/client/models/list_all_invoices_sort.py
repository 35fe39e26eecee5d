from typing import Literal, cast

ListAllInvoicesSort = Literal["-starts_at", "-total_minor", "starts_at", "total_minor"]


def check_list_all_invoices_sort(value: str) -> ListAllInvoicesSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListAllInvoicesSort, value)
