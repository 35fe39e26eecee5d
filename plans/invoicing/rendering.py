"""Renders an invoice document as HTML page and in each format of ``plans.invoice_formats``.

All formats use only the document, so they agree with each other. The page and the PDF share the
template ``plans/invoice.html``. The portal includes the body of that template,
``plans/invoice_body.html``, in its own pages and renders it with ``context``.
"""

import csv as csv_format
import io
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.template.loader import render_to_string

from controlplane.core.spreadsheets import harmless
from plans.einvoices import cii, en16931, ubl
from plans.invoice_formats import InvoiceFormat
from plans.invoicing import document as documents
from plans.invoicing import line_taxes, running_totals, true_ups
from plans.invoicing import pdf as pdfs
from plans.invoicing.document import Document
from plans.rating import money
from plans.rating.periods import zone
from plans.usage import meters

CSV_COLUMNS = (
    "invoice",
    "position",
    "kind",
    "meter",
    "description",
    "quantity",
    "unit",
    "unit_price",
    "currency",
    "amount_minor",
    "amount",
)
# Columns of an invoice whose lines bear different taxes.
TAX_COLUMNS = ("tax_percent", "tax_category")
_TEXTS = ("kind", "meter", "description", "unit")  # a spreadsheet could read these as formulas
ROUNDING_WORDS = {
    "half_even": "half to even, once per line and once per tax rate",
    "half_up": "half up, once per line and once per tax rate",
}


def html(document: Mapping[str, Any]) -> str:
    """Return the invoice as a complete HTML page with inline style, which loads nothing else."""
    return render_to_string("plans/invoice.html", context(document))


def pdf(document: Mapping[str, Any]) -> bytes:
    """Return the page of ``html`` as PDF.

    Raises:
        Unavailable: the Pango libraries, which WeasyPrint needs, are not installed.
    """
    return pdfs.of_page(html(document))


def ubl_of(document: Mapping[str, Any]) -> bytes:
    """Return an issued invoice as UBL 2.1 by EN 16931.

    Raises:
        NotStandard: something that the standard demands is missing.
    """
    return ubl.write(en16931.of_invoice(document))


def cii_of(document: Mapping[str, Any]) -> bytes:
    """Return an issued invoice as Cross Industry Invoice by EN 16931; raise as ``ubl_of`` does."""
    return cii.write(en16931.of_invoice(document))


def factur_x(document: Mapping[str, Any]) -> bytes:
    """Return an issued invoice as Factur-X: the PDF of its page, with its CII document in it.

    Raises:
        NotStandard, Unavailable: as ``ubl_of`` and ``pdf`` do.
    """
    xml = cii_of(document)
    return pdfs.factur_x(html(document), xml, datetime.fromisoformat(document["issued_at"]))


def csv(document: Mapping[str, Any]) -> str:
    """Return the invoice lines as CSV (RFC 4180) with a header row.

    Amounts are in minor units (``amount_minor``) and in the main unit (``amount``). Texts that a
    spreadsheet could run as formulas are made harmless. ``TAX_COLUMNS`` follow if the invoice has
    several taxes.
    """
    text = io.StringIO()
    columns = (*CSV_COLUMNS, *(TAX_COLUMNS if line_taxes.has_several(document) else ()))
    # Ignored: the ``detail`` of a line, which is a mapping.
    writer = csv_format.DictWriter(text, columns, extrasaction="ignore")
    writer.writeheader()
    for line in document["lines"]:
        tax = line_taxes.entry_of(document, line)
        writer.writerow(
            {
                **line,
                "tax_percent": tax["percent"],
                "tax_category": tax.get("category", ""),
                **{name: harmless(line[name]) for name in _TEXTS},
                "invoice": document["number"] or "",
                "currency": document["currency"],
                "amount": money.to_major(line["amount_minor"], document["currency"]),
            }
        )
    return text.getvalue()


def json(document: Mapping[str, Any]) -> str:
    """Return the canonical JSON text of the document, which a verification compares by byte."""
    return documents.canonical(dict(document))


RENDERERS: Mapping[InvoiceFormat, Callable[[Mapping[str, Any]], bytes | str]] = {
    InvoiceFormat.PDF: pdf,
    InvoiceFormat.CSV: csv,
    InvoiceFormat.JSON: json,
    InvoiceFormat.UBL: ubl_of,
    InvoiceFormat.CII: cii_of,
    InvoiceFormat.FACTUR_X: factur_x,
}
if missing := set(InvoiceFormat) - RENDERERS.keys():
    raise RuntimeError(f"invoice formats that nothing renders: {sorted(missing)}")


