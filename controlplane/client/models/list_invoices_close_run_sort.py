from typing import Literal, cast

ListInvoicesCloseRunSort = Literal["-starts_at", "-total_minor", "starts_at", "total_minor"]


def check_list_invoices_close_run_sort(value: str) -> ListInvoicesCloseRunSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListInvoicesCloseRunSort, value)
