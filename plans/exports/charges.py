"""Divides documents of invoices and credit notes into charges. Pure.

There is one charge for each line, or for each space if the line is divided between spaces, and one
for each tax. The charges of an invoice add up to its total, those of a credit note to its total
below zero.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal
from itertools import chain
from typing import Any

from plans.rating import money

_PLACES = 12  # of quantities
TAX = "tax"


@dataclass(frozen=True)
class Charge:
    """A part of an invoice or a credit note.

    ``kind`` is the kind of the line, or ``TAX``. ``month`` is the billing month of the invoice,
    ``span`` its period. ``quantity`` None: the charge has no price of its own. ``used`` is what the
    space used, in the unit of ``quantity``, included units among it; None if the charge is not of a
    space. ``space_id`` is empty for charges of the whole tenant. ``takes_back``: the charge
    corrects an earlier invoice.
    """

    tenant_id: str
    tenant: str
    seller: str
    document: str
    currency: str
    month: tuple[datetime, datetime]
    span: tuple[datetime, datetime]
    kind: str
    meter: str
    description: str
    amount_minor: int
    takes_back: bool = False
    quantity: Decimal | None = None
    used: Decimal | None = None
    unit: str = ""
    unit_price: Decimal | None = None
    space_id: str = ""
    space: str = ""


def of_invoice(tenant_id: str, document: Mapping[str, Any]) -> Iterator[Charge]:
    """Yield the charges of an issued invoice in the order of its lines, the tax last.

    Those of an invoice that replaces another one correct it and have no quantity: the quantities
    are those of the invoice that it replaces, and would count twice.
    """
    shared = _shared(tenant_id, document, document["period"])
    names = {space["space_id"]: space["space"] for space in document["usage"]}
    charges = chain(
        *(_of_line(shared, line, names) for line in document["lines"]),
        _of_taxes(shared, document, sign=1),
    )
    if "replaces" not in document:
        yield from charges
        return
    for charge in charges:
        yield replace(charge, takes_back=True, quantity=None, used=None, unit="", unit_price=None)


def of_credit_note(
    tenant_id: str, document: Mapping[str, Any], invoice: Mapping[str, Any]
) -> Iterator[Charge]:
    """Yield what a credit note takes back, below zero; ``invoice`` is its invoice's document."""
    shared = {**_shared(tenant_id, document, document["invoice"]["period"]), "takes_back": True}
    kinds = {line["position"]: line["kind"] for line in invoice["lines"]}
    for line in document["lines"]:
        yield Charge(
            **shared,
            kind=kinds[line["invoice_position"]],
            meter=line["meter"],
            description=line["description"],
            amount_minor=-line["amount_minor"],
        )
    yield from _of_taxes(shared, document, sign=-1)


def _shared(
    tenant_id: str, document: Mapping[str, Any], period: Mapping[str, str]
) -> dict[str, Any]:
    bounds = {
        name: tuple(datetime.fromisoformat(period[f"{prefix}{bound}"])
                    for bound in ("starts_at", "ends_at"))
        for name, prefix in (("month", "month_"), ("span", ""))
    }  # fmt: skip
    buyer = document["buyer"]
    return {
        "tenant_id": tenant_id,
        "tenant": buyer["name"] or buyer["organisation"],
        "seller": document["seller"]["name"],
        "document": document["number"],
        "currency": document["currency"],
        **bounds,
    }


def _of_line(
    shared: Mapping[str, Any], line: Mapping[str, Any], names: Mapping[str, str]
) -> Iterator[Charge]:
    detail, quantity = line["detail"], Decimal(line["quantity"])
    spaces = detail.get("spaces", [])
    described = {
        **shared,
        "kind": line["kind"],
        "meter": line["meter"],
        "description": line["description"],
        "takes_back": line["kind"] == "correction",
        "unit": line["unit"],
        "unit_price": Decimal(line["unit_price"]),
    }
    if not spaces:
        yield Charge(**described, amount_minor=line["amount_minor"], quantity=quantity)
        return
    # The billed quantity is divided as the amount was, so the parts add up exactly.
    parts = money.allocate(
        int(quantity.scaleb(_PLACES, money.EXACT)), [part["used_base"] for part in spaces]
    )
    for part, share in zip(spaces, parts, strict=True):
        yield Charge(
            **described,
            amount_minor=part["amount_minor"],
            quantity=Decimal(share).scaleb(-_PLACES, money.EXACT),
            used=_units(part["used_base"], detail["base_per_unit"]),
            space_id=part["space_id"],
            space=names.get(part["space_id"], part["space_id"]),
        )


def _units(base: int, per: int) -> Decimal:
    """Return ``base`` base units in the unit of the line, rounded to ``_PLACES``, half to even."""
    # The default context has 28 digits: it refuses to round to 12 places from 10**16 units on.
    exact = money.EXACT.divide(Decimal(base), Decimal(per))
    return exact.quantize(Decimal(1).scaleb(-_PLACES), ROUND_HALF_EVEN, money.EXACT)


def _of_taxes(
    shared: Mapping[str, Any], document: Mapping[str, Any], *, sign: int
) -> Iterator[Charge]:
    for tax in document["taxes"]:
        yield Charge(
            **shared,
            kind=TAX,
            meter="",
            description=f"Tax {tax['percent']} %",
            amount_minor=sign * tax["tax_minor"],
        )
