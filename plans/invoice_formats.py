"""The registry of formats in which an invoice can be downloaded.

A new format is a value of ``InvoiceFormat``, a row of ``INFO`` and a function in
``rendering.RENDERERS``; the import of either module fails if one of them is missing. API, portal
and command iterate the registry. This module needs neither the database nor Django.
"""

from dataclasses import dataclass
from enum import StrEnum


class InvoiceFormat(StrEnum):
    """The formats; each is also the suffix of its files."""

    PDF = "pdf"
    CSV = "csv"
    JSON = "json"


@dataclass(frozen=True)
class FormatInfo:
    """How the API offers a format: ``summary`` and ``description`` document the API operation."""

    media_type: str
    summary: str
    description: str
    is_text: bool = True


INFO = {
    InvoiceFormat.PDF: FormatInfo(
        "application/pdf",
        "Get an invoice as PDF",
        "Return the invoice of this number or id as a file.",
        is_text=False,
    ),
    InvoiceFormat.CSV: FormatInfo(
        "text/csv",
        "Get an invoice's lines as CSV",
        "Return the lines of the invoice of this number or id as a file.",
    ),
    InvoiceFormat.JSON: FormatInfo(
        "application/json",
        "Get an invoice's document as JSON",
        "Return exactly the bytes that a verification of the invoice compares.",
    ),
}
if missing := set(InvoiceFormat) - INFO.keys():
    raise RuntimeError(f"invoice formats without a row: {sorted(missing)}")
