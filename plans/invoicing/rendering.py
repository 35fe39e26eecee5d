"""An invoice document for people and programs: page, PDF, CSV, JSON.

All made from the document alone, so each form says the same. The page and the PDF share one
template, ``plans/invoice.html``; the portal may include its body, ``plans/invoice_body.html``, with
``context``.
"""

import csv as csv_format
import io
import logging
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.template.loader import render_to_string

from controlplane.core.errors import Unavailable
from controlplane.core.spreadsheets import harmless
from plans import money
from plans.invoicing import document as documents
from plans.periods import zone

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
_TEXTS = ("kind", "meter", "description", "unit")
_MS_PER_HOUR = 3_600_000
_BYTE_MS_PER_GIB_HOUR = 1024**3 * _MS_PER_HOUR
# meter -> (title, unit, base units per unit)
_METERS = {
    "messages_in": ("Messages in", "messages", 1),
    "messages_out": ("Messages out", "messages", 1),
    "connections_opened": ("Connections opened", "connections", 1),
    "peak_connections": ("Peak connections", "connections", 1),
    "connection_ms": ("Connection time", "connection-hours", _MS_PER_HOUR),
    "stored_byte_ms": ("Stored", "GiB-hours", _BYTE_MS_PER_GIB_HOUR),
}
_ROUNDING = {
    "half_even": "half to even, once per line and once per tax rate",
    "half_up": "half up, once per line and once per tax rate",
}


def html(document: Mapping[str, Any]) -> str:
    """Return the whole page, self-contained: style inside, nothing is loaded."""
    return render_to_string("plans/invoice.html", context(document))


def pdf(document: Mapping[str, Any]) -> bytes:
    """Return the page as PDF.

    Raises:
        Unavailable: the libraries that draw it (Pango) are not installed on this machine.
    """
    try:
        import weasyprint
    except (ImportError, OSError):
        raise Unavailable(
            "PDF needs the Pango libraries (Debian: libpango-1.0-0, libpangoft2-1.0-0); the page, "
            "CSV and JSON work without.",
            code="invoice.pdf_unavailable",
        ) from None
    logging.getLogger("weasyprint").setLevel(logging.ERROR)  # it tells of every step otherwise
    page = weasyprint.HTML(string=html(document), url_fetcher=_refuse)
    made: bytes = page.write_pdf()
    return made


def csv(document: Mapping[str, Any]) -> str:
    """Return the lines as CSV (RFC 4180) with a header row; amounts in minor and main units."""
    text = io.StringIO()
    writer = csv_format.DictWriter(text, CSV_COLUMNS, extrasaction="ignore")
    writer.writeheader()
    for line in document["lines"]:
        writer.writerow(
            {
                **line,
                **{name: harmless(line[name]) for name in _TEXTS},
                "invoice": document["number"] or "",
                "currency": document["currency"],
                "amount": money.to_major(line["amount_minor"], document["currency"]),
            }
        )
    return text.getvalue()


def json(document: Mapping[str, Any]) -> str:
    """Return the canonical text, the very bytes that ``verify`` compares."""
    return documents.canonical(dict(document))


def context(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the templates show: every amount and instant as text, in the buyer's zone."""
    amount = _Amounts(document["currency"])
    local = _Local(document["period"]["time_zone"])
    return {
        "invoice": document,
        "title": f"Invoice {document['number']}" if document["number"] else "Draft invoice",
        "issued_on": local.day(document["issued_at"]),
        "due_on": local.day(document["due_at"]),
        "starts_at": local.minute(document["period"]["starts_at"]),
        "ends_at": local.minute(document["period"]["ends_at"]),
        "as_of": local.minute(document["as_of"]),
        "lines": [_line(line, amount) for line in document["lines"]],
        "taxes": [
            {**tax, "taxable": amount(tax["taxable_minor"]), "tax": amount(tax["tax_minor"])}
            for tax in document["taxes"]
        ],
        "net": amount(document["net_minor"]),
        "total": amount(document["total_minor"]),
        **_payable(document, amount),
        "spaces": [_space(space) for space in document["usage"]],
        "rounding": _ROUNDING[document["rounding"]],
        "tables": sorted(document["manifest"].get("tables", {}).items()),
    }


class _Amounts:
    def __init__(self, currency: str) -> None:
        self._currency = currency

    def __call__(self, amount_minor: int) -> str:
        return money.display(amount_minor, self._currency)

    def price(self, unit_price: Decimal) -> str:
        """Return a unit price with all its places, at least those of the currency."""
        places = -int(unit_price.normalize().as_tuple().exponent)
        return f"{unit_price:,.{max(places, money.minor_digits(self._currency))}f}"


def _payable(document: Mapping[str, Any], amount: "_Amounts") -> dict[str, Any]:
    """Return what credit does to the total: {words: amount} after it, and what is left to pay."""
    total, moved = document["total_minor"], document.get("credit")
    rows = {}
    if total < 0:
        rows["Kept as credit for the next invoices"] = amount(-total)
    elif moved and moved["used_minor"]:
        rows["Credit from earlier invoices"] = amount(-moved["used_minor"])
    if moved and rows:
        rows["To pay"] = amount(document["payable_minor"])
        rows["Credit left for the next invoices"] = amount(moved["after_minor"])
    has_to_pay = document.get("payable_minor") != 0
    return {"credit_rows": list(rows.items()), "has_to_pay": has_to_pay}


class _Local:
    """Instants of a document in its billing time zone."""

    def __init__(self, time_zone: str) -> None:
        self._zone = zone(time_zone)

    def day(self, text: str | None) -> str:
        return self._at(text, "%-d %B %Y")

    def minute(self, text: str | None) -> str:
        return self._at(text, "%-d %B %Y %H:%M:%S %Z")

    def _at(self, text: str | None, pattern: str) -> str:
        if text is None:
            return ""
        return datetime.fromisoformat(text).astimezone(self._zone).strftime(pattern)


def _line(line: Mapping[str, Any], amount: _Amounts) -> dict[str, Any]:
    detail = line["detail"]
    return {
        **line,
        "amount": amount(line["amount_minor"]),
        "price": amount.price(Decimal(line["unit_price"])),
        "quantity": _short(Decimal(line["quantity"])),
        "note": _note(line["kind"], detail),
    }


def _note(kind: str, detail: Mapping[str, Any]) -> str:
    """Say in words how the quantity came about."""
    if kind == "fee":
        return f"{detail['seconds']:,} of the month's {detail['seconds_per_month']:,} seconds"
    if kind == "correction":
        return "usage that arrived after the invoice was issued, as its month is priced with it"
    if kind == "repriced":
        return "use of earlier invoices of this month, as the whole month is priced now"
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
    """Return a space with the meters it used; the document itself also holds the zeros."""
    meters = [
        {"title": title, "unit": unit, "quantity": _short(Decimal(space["meters"][meter]) / per)}
        for meter, (title, unit, per) in _METERS.items()
        if space["meters"].get(meter)
    ]
    return {**space, "meters": meters}


def _short(quantity: Decimal) -> str:
    """Return a quantity with thousands separated and at most six places."""
    text = f"{quantity:,.6f}"
    return text.rstrip("0").rstrip(".")


def _refuse(url: str, *_args: Any, **_kwargs: Any) -> Any:
    raise ValueError(f"an invoice loads nothing: {url}")
