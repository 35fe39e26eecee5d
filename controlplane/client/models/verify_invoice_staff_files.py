from typing import Literal, cast

VerifyInvoiceStaffFiles = Literal["false", "true"]


def check_verify_invoice_staff_files(value: str) -> VerifyInvoiceStaffFiles:
    """Return ``value``; a newer server may know others than these."""
    return cast(VerifyInvoiceStaffFiles, value)
