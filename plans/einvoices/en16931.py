"""Turns the document of an invoice or a credit note into the terms of EN 16931. Pure.

``BT-…`` and ``BG-…`` are the standard's names of terms, ``BR-…`` its rules. ``ubl`` and ``cii``
write the result in the two syntaxes that the standard allows. Equal documents give equal terms:
no clock and no row is read.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from plans.einvoices import vat
from plans.einvoices.vat import NotStandard, Tax
from plans.rating import money
from plans.rating.periods import zone
from plans.rating.taxes import Category

GUIDELINE = "urn:cen.eu:en16931:2017"  # BT-24
INVOICE, CREDIT_NOTE = "380", "381"  # BT-3, by UNTDID 1001
# Lines that have no price of their own. Below zero they are allowances, because the standard knows
# no negative price (BR-27).
_ADJUSTING = frozenset({"discount", "commitment"})
# BT-130 by the unit that a line prints, by UN/ECE Recommendation 20. C62: one of what the item's
# description says.
_UNIT_CODES = {"month": "MON", "hours": "HUR"}
_ONE = "C62"
_ADDRESS_LINES = 3  # BT-35, BT-36 and BT-162; BT-50, BT-51 and BT-163
_VAT_PREFIXES = {"GR": "EL"}  # of other countries the prefix is the country's code
# Categories whose seller must state a tax id (BR-S-02, BR-Z-02, BR-E-02, BR-AE-02, BR-G-02).
_TAXABLE = frozenset(Category) - {Category.OUTSIDE}


@dataclass(frozen=True)
class Party:
    """The seller (BG-4) or the buyer (BG-7).

    ``vat_id`` begins with the prefix of its country (BR-CO-9); any other id is ``other_id``.
    """

    name: str
    address: tuple[str, ...]
    country: str
    vat_id: str = ""
    other_id: str = ""
    email: str = ""


@dataclass(frozen=True)
class Line:
    """One line (BG-25): ``quantity`` at ``price`` cost ``amount_minor``; no price is negative.

    ``tax`` is the breakdown that counts the line (BT-151, BT-152).
    """

    id: str
    name: str
    description: str
    quantity: Decimal
    unit_code: str
    price: Decimal
    amount_minor: int
    tax: Tax


@dataclass(frozen=True)
class Adjustment:
    """An allowance (BG-20) or a charge (BG-21) on the whole document; the amount is positive.

    ``tax`` is the breakdown that counts it (BT-95, BT-102).
    """

    is_charge: bool
    reason: str
    amount_minor: int
    tax: Tax


@dataclass(frozen=True)
class EInvoice:
    """An invoice or a credit note in the terms of EN 16931; amounts are in minor units.

    ``preceding`` is number and day of the invoice that a credit note takes back, or that an invoice
    replaces (BG-3).
    ``paid_minor`` is what credit of the tenant settled (BT-113). Days are in the billing time zone.
    """

    type_code: str
    number: str
    issued_on: date
    due_on: date | None
    terms: str
    note: str
    currency: str
    starts_on: date
    ends_on: date
    preceding: tuple[str, date] | None
    seller: Party
    buyer: Party
    lines: tuple[Line, ...]
    adjustments: tuple[Adjustment, ...]
    taxes: tuple[Tax, ...]
    paid_minor: int

    @property
    def lines_minor(self) -> int:
        """The sum of the lines (BT-106)."""
        return sum(line.amount_minor for line in self.lines)

    def adjusted_minor(self, *, is_charge: bool) -> int:
        """Return the sum of the charges (BT-108) or of the allowances (BT-107)."""
        return sum(row.amount_minor for row in self.adjustments if row.is_charge is is_charge)

    @property
    def net_minor(self) -> int:
        """The total without VAT (BT-109)."""
        return sum(tax.taxable_minor for tax in self.taxes)

    @property
    def tax_minor(self) -> int:
        """The total VAT (BT-110)."""
        return sum(tax.tax_minor for tax in self.taxes)

    @property
    def total_minor(self) -> int:
        """The total with VAT (BT-112)."""
        return self.net_minor + self.tax_minor

    @property
    def is_taxed(self) -> bool:
        """Whether any tax has a rate above zero, so that a tax number of the seller counts."""
        return any(tax.percent for tax in self.taxes)

    def amount(self, minor: int) -> str:
        """Return an amount as both syntaxes write it: ``-12.50``."""
        return f"{money.to_major(minor, self.currency):f}"


def of_invoice(document: Mapping[str, Any]) -> EInvoice:
    """Return an issued invoice in the terms of EN 16931.

    Raises:
        NotStandard: something that the standard demands is missing.
    """
    if not document["number"]:
        raise NotStandard("An electronic invoice needs a number: issue the invoice first.")
    reader = _Reader(document, document["period"]["time_zone"])
    lines, adjustments = reader.charged()
    due = document["payable_minor"]
    replaced = document.get("replaces")
    return EInvoice(
        INVOICE,
        document["number"],
        reader.day(document["issued_at"]),
        reader.day(document["due_at"]),
        # BR-CO-25 demands terms or a due date of whatever is to be paid.
        f"Payable by {reader.day(document['due_at'])}." if due else "Nothing to pay.",
        str(document["quality"].get("text", "")),
        document["currency"],
        reader.day(document["period"]["starts_at"]),
        reader.last_day(document["period"]["ends_at"]),
        (replaced["number"], reader.day(replaced["issued_at"])) if replaced else None,
        *reader.parties(),
        lines,
        adjustments,
        reader.taxes(),
        # What credit paid. Of an invoice below zero all of it became credit.
        document["total_minor"] - due,
    )


def of_credit_note(document: Mapping[str, Any]) -> EInvoice:
    """Return a credit note in the terms of EN 16931; what it takes back is positive.

    Raises:
        NotStandard: something that the standard demands is missing.
    """
    invoice = document["invoice"]
    reader = _Reader(document, invoice["period"]["time_zone"])
    lines, adjustments = reader.credited()
    settled = document["settlement"]
    amounts = {name: money.display(settled[name], document["currency"]) for name in settled}
    return EInvoice(
        CREDIT_NOTE,
        document["number"],
        reader.day(document["issued_at"]),
        None,
        f"Subtracted from what is due: {amounts['receivable_minor']}. Kept as credit for the next "
        f"invoices: {amounts['credit_minor']}.",
        document["reason"],
        document["currency"],
        reader.day(invoice["period"]["starts_at"]),
        reader.last_day(invoice["period"]["ends_at"]),
        (invoice["number"], reader.day(invoice["issued_at"])),
        *reader.parties(),
        lines,
        adjustments,
        reader.taxes(),
        0,
    )


@dataclass(frozen=True)
class _Reader:
    """Reads what documents of invoices and of credit notes have in common."""

    document: Mapping[str, Any]
    time_zone: str

    def day(self, instant: str) -> date:
        return datetime.fromisoformat(instant).astimezone(zone(self.time_zone)).date()

    def last_day(self, ends_at: str) -> date:
        """Return the last day of a period, whose end is not part of it."""
        last = datetime.fromisoformat(ends_at) - timedelta(seconds=1)
        return self.day(last.isoformat())

    def taxes(self) -> tuple[Tax, ...]:
        """Return the VAT breakdowns (BG-23) of the document."""
        return tuple(dict.fromkeys(vat.breakdowns(self.document).values()))

    def parties(self) -> tuple[Party, Party]:
        """Return seller and buyer.

        Raises:
            NotStandard: names everything that is missing.
        """
        categories = {tax.category for tax in self.taxes()}
        missing = list(self.missing(categories))
        if missing:
            raise NotStandard(
                f"EN 16931 demands what this document does not state: {'; '.join(missing)}. Later "
                "documents state what is added now."
            )
        seller, buyer = (
            _party(self.document[name], Category.OUTSIDE in categories)
            for name in ("seller", "buyer")
        )
        return seller, buyer

    def missing(self, categories: Collection[Category]) -> Iterator[str]:
        """Yield a text for each fact that is missing: which one, and who can add it."""
        seller, buyer = self.document["seller"], self.document["buyer"]
        if self.document["minor_digits"] > 2:  # BR-DEC-…
            yield f"{self.document['currency']} has more than two decimals"
        for name in ("name", "country"):
            if not str(seller.get(name, "")).strip():
                yield f"the seller's {name} (the section `seller` of the catalog)"
        if not _TAXABLE.isdisjoint(categories) and not seller["tax_id"].strip():
            yield "the seller's tax id (the section `seller` of the catalog)"
        if not buyer["country"].strip():
            yield "the buyer's country (the billing details)"
        if Category.REVERSE_CHARGE in categories and not buyer["tax_id"].strip():
            yield "the buyer's VAT id (the billing details)"

    def charged(self) -> tuple[tuple[Line, ...], tuple[Adjustment, ...]]:
        """Return the lines and adjustments of an invoice."""
        rows = self.document["lines"]
        return self.split(rows, [row["kind"] in _ADJUSTING for row in rows])

    def credited(self) -> tuple[tuple[Line, ...], tuple[Adjustment, ...]]:
        """Return the lines and adjustments of a credit note, whose lines have only an amount."""
        rows = [
            {
                **row,
                "quantity": "1",
                "unit": "",
                "unit_price": str(money.to_major(row["amount_minor"], self.document["currency"])),
            }
            for row in self.document["lines"]
        ]
        return self.split(rows, [row["meter"] in _ADJUSTING for row in rows])

    def split(
        self, rows: Sequence[Mapping[str, Any]], adjusting: Sequence[bool]
    ) -> tuple[tuple[Line, ...], tuple[Adjustment, ...]]:
        """Return the rows as lines, and those that adjust the sum as allowances and charges.

        If all rows adjust, they are lines, because a document needs one (BR-16).

        Raises:
            NotStandard: there is no row.
        """
        if not rows:
            raise NotStandard(
                "EN 16931 demands a line, and nothing is charged for this period: use the PDF."
            )
        if all(adjusting):
            adjusting = [False] * len(rows)
        taxes = vat.breakdowns(self.document)
        taxed = [(row, taxes[vat.number_of(row)], adjusts)
                 for row, adjusts in zip(rows, adjusting, strict=True)]  # fmt: skip
        lines = [line_of(row, tax) for row, tax, adjusts in taxed if not adjusts]
        adjustments = [
            Adjustment(row["amount_minor"] > 0, row["description"], abs(row["amount_minor"]), tax)
            for row, tax, adjusts in taxed
            if adjusts
        ]
        return tuple(lines), tuple(adjustments)


def line_of(row: Mapping[str, Any], tax: Tax) -> Line:
    """Return a line of a document in the terms of EN 16931; ``tax`` is its VAT breakdown."""
    quantity, price = Decimal(row["quantity"]), Decimal(row["unit_price"])
    if price < 0:  # BR-27: the quantity carries the sign
        quantity, price = -quantity, -price
    code = _UNIT_CODES.get(row["unit"], _ONE)
    described = f"Unit: {row['unit']}" if code == _ONE and row["unit"] else ""
    return Line(
        str(row["position"]), row["description"], described, quantity, code, price,
        row["amount_minor"], tax,
    )  # fmt: skip


def _party(printed: Mapping[str, str], is_outside: bool) -> Party:
    country = printed["country"].strip().upper()
    id = "".join(char for char in printed["tax_id"] if char.isalnum()).upper()
    is_vat_id = id.startswith(_VAT_PREFIXES.get(country, country)) and len(id) > 2
    lines = [line.strip() for line in printed["address"].splitlines() if line.strip()]
    # The standard knows three lines; what is more stands in the last one.
    first, rest = lines[: _ADDRESS_LINES - 1], lines[_ADDRESS_LINES - 1 :]
    return Party(
        printed["name"].strip() or printed.get("organisation", ""),
        (*first, ", ".join(rest)) if rest else tuple(first),
        country,
        # BR-O-02: category O forbids VAT ids.
        id if is_vat_id and not is_outside else "",
        id if not is_vat_id or is_outside else "",
        printed.get("email", ""),
    )
