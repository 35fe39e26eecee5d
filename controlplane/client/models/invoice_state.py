from typing import Literal, cast

InvoiceState = Literal[
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


def check_invoice_state(value: str) -> InvoiceState:
    """Return ``value``; a newer server may know others than these."""
    return cast(InvoiceState, value)
