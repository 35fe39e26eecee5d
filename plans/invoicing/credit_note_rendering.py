"""Renders the document of a credit note as HTML page and in each format of credit notes."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django.template.loader import render_to_string

from plans.einvoices import cii, en16931, ubl
from plans.invoice_formats import CREDIT_NOTE_FORMATS, InvoiceFormat
from plans.invoicing import document as documents
from plans.invoicing import line_taxes, rendering
from plans.invoicing import pdf as pdfs
from plans.rating import money


def html(document: Mapping[str, Any]) -> str:
    """Return the credit note as a complete HTML page with inline style."""
    return render_to_string("plans/credit_note.html", context(document))


def pdf(document: Mapping[str, Any]) -> bytes:
    """Return the page of ``html`` as PDF.

    Raises:
        Unavailable: the Pango libraries, which WeasyPrint needs, are not installed.
    """
    return pdfs.of_page(html(document))


def ubl_of(document: Mapping[str, Any]) -> bytes:
    """Return the credit note as UBL 2.1 by EN 16931.

    Raises:
        NotStandard: something that the standard demands is missing.
    """
    return ubl.write(en16931.of_credit_note(document))


def cii_of(document: Mapping[str, Any]) -> bytes:
    """Return the credit note as Cross Industry Invoice; raise as ``ubl_of`` does."""
    return cii.write(en16931.of_credit_note(document))


def factur_x(document: Mapping[str, Any]) -> bytes:
    """Return the credit note as Factur-X; raise as ``ubl_of`` and ``pdf`` do."""
    # First, because it refuses what the standard lacks before a page is rendered.
    xml = cii_of(document)
    return pdfs.factur_x(html(document), xml, datetime.fromisoformat(document["issued_at"]))


def json(document: Mapping[str, Any]) -> str:
    """Return the canonical JSON text of the document, which a verification compares by byte."""
    return documents.canonical(dict(document))


RENDERERS: Mapping[InvoiceFormat, Callable[[Mapping[str, Any]], bytes | str]] = {
    InvoiceFormat.PDF: pdf,
    InvoiceFormat.JSON: json,
    InvoiceFormat.UBL: ubl_of,
    InvoiceFormat.CII: cii_of,
    InvoiceFormat.FACTUR_X: factur_x,
}
# Both ways: also a function whose format no operation of the API has.
if missing := set(CREDIT_NOTE_FORMATS) ^ RENDERERS.keys():
    raise RuntimeError(f"formats of credit notes without a row or a function: {sorted(missing)}")


def context(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the template context; amounts and days are texts in the billing time zone."""
    currency, invoice = document["currency"], document["invoice"]
    local = rendering.Local(invoice["period"]["time_zone"])
    settlement = document["settlement"]
    buyer = document["buyer"]
    # The billing name may be empty. The template prints one name of each party.
    named = {**buyer, "name": buyer["name"] or buyer["organisation"]}
    rows = {
        "Subtracted from what is due": settlement["receivable_minor"],
        "Kept as credit for the next invoices": settlement["credit_minor"],
    }
    return {
        "note": document,
        "title": f"Credit note {document['number']}",
        "issued_on": local.day(document["issued_at"]),
        "invoiced_on": local.day(invoice["issued_at"]),
        "starts_at": local.day(invoice["period"]["starts_at"]),
        "ends_at": local.day(invoice["period"]["ends_at"]),
        "parties": [("Seller", document["seller"]), ("Buyer", named)],
        "lines": [
            {
                **line,
                "amount": money.display(line["amount_minor"], currency),
                "tax_note": line_taxes.words(document, line),
            }
            for line in document["lines"]
        ],
        "taxes": [
            {
                **tax,
                "taxable": money.display(tax["taxable_minor"], currency),
                "tax": money.display(tax["tax_minor"], currency),
            }
            for tax in document["taxes"]
        ],
        "net": money.display(document["net_minor"], currency),
        "total": money.display(document["total_minor"], currency),
        "settlement": [
            (label, money.display(amount, currency)) for label, amount in rows.items() if amount
        ],
        "rounding": rendering.ROUNDING_WORDS[document["rounding"]],
    }
