from typing import Literal, cast

ListOverdueInvoicesSort = Literal["-due_at", "-outstanding_minor", "due_at", "outstanding_minor"]


def check_list_overdue_invoices_sort(value: str) -> ListOverdueInvoicesSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListOverdueInvoicesSort, value)
