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
    UBL = "ubl.xml"
    CII = "cii.xml"
    FACTUR_X = "facturx.pdf"


@dataclass(frozen=True)
class FormatInfo:
    """Describes one format to the API, which has one OpenAPI operation for each format.

    * ``operation``: the OpenAPI operation id, after which the generated client names its function.
      ``summary`` and ``description`` document the operation.
    * ``is_text``: False if the API describes the file as binary. XML counts as binary too.
    * ``note_operation``: the operation id of the same format of credit notes; empty if credit notes
      do not have the format.
    * ``staff_operation`` and ``staff_note_operation``: the operation ids of the same files for
      staff.
    * ``is_final``: only an issued document has this format.
    """

    media_type: str
    operation: str
    summary: str
    description: str
    is_text: bool = True
    title: str = ""
    note_operation: str = ""
    is_final: bool = False

    @property
    def staff_operation(self) -> str:
        return f"{self.operation}_staff"

    @property
    def staff_note_operation(self) -> str:
        return f"{self.note_operation}_staff"


INFO = {
    InvoiceFormat.PDF: FormatInfo(
        "application/pdf",
        "get_invoice_pdf",
        "Get an invoice as PDF",
        "Return the invoice of this number or id as a file.",
        is_text=False,
        title="PDF",
        note_operation="get_credit_note_pdf",
    ),
    InvoiceFormat.CSV: FormatInfo(
        "text/csv",
        "get_invoice_lines_csv",
        "Get an invoice's lines as CSV",
        "Return the lines of the invoice of this number or id as a file.",
        title="Lines as CSV",
    ),
    InvoiceFormat.JSON: FormatInfo(
        "application/json",
        "get_invoice_document_json",
        "Get an invoice's document as JSON",
        "Return exactly the bytes that a verification of the invoice compares.",
        title="JSON",
        note_operation="get_credit_note_document_json",
    ),
    InvoiceFormat.UBL: FormatInfo(
        "application/xml",
        "get_invoice_ubl",
        "Get an invoice as UBL",
        "Return the issued invoice of this number or id as UBL 2.1 by EN 16931. An invoice that "
        "lacks what the standard demands is refused (409), with what is missing.",
        is_text=False,
        title="UBL (EN 16931)",
        note_operation="get_credit_note_ubl",
        is_final=True,
    ),
    InvoiceFormat.CII: FormatInfo(
        "application/xml",
        "get_invoice_cii",
        "Get an invoice as CII",
        "Return the issued invoice of this number or id as UN/CEFACT Cross Industry Invoice by "
        "EN 16931. An invoice that lacks what the standard demands is refused (409), with what is "
        "missing.",
        is_text=False,
        title="CII (EN 16931)",
        note_operation="get_credit_note_cii",
        is_final=True,
    ),
    InvoiceFormat.FACTUR_X: FormatInfo(
        "application/pdf",
        "get_invoice_factur_x",
        "Get an invoice as Factur-X",
        "Return the issued invoice of this number or id as Factur-X (ZUGFeRD 2): a PDF/A-3 file "
        "that carries the CII document. An invoice that lacks what EN 16931 demands is refused "
        "(409), with what is missing.",
        is_text=False,
        title="Factur-X / ZUGFeRD",
        note_operation="get_credit_note_factur_x",
        is_final=True,
    ),
}
if missing := set(InvoiceFormat) - INFO.keys():
    raise RuntimeError(f"invoice formats without a row: {sorted(missing)}")
# Credit notes have the formats of invoices, except their lines as CSV.
CREDIT_NOTE_FORMATS = tuple(kind for kind, info in INFO.items() if info.note_operation)


def format_of(filename: str) -> InvoiceFormat | None:
    """Return the format whose suffix ends ``filename``, of several the longest; None if none does.

    ``bill.facturx.pdf`` is Factur-X, ``bill.pdf`` a plain PDF.
    """
    known = [kind for kind in InvoiceFormat if filename.lower().endswith(f".{kind}")]
    return max(known, key=len, default=None)
