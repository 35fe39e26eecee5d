"""Lists the formats in which an invoice can be downloaded.

A new format is a value of ``InvoiceFormat``, a row of ``INFO`` and a function in
``rendering.RENDERERS``. This module cannot be imported if a format has no row, and ``rendering``
cannot be imported if a format has no function. API, portal and command iterate the formats. This
module needs neither the database nor Django.
"""

from dataclasses import dataclass
from enum import StrEnum


class InvoiceFormat(StrEnum):
    """A format of invoice files; its value is also the suffix of their names."""

    PDF = "pdf"
    CSV = "csv"
    JSON = "json"


@dataclass(frozen=True)
class FormatInfo:
    """Describes one format to the API, which has one download operation for each format.

    ``operation`` is its operation id, after which the generated client names its function.
    ``summary`` and ``description`` document it. ``is_text`` is False for binary files.
    """

    media_type: str
    operation: str
    summary: str
    description: str
    is_text: bool = True


INFO = {
    InvoiceFormat.PDF: FormatInfo(
        "application/pdf",
        "get_invoice_pdf",
        "Get an invoice as PDF",
        "Return the invoice of this number or id as a file.",
        is_text=False,
    ),
    InvoiceFormat.CSV: FormatInfo(
        "text/csv",
        "get_invoice_lines_csv",
        "Get an invoice's lines as CSV",
        "Return the lines of the invoice of this number or id as a file.",
    ),
    InvoiceFormat.JSON: FormatInfo(
        "application/json",
        "get_invoice_document_json",
        "Get an invoice's document as JSON",
        "Return exactly the bytes that a verification of the invoice compares.",
    ),
}
if missing := set(InvoiceFormat) - INFO.keys():
    raise RuntimeError(f"invoice formats without a row: {sorted(missing)}")
