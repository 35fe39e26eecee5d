from typing import Literal, cast

ListInvoicesCloseRunState = Literal[
    "approved",
    "closing",
    "draft",
    "held",
    "issued",
    "issuing",
    "open",
    "overdue",
    "paid",
    "partly_paid",
    "uncollectible",
    "voided",
]


def check_list_invoices_close_run_state(value: str) -> ListInvoicesCloseRunState:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListInvoicesCloseRunState, value)
