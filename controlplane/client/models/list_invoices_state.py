from typing import Literal, cast

ListInvoicesState = Literal[
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


def check_list_invoices_state(value: str) -> ListInvoicesState:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListInvoicesState, value)
