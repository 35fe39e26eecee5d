"""Builds the document of a credit note from the document of its invoice. Pure.

The canonical JSON bytes of the dict are the credit note: page, PDF and JSON are rendered from it. A
verification builds it again and compares the bytes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from plans.invoicing import document, line_taxes
from plans.invoicing.document import Document
from plans.rating import crediting
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
    return crediting.credit(
        charged, before, wanted, seller_rule(invoice), line_taxes.by_position(invoice)
    )


def seller_rule(invoice: Document) -> SellerRule:
    """Return the currency, the rounding and the tax of the period that an invoice states.

    Lines that correct another month may bear another tax (``line_taxes.by_position``).
    """
    tax = line_taxes.own_tax(invoice)
    rounding = Rounding(invoice["rounding"])
    return SellerRule(invoice["currency"], rounding, tax.percent, tax.category, tax.note)


def build(invoice: Document, invoice_sha256: str, parts: Credited, issue: Issue) -> Document:
    """Return the document of a credit note that takes ``parts`` back from ``invoice``."""
    by_position = {line["position"]: line for line in invoice["lines"]}
    borne = line_taxes.by_position(invoice)
    numbers = {tax.tax.key: n for n, tax in enumerate(parts.taxes, start=1)}
    lines = [
        {
            "position": n,
            "invoice_position": position,
            "meter": by_position[position]["meter"],
            "description": by_position[position]["description"],
            "amount_minor": amount,
            # Left out if the note has one tax.
            **({"tax": numbers[borne[position].key]} if len(numbers) > 1 else {}),
        }
        for n, (position, amount) in enumerate(sorted(parts.lines.items()), start=1)
    ]
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
        "taxes": [document.tax_of(tax) for tax in parts.taxes],
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
