"""Decides the tax of an invoice: rate, category and the note that the law wants. Pure.

``vat_rates.json`` is the table of standard rates by country and date; it says which rates were
compared with a source. Categories are codes of EN 16931 (UNTDID 5305).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from importlib import resources
from typing import Any

from controlplane.core.errors import Invalid
from plans.rating.vat_ids import EU, Status

REVERSE_CHARGE = "Reverse charge: Article 196 of Directive 2006/112/EC. The recipient pays the VAT."
OUTSIDE_EU = (
    "Not subject to VAT of the European Union: Articles 44 and 59 of Directive 2006/112/EC."
)
ABROAD = "Supplied abroad: not subject to VAT of the seller's country."


class Regime(StrEnum):
    """How a legal entity taxes: everything at one rate, or by the countries of both parties."""

    FLAT = "flat"
    VAT = "vat"


class Category(StrEnum):
    """The kind of tax of an invoice, by its code in EN 16931."""

    STANDARD = "S"
    ZERO = "Z"
    EXEMPT = "E"
    REVERSE_CHARGE = "AE"
    EXPORT = "G"
    OUTSIDE = "O"


@dataclass(frozen=True)
class TaxRule:
    """The tax that lines of an invoice bear: ``percent`` on their sum.

    ``category`` is a ``Category``, or empty if the seller taxes everything at one rate.
    """

    percent: Decimal
    category: str = ""
    note: str = ""

    @property
    def key(self) -> tuple[Decimal, str, str]:
        """Percent, category and note: rules with equal keys are one tax on a document.

        A rate above 0 % without a category is the category S (EN 16931, BR-S-05).
        """
        standard = Category.STANDARD if self.percent else ""
        return self.percent, str(self.category or standard), self.note

    def plain(self) -> dict[str, str]:
        """Return the tax as JSON values for a manifest; ``from_plain`` makes it again."""
        # ``normalize`` drops trailing zeros, but alone it would write 20 as 2E+1.
        percent = f"{self.percent.normalize():f}"
        return {"percent": percent, "category": str(self.category), "note": self.note}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "TaxRule":
        """Return the tax from the result of ``plain``, or from an entry of ``taxes`` of a document.

        Entries of documents leave an empty category and an empty note out.
        """
        return cls(Decimal(plain["percent"]), plain.get("category", ""), plain.get("note", ""))


@dataclass(frozen=True)
class Rate:
    """The standard rate of a country from the day ``since`` on, until the next rate begins."""

    since: date
    percent: Decimal


@dataclass(frozen=True)
class Buyer:
    """What decides the tax on the side of the buyer.

    ``exemption`` is the tax of a certificate by which the buyer pays none: exempt or at the zero
    rate, with the note to print. None: the buyer has no certificate.
    """

    country: str
    status: Status
    exemption: TaxRule | None = None


def _table() -> dict[str, tuple[Rate, ...]]:
    text = resources.files("plans.rating").joinpath("vat_rates.json").read_text()
    return {
        country: tuple(Rate(date.fromisoformat(day), Decimal(percent)) for day, percent in rates)
        for country, rates in json.loads(text)["rates"].items()
    }


RATES = _table()


def rate(country: str, on: date) -> Decimal:
    """Return the standard rate of a country on a day, in percent.

    Raises:
        Invalid: the table has no rate of this country on this day.
    """
    known = [row.percent for row in RATES.get(country, ()) if row.since <= on]
    if not known:
        raise Invalid(
            f"The table of VAT rates has no rate of {country} on {on}: tax the seller at a flat "
            "rate, or add the rate to plans/rating/vat_rates.json.",
            code="tax.no_rate",
        )
    # The table lists the rates of a country in the order of their days.
    return known[-1]


def decide(seller_country: str, buyer: Buyer, on: date) -> TaxRule:
    """Return the tax that a seller of ``seller_country`` charges for services on the day ``on``.

    * A buyer with an exemption: the tax that its certificate says.
    * A buyer of the seller's country, or of an unknown country: the rate of the seller's country.
    * Another buyer, if the seller or the buyer is outside the EU: no tax.
    * A buyer of another country of the EU: reverse charge if its VAT id has ``Status.VALID``,
      because then it is a business; otherwise the rate of its own country (Article 58).

    Raises:
        Invalid: the table lacks a rate that is needed.
    """
    if buyer.exemption:
        return buyer.exemption
    if buyer.country in ("", seller_country):
        return _charged(rate(seller_country, on))
    if seller_country not in EU:
        return TaxRule(Decimal(0), Category.OUTSIDE, ABROAD)
    if buyer.country not in EU:
        return TaxRule(Decimal(0), Category.EXPORT, OUTSIDE_EU)
    if buyer.status is Status.VALID:
        return TaxRule(Decimal(0), Category.REVERSE_CHARGE, REVERSE_CHARGE)
    return _charged(rate(buyer.country, on))


def _charged(percent: Decimal) -> TaxRule:
    # EN 16931, BR-S-05: the rate of category S is above zero.
    return TaxRule(percent, Category.STANDARD if percent else Category.ZERO)
