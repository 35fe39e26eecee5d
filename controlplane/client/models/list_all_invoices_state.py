from typing import Literal, cast

ListAllInvoicesState = Literal[
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


def check_list_all_invoices_state(value: str) -> ListAllInvoicesState:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListAllInvoicesState, value)
