from typing import Literal, cast

PeriodWithoutInvoiceStateEnum = Literal[
    "approved", "closing", "draft", "due", "held", "in_grace", "open", "running", "skipped"
]


def check_period_without_invoice_state_enum(value: str) -> PeriodWithoutInvoiceStateEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(PeriodWithoutInvoiceStateEnum, value)