def context(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the template context for ``plans/invoice_body.html`` and ``plans/invoice.html``.

    Amounts and instants are texts; instants are in the billing time zone of the document.
    """
    amount = _Amounts(document["currency"])
    local = Local(document["period"]["time_zone"])
    made = dict(document)
    together = running_totals.words(made)
    return {
        "invoice": document,
        "title": f"Invoice {document['number']}" if document["number"] else "Draft invoice",
        "issued_on": local.day(document["issued_at"]),
        "replaced_on": local.day(document.get("replaces", {}).get("issued_at")),
        "due_on": local.day(document["due_at"]),
        "starts_at": local.minute(document["period"]["starts_at"]),
        "ends_at": local.minute(document["period"]["ends_at"]),
        "as_of": local.minute(document["as_of"]),
        "lines": [
            {
                **line,
                "amount": amount(line["amount_minor"]),
                "price": amount.price(Decimal(line["unit_price"])),
                "quantity": _short(Decimal(line["quantity"])),
                "note": _note(made, line),
                "rounding_note": together.get(line["position"], ""),
                "tax_note": line_taxes.words(document, line),
            }
            for line in document["lines"]
        ],
        "taxes": [
            {
                "note": "",  # a document leaves an empty note out
                **tax,
                "taxable": amount(tax["taxable_minor"]),
                "tax": amount(tax["tax_minor"]),
            }
            for tax in document["taxes"]
        ],
        "net": amount(document["net_minor"]),
        "total": amount(document["total_minor"]),
        **_payable(document, amount),
        "spaces": [_space(space) for space in document["usage"]],
        "rounding": ROUNDING_WORDS[document["rounding"]],
        # A preview has an empty manifest.
        "tables": sorted(document["manifest"].get("tables", {}).items()),
    }


class _Amounts:
    def __init__(self, currency: str) -> None:
        self._currency = currency

    def __call__(self, amount_minor: int) -> str:
        return money.display(amount_minor, self._currency)

    def price(self, unit_price: Decimal) -> str:
        """Return a unit price as text with all its decimals, and no fewer than the currency has."""
        # Negative for 100, whose normal form is 1E+2.
        places = -int(unit_price.normalize().as_tuple().exponent)
        return f"{unit_price:,.{max(places, money.minor_digits(self._currency))}f}"


def _payable(document: Mapping[str, Any], amount: "_Amounts") -> dict[str, Any]:
    """Return template values: ``credit_rows``, (label, amount) after the total, and ``has_to_pay``.

    ``has_to_pay`` is false only if the document says that the amount to pay is zero; a draft does
    not say it yet.
    """
    total, moved = document["total_minor"], document.get("credit")
    rows = {}
    if total < 0:
        rows["Kept as credit for the next invoices"] = amount(-total)
    elif moved and moved["used_minor"]:
        rows["Credit from earlier invoices"] = amount(-moved["used_minor"])
    used = moved.get("grants", []) if moved else []
    for kind in ("promotional", "prepaid"):
        paid = sum(use["used_minor"] for use in used if use["kind"] == kind)
        if paid:
            rows[f"{kind.capitalize()} credit"] = amount(-paid)
    if moved and rows:
        rows["To pay"] = amount(document["payable_minor"])
        rows["Credit left for the next invoices"] = amount(moved["after_minor"])
    # In a draft it is None: the amount to pay is not known yet.
    has_to_pay = document.get("payable_minor") != 0
    return {"credit_rows": list(rows.items()), "has_to_pay": has_to_pay}


class Local:
    """Formats ISO 8601 instants of a document in its billing time zone; None becomes ""."""

    def __init__(self, time_zone: str) -> None:
        self._zone = zone(time_zone)

    def day(self, text: str | None) -> str:
        return self._at(text, "%-d %B %Y")  # %-d: no leading zero

    def minute(self, text: str | None) -> str:
        return self._at(text, "%-d %B %Y %H:%M:%S %Z")

    def _at(self, text: str | None, pattern: str) -> str:
        if text is None:
            return ""
        return datetime.fromisoformat(text).astimezone(self._zone).strftime(pattern)


def _note(made: Document, line: Document) -> str:
    """Return the note below a line's description, which says how its quantity came about."""
    kind, detail = line["kind"], line["detail"]
    if found := true_ups.of_line(made, line):
        return found.words
    if kind == "fee":
        trial = f"; free trial of {detail['trial']:,} seconds" if "trial" in detail else ""
        return (
            f"{detail['seconds']:,} of the month's {detail['seconds_per_month']:,} seconds{trial}"
        )
    if kind == "discount":
        return "on what the month costs so far, before tax"
    if kind == "commitment":
        return "up to the agreed minimum of the month so far, before tax"
    if kind == "correction":
        return "usage that arrived after the invoice was issued; its month is priced again with it"
    if kind == "repriced":
        return "usage on earlier invoices of this month, priced again with the whole month"
    if kind == "lifetime":
        return f"{detail['lifetimes']:,} in the period: {_used(detail)}"
    return _used(detail)


def _used(detail: Mapping[str, Any]) -> str:
    per = detail["base_per_unit"]
    used, included = (_short(Decimal(detail[n]) / per) for n in ("used_base", "included_base"))
    before = detail.get("billed_before_base", 0)
    earlier = f", after {_short(Decimal(before) / per)} billed this month" if before else ""
    return f"{used} used, {included} included{earlier}"


def _space(space: Mapping[str, Any]) -> dict[str, Any]:
    """Return a space of the usage statement for display, with only the meters that it used."""
    used = [
        {
            "title": meter.line_title,
            "unit": meter.unit,
            "quantity": _short(Decimal(quantity) / meter.base_per_unit),
        }
        for meter in meters.REGISTRY
        if meter.is_sampled and (quantity := space["meters"].get(meter.slug))
    ]
    return {**space, "meters": used}


def _short(quantity: Decimal) -> str:
    """Return a quantity with thousands separators and at most six decimals."""
    text = f"{quantity:,.6f}"
    return text.rstrip("0").rstrip(".")
