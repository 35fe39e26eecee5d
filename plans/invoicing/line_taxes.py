"""Says which tax each line of a stored document bears. Pure.

A document of an invoice or a credit note has one tax in most cases, and then its lines do not name
it. An invoice that corrects a month with another tax has several entries in ``taxes``. Then each
line has ``tax``, the number of its entry from 1. The first entry of an invoice is the tax of its
own period.
"""

from collections.abc import Mapping
from typing import Any

from plans.einvoices import vat
from plans.rating.taxes import TaxRule


def own_tax(document: Mapping[str, Any]) -> TaxRule:
    """Return the tax of the period of an invoice, without that of months that it corrects."""
    return TaxRule.from_plain(document["taxes"][0])


def has_several(document: Mapping[str, Any]) -> bool:
    """Return whether the lines of a document bear different taxes."""
    return len(document["taxes"]) > 1


def entry_of(document: Mapping[str, Any], line: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the entry of ``taxes`` for a line of the same document."""
    entry: Mapping[str, Any] = document["taxes"][vat.number_of(line) - 1]
    return entry


def by_position(document: Mapping[str, Any]) -> dict[int, TaxRule]:
    """Return the tax of each line of an invoice, by its position."""
    return {
        line["position"]: TaxRule.from_plain(entry_of(document, line)) for line in document["lines"]
    }


def words(document: Mapping[str, Any], line: Mapping[str, Any]) -> str:
    """Return the tax of a line as text for people; empty if the document has one tax.

    Category and note are named if another tax of the document has the same rate.
    """
    if not has_several(document):
        return ""
    entry = entry_of(document, line)
    same = [tax for tax in document["taxes"] if tax["percent"] == entry["percent"]]
    why = (entry.get("category", ""), entry.get("note", "")) if len(same) > 1 else ()
    return ", ".join([f"Tax {entry['percent']} %", *filter(None, why)])
