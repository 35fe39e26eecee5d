"""Builds the document of a credit note from the document of its invoice. Pure.

The canonical JSON bytes of the dict are the credit note: page, PDF and JSON are rendered from it. A
verification builds it again and compares the bytes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from plans.invoicing import document
from plans.invoicing.document import Document
from plans.rating import crediting, pricing
from plans.rating.crediting import Credited
from plans.rating.money import Rounding
from plans.rating.pricing import SellerRule

SCHEMA = "waypost.credit_note.v1"
# Raise it whenever equal inputs may give other bytes.
ENGINE_VERSION = "1"
_COPIED = ("seller", "buyer", "currency", "minor_digits", "rounding")


@dataclass(frozen=True)
class Issue:
    """What issuing adds: ``receivable_minor`` is the part that reduces what is due."""

    number: str
    issued_at: datetime
    reason: str
    receivable_minor: int


def credited(
    invoice: Document, earlier: Iterable[Document], wanted: Mapping[int, int] | None
) -> Credited:
    """Return what a credit note takes back of ``invoice``, which is an issued document.

    ``earlier`` are the documents of its credit notes so far. ``wanted`` is {position of a line:
    amount in minor units}; None: all that is left.

    Raises:
        Invalid, TooMuch, NothingLeft: as ``crediting.credit`` does.
    """
    charged = {line["position"]: line["amount_minor"] for line in invoice["lines"]}
    before: dict[int, int] = {}
    for note in earlier:
        for line in note["lines"]:
            position = line["invoice_position"]
            before[position] = before.get(position, 0) + line["amount_minor"]
    return crediting.credit(charged, before, wanted, seller_rule(invoice))


def seller_rule(invoice: Document) -> SellerRule:
    """Return the currency, the rounding and the tax that an invoice's document states."""
    # An invoice has one tax: that of its period's last day.
    (tax,) = invoice["taxes"]
    return SellerRule(
        invoice["currency"],
        Rounding(invoice["rounding"]),
        Decimal(tax["percent"]),
        tax.get("category", ""),
        tax.get("note", ""),
    )


def build(invoice: Document, invoice_sha256: str, parts: Credited, issue: Issue) -> Document:
    """Return the document of a credit note that takes ``parts`` back from ``invoice``."""
    by_position = {line["position"]: line for line in invoice["lines"]}
    lines = [
        {
            "position": n,
            "invoice_position": position,
            "meter": by_position[position]["meter"],
            "description": by_position[position]["description"],
            "amount_minor": amount,
        }
        for n, (position, amount) in enumerate(sorted(parts.lines.items()), start=1)
    ]
    tax = pricing.tax_on(parts.net_minor, seller_rule(invoice))
    # Tax is rounded over all notes of the invoice, so it may differ from this note's own by a unit.
    taxes = [{**document.tax_of(tax), "tax_minor": parts.tax_minor}]
    made: dict[str, Any] = {
        "schema": SCHEMA,
        "number": issue.number,
        "issued_at": issue.issued_at.isoformat(),
        "reason": issue.reason,
        "invoice": {
            "number": invoice["number"],
            "issued_at": invoice["issued_at"],
            "sha256": invoice_sha256,
            "period": invoice["period"],
        },
        **{name: invoice[name] for name in _COPIED},
        "lines": lines,
        "taxes": taxes,
        "net_minor": parts.net_minor,
        "tax_minor": parts.tax_minor,
        "total_minor": parts.total_minor,
        "is_rest": parts.is_rest,
        "settlement": {
            "receivable_minor": issue.receivable_minor,
            "credit_minor": parts.total_minor - issue.receivable_minor,
        },
        "manifest": {"engine_version": ENGINE_VERSION},
    }
    return made
