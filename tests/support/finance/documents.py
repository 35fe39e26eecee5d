"""Documents of invoices and credit notes that are unlike in what EN 16931 looks at."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from plans.invoicing import credit_note_document, document
from plans.invoicing.document import Document, Issue
from plans.rating.credits import PREPAID, PROMOTIONAL, Grant
from plans.rating.money import Rounding
from plans.rating.month_so_far import MonthSoFar
from plans.rating.pricing import Line, Rating, SellerRule, taxes_on
from plans.rating.taxes import TaxRule

ISSUED_AT = datetime(2026, 5, 4, 10, tzinfo=UTC)
SELLER = {
    "name": "Waypost Test GmbH",
    "address": "Lindenweg 1\n10115 Berlin",
    "country": "DE",
    "tax_id": "DE123456789",
}
BUYER = {
    "organisation": "Example",
    "name": "Example & Söhne <KG>",
    "email": "bills@example.org",
    "address": "High Street 5\nHouse B\nFloor 3\nLeeds",
    "country": "FR",
    "tax_id": "FR 40 303265045",
}
FEE = Line(
    "fee", "plan_fee", "Plan Team", Decimal(1), "month", Decimal(49), 4900,
    {"seconds": 2_592_000, "seconds_per_month": 2_592_000},
)  # fmt: skip
USED = Line(
    "usage", "messages", "Messages", Decimal("12.345678"), "million messages", Decimal("0.8"), 988,
    {"spaces": [{"space_id": "a", "used_base": 2, "amount_minor": 600},
                {"space_id": "b", "used_base": 1, "amount_minor": 388}], "base_per_unit": 1,
     "used_base": 3, "included_base": 0},
)  # fmt: skip
REPRICED = Line(
    "repriced", "messages", "Messages", Decimal(-3), "million messages", Decimal("0.5"), -150
)
DISCOUNT = Line(
    "discount", "discount", "Partner, 10 %", Decimal(1), "month", Decimal("-4.90"), -490
)
ENDED = Line("discount", "discount", "Ended terms", Decimal(1), "month", Decimal("1.20"), 120)
FORMER, CERTIFIED = TaxRule(Decimal("5.5"), "S"), TaxRule(Decimal(0), "E", "Certificate 9")
LATE = Line(
    "correction", "messages", "Correction of WP-000000: Messages", Decimal("2.5"),
    "million messages", Decimal("0.8"), 203, tax=FORMER,
)  # fmt: skip
# The discount of a corrected month, which became larger.
LESS_LATE = Line(
    "correction", "discount", "Correction of WP-000000: Partner, 10 %", Decimal(1), "month",
    Decimal("-0.20"), -20, tax=FORMER,
)  # fmt: skip
LESS = Line("commitment", "commitment", "Yearly deal", Decimal(1), "month", Decimal(-2), -200)


def invoices() -> dict[str, Document]:
    """Return issued invoices by what is special about them."""
    lines = [FEE, USED, REPRICED]
    promotion = Grant("g1", PROMOTIONAL, 500, None, 1)
    prepaid = Grant("g2", PREPAID, 800, None, 2)
    return {
        "standard rate": issued([FEE]),
        "half a percent": issued(lines, percent="5.5"),
        "zero rate": issued(lines, percent="0", category="Z"),
        "exempt": issued(lines, percent="0", category="E", note="Certificate 12 of the tax office"),
        "reverse charge": issued(lines, percent="0", category="AE", note="Reverse charge"),
        "outside the EU": issued(lines, percent="0", category="G", note="Not subject to VAT"),
        "not subject to VAT": issued(lines, percent="0", category="O", note="Supplied abroad"),
        "discounts and credit": issued(
            [*lines, DISCOUNT, ENDED, LESS], grants=(promotion, prepaid), credit=100
        ),
        "paid by credit": issued([FEE], credit=10_000),
        "below zero": issued([REPRICED]),
        "a discount alone": issued([DISCOUNT]),
        "without decimals": issued([FEE], currency="JPY"),
        "seller without a VAT id": issued([FEE], seller={**SELLER, "tax_id": "12/345/67890"}),
        "buyer without a tax id": issued([FEE], buyer={**BUYER, "tax_id": "", "address": ""}),
        "two rates": issued([*lines, DISCOUNT, LATE, LESS_LATE]),
        "two rates, one below zero": issued(
            [FEE, REPRICED, replace(LATE, quantity=Decimal("-2.5"), amount_minor=-203)]
        ),
        "two certificates": issued(
            [FEE, replace(LATE, tax=CERTIFIED)], percent="0", category="E", note="Certificate 12"
        ),
        "reverse charge, and a rate before": issued(
            [FEE, LATE, LESS_LATE], percent="0", category="AE", note="Reverse charge"
        ),
        "a rate, and reverse charge before": issued(
            [FEE, replace(LATE, tax=TaxRule(Decimal(0), "AE", "Reverse charge"))]
        ),
        "a correction alone": issued([LATE], percent="0", category="G", note="Not subject to VAT"),
    }


def credit_notes() -> dict[str, Document]:
    """Return credit notes by what is special about them."""
    made = invoices()
    return {
        "a part": credited(made["standard rate"], {1: 1000}),
        "the rest": credited(made["discounts and credit"], None),
        "reverse charge": credited(made["reverse charge"], {1: 1}),
        "not subject to VAT": credited(made["not subject to VAT"], None),
        "two rates": credited(made["two rates"], None),
        "a part of each rate": credited(made["two rates"], {1: 1000, 5: 101}),
        "the former rate alone": credited(made["reverse charge, and a rate before"], {2: 7}),
    }


def issued(
    lines: list[Line],
    *,
    percent: str = "19",
    category: str = "S",
    note: str = "",
    currency: str = "EUR",
    credit: int = 0,
    grants: tuple[Grant, ...] = (),
    **changes: Any,
) -> Document:
    """Return an issued invoice of ``lines``; ``changes`` replace values of its document."""
    rule = SellerRule(currency, Rounding.HALF_EVEN, Decimal(percent), category, note)
    rating = Rating(tuple(lines), taxes_on(lines, rule), MonthSoFar())
    draft: Document = {
        "schema": document.SCHEMA,
        "period": {
            "starts_at": "2026-03-31T22:00:00+00:00",
            "ends_at": "2026-04-30T22:00:00+00:00",
            "month_starts_at": "2026-03-31T22:00:00+00:00",
            "month_ends_at": "2026-04-30T22:00:00+00:00",
            "time_zone": "Europe/Berlin",
        },
        "seller": SELLER,
        "buyer": BUYER,
        "currency": currency,
        "minor_digits": 0 if currency == "JPY" else 2,
        "rounding": rule.rounding.value,
        "plans": [],
        "lines": document.lines_of(rating),
        "taxes": [document.tax_of(tax) for tax in rating.taxes],
        "net_minor": rating.net_minor,
        "tax_minor": rating.tax_minor,
        "total_minor": rating.net_minor + rating.tax_minor,
        "usage": [{"space_id": "a", "space": "shop", "type": "standard", "meters": {}}],
        "quality": {"text": "Complete."},
        "as_of": None,
        "manifest": {"engine_version": "5"},
        **changes,
    }
    due_at = datetime(2026, 5, 18, 10, tzinfo=UTC)
    return document.numbered(draft, Issue("WP-000001", ISSUED_AT, due_at, credit, grants))


def credited(invoice: Document, wanted: dict[int, int] | None) -> Document:
    """Return the first credit note of ``invoice``: of ``wanted`` by position, or of all."""
    parts = credit_note_document.credited(invoice, [], wanted)
    issue = credit_note_document.Issue("WP-CN-000001", ISSUED_AT, "an outage", 0)
    return credit_note_document.build(invoice, "ab" * 32, parts, issue)
