"""Reads the taxes of a document as the VAT breakdowns (BG-23) of EN 16931. Pure.

A document has several taxes if it corrects a month that was taxed otherwise. Then each of its lines
has ``tax``, the number of its entry in ``taxes``, from 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from controlplane.core.errors import Conflict
from plans.rating.taxes import Category

_FIRST = 1  # the number of the only tax of a document, which its lines do not name


class NotStandard(Conflict):
    """The document lacks something that EN 16931 demands; the message names what, and what to do.

    PDF, CSV and JSON of the same document can be made without it.
    """

    code = "invoice.not_en16931"


@dataclass(frozen=True)
class Tax:
    """One VAT breakdown (BG-23) of a document; ``percent`` None: category O has no rate."""

    category: Category
    percent: Decimal | None
    reason: str
    taxable_minor: int
    tax_minor: int

    @property
    def key(self) -> tuple[Category, Decimal | None]:
        """What the breakdowns of a document differ in."""
        return self.category, self.percent

    def plus(self, other: "Tax") -> "Tax":
        """Return this breakdown with the amounts and the reason of another one of the same key."""
        reasons = dict.fromkeys(filter(None, (self.reason, other.reason)))
        return replace(
            self,
            reason="; ".join(reasons),
            taxable_minor=self.taxable_minor + other.taxable_minor,
            tax_minor=self.tax_minor + other.tax_minor,
        )


def breakdowns(document: Mapping[str, Any]) -> dict[int, Tax]:
    """Return the VAT breakdown of each entry of a document's taxes, by its number from 1.

    Entries of one category and rate share a breakdown, because the standard wants one for each
    (BR-S-08, BR-E-01, BR-AE-01, …). An entry that no line bears has none beside others.

    Raises:
        NotStandard: the seller taxes at 0 % without a category, or category O stands beside another
            tax.
    """
    entries = dict(enumerate(document["taxes"], start=1))
    borne = {number_of(line) for line in document["lines"]}
    found = {n: tax_of(row) for n, row in entries.items() if n in borne or len(entries) == 1}
    merged: dict[tuple[Category, Decimal | None], Tax] = {}
    for tax in found.values():
        merged[tax.key] = merged[tax.key].plus(tax) if tax.key in merged else tax
    if len(merged) > 1 and any(category is Category.OUTSIDE for category, _ in merged):
        raise NotStandard(
            "EN 16931 allows no other tax beside the category O (BR-O-11), and a line of this "
            "document corrects a month with another tax: use the PDF."
        )
    return {n: merged[tax.key] for n, tax in found.items()}


def number_of(line: Mapping[str, Any]) -> int:
    """Return the number of a line's entry in ``taxes``."""
    number: int = line.get("tax", _FIRST)
    return number


def tax_of(row: Mapping[str, Any]) -> Tax:
    """Return one entry of a document's taxes as a breakdown.

    Raises:
        NotStandard: the seller taxes at 0 % without a category.
    """
    percent, code = Decimal(row["percent"]), row.get("category", "")
    if not code and not percent:
        raise NotStandard(
            "The seller taxes at 0 % without a reason, and EN 16931 demands one: set "
            "`tax_regime: vat` in the section `seller` of the catalog."
        )
    category = Category(code) if code else Category.STANDARD
    return Tax(
        category,
        None if category is Category.OUTSIDE else percent,
        row.get("note", ""),
        row["taxable_minor"],
        row["tax_minor"],
    )
