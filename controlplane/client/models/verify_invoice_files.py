from typing import Literal, cast

VerifyInvoiceFiles = Literal["false", "true"]


def check_verify_invoice_files(value: str) -> VerifyInvoiceFiles:
    """Return ``value``; a newer server may know others than these."""
    return cast(VerifyInvoiceFiles, value)
