"""Explains in plain words why one invoice of a tenant differs from an earlier one.

``changes`` splits the difference by cause; this module reads what it needs and puts the parts into
words. Nothing is stored. The explanation of two issued invoices never changes.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from django.db.models import Q

from controlplane.core.errors import Conflict, Invalid, Missing
from plans.invoicing import changes, document, invoice_verification, previewing
from plans.invoicing.changes import Billed, Cause, Part
from plans.invoicing.document import Document
from plans.invoicing.facts import Facts
from plans.models import Invoice
from plans.rating import money
from plans.rating.money import EXACT
from plans.rating.month_price import FEE, SECONDS_PER_HOUR
from plans.rating.periods import month_of
from plans.usage import reading
from plans.usage.meters import BY_SLUG, LIFETIMES
from plans.usage.reading import Figure
from tenants.models import Tenant

PREVIEW = "preview"  # the name of the running period
_MONTH = re.compile(r"\d{4}-\d{2}")
_OWN_LINES = {"discount": Cause.DISCOUNT, "commitment": Cause.COMMITMENT,
              "correction": Cause.CORRECTION}  # fmt: skip
TITLES: Mapping[Cause, str] = {
    Cause.QUANTITY: "Quantity",
    Cause.PRICE: "Price",
    Cause.PLAN: "Plan",
    Cause.DIVIDED_MONTH: "Part of a month",
    Cause.CORRECTION: "Correction",
    Cause.DISCOUNT: "Discount",
    Cause.COMMITMENT: "Agreed minimum",
    Cause.TAX: "Tax",
    Cause.CREDIT: "Credit",
}


class CurrenciesDiffer(Conflict):
    """The invoices have different currencies, so there is no difference to split."""

    code = "invoice.currencies_differ"


class NotComparable(Conflict):
    """The invoice has no document yet."""

    code = "invoice.no_document"


@dataclass(frozen=True)
class Side:
    """One of the two invoices: how it is named, its document, and what it charged.

    ``id`` and ``number`` are empty for the running period.
    """

    id: str
    number: str
    made: Document
    billed: Billed

    @property
    def plan_titles(self) -> str:
        titles = dict.fromkeys(segment.plan_title for segment in self.billed.segments)
        return ", then ".join(titles)


@dataclass(frozen=True)
class ExplainedPart:
    """One part of the difference, with its words; ``title`` names the meter, or is empty."""

    part: Part
    title: str
    words: str


@dataclass(frozen=True)
class Explanation:
    """Why ``newer`` asks for another amount than ``older``, in minor units of ``currency``.

    The amounts of ``parts`` add up to ``difference_minor`` exactly.
    """

    older: Side
    newer: Side
    currency: str
    parts: tuple[ExplainedPart, ...]

    @property
    def difference_minor(self) -> int:
        return self.newer.billed.payable_minor - self.older.billed.payable_minor


def explain(tenant: Tenant, older: str, newer: str, now: datetime | None = None) -> Explanation:
    """Return why the invoice ``newer`` differs from ``older``.

    Both are a number, an id, a month such as ``2026-10`` that has one invoice, or ``preview``, the
    running period.

    Raises:
        Missing: the tenant has no such invoice.
        Invalid: the month has several invoices, or there is no such month.
        NotComparable: an invoice has no document yet.
        EngineUnknown: this version of Waypost does not have the engine of an invoice.
        CurrenciesDiffer: as named.
        NoSubscription, Unavailable: as ``previewing.preview`` raises them for ``preview``.
    """
    sides = [_side(tenant, name, now) for name in (older, newer)]
    before, after = sides
    currencies = [side.made["currency"] for side in sides]
    if currencies[0] != currencies[1]:
        raise CurrenciesDiffer(
            f"The invoices are in {' and '.join(currencies)}: only invoices in one currency can be "
            "compared."
        )
    words = _Words(before, after, currencies[0])
    found = tuple(
        ExplainedPart(part, words.title(part), words.of(part))
        for part in changes.parts(before.billed, after.billed)
    )
    return Explanation(before, after, currencies[0], found)


def _side(tenant: Tenant, name: str, now: datetime | None) -> Side:
    if name == PREVIEW:
        preview = previewing.preview(tenant, now)
        return Side("", "", preview.document, _billed(preview.document, preview.facts))
    invoice = _invoice(tenant, name)
    if not invoice.document:
        raise NotComparable("This period is not closed yet. Compare the running period instead.")
    made = document.loaded(invoice.document)
    invoice_verification.engine_of(made)  # raises for engines that pinned too little
    found = invoice_verification.pinned_facts(invoice, made)
    return Side(invoice.pk, invoice.number or "", made, _billed(made, found))


def _invoice(tenant: Tenant, name: str) -> Invoice:
    rows = Invoice.objects.filter(tenant=tenant).select_related("tenant")
    if _MONTH.fullmatch(name):
        try:
            # The second day of the month in UTC is in this month in every time zone.
            inside = datetime.strptime(name, "%Y-%m").replace(day=2, tzinfo=UTC)
        except ValueError:
            raise Invalid(f"{name} is not a month.", code="invoice.month") from None
        month = month_of(inside, tenant.billing_time_zone)
        of_month = rows.filter(replacement__isnull=True, starts_at__gte=month.starts_at)
        found = list(of_month.filter(starts_at__lt=month.ends_at)[:2])
        if len(found) > 1:
            raise Invalid(
                f"{name} has several invoices: name one of them by its number.",
                code="invoice.month",
            )
    else:
        found = list(rows.filter(Q(number=name) | Q(pk=name))[:1])
    if not found:
        raise Missing("There is no such invoice; list them to see their numbers.")
    return found[0]


def _billed(made: Document, found: Facts) -> Billed:
    own = dict.fromkeys(changes.OWN_LINES, 0)
    charged = []
    for line in made["lines"]:
        if line["kind"] in _OWN_LINES:
            own[_OWN_LINES[line["kind"]]] += line["amount_minor"]
        else:
            charged.append((line["meter"], line["amount_minor"]))
    own[Cause.TAX] = made["tax_minor"]
    # A draft does not say yet what credit pays.
    if made["payable_minor"] is not None:
        own[Cause.CREDIT] = made["payable_minor"] - made["total_minor"]
    # From the document: the copy of gold may have changed since.
    figures = [
        Figure(space["space_id"], "", meter, quantity)
        for space in made["usage"]
        for meter, quantity in space["meters"].items()
    ]
    return Billed(
        found.period,
        found.month,
        found.seller_rule,
        found.segments,
        found.lifetimes,
        figures,
        changes.by_meter(charged),
        own,
    )


@dataclass(frozen=True)
class _Words:
    """Puts the parts of a difference into words."""

    older: Side
    newer: Side
    currency: str

    def title(self, part: Part) -> str:
        if not part.meter:
            return ""
        return "Plan fee" if part.meter == FEE else BY_SLUG[part.meter].title

    def of(self, part: Part) -> str:
        """Return a sentence about ``part``, without its amount."""
        before, after = self.older, self.newer
        if part.cause is Cause.QUANTITY:
            old, new = self.quantities(part.meter)
            return f"{new} instead of {old}, at the former prices."
        if part.cause is Cause.PRICE:
            return "The prices of the same plans are others now; the quantity is the new one."
        if part.cause is Cause.PLAN:
            return f"By the plan {after.plan_titles} now, by {before.plan_titles} before."
        if part.cause is Cause.DIVIDED_MONTH:
            return (
                "An early close divides a month: its later invoices continue the included amounts, "
                "the tiers and the rounding of the month."
            )
        if part.cause is Cause.TAX:
            return f"{self.tax(after)} now, {self.tax(before)} before."
        old, new = (self.money(side.billed.own_lines[part.cause]) for side in (before, after))
        return f"{new} now, {old} before."

    def quantities(self, meter: str) -> tuple[str, str]:
        """Return both quantities of a meter, with the decimals that tell them apart, at most 6."""
        found = ("", "")
        for places in (2, 4, 6):
            found = (
                self.quantity(self.older, meter, places),
                self.quantity(self.newer, meter, places),
            )
            if found[0] != found[1]:
                break
        return found

    def quantity(self, side: Side, meter: str, places: int) -> str:
        """Return the quantity of a meter on one side, with its unit; ``places`` are decimals."""
        billed = side.billed
        if meter == FEE:
            seconds = sum(segment.fee_seconds for segment in billed.segments)
            share = EXACT.divide(Decimal(100 * seconds), Decimal(billed.month.seconds))
            return f"{_short(share, places)} % of a month"
        if meter in LIFETIMES:
            seconds = sum(row.seconds for row in billed.lifetimes if row.meter == meter)
            return (
                f"{_short(EXACT.divide(Decimal(seconds), Decimal(SECONDS_PER_HOUR)), places)} hours"
            )
        found = BY_SLUG[meter]
        base = reading.quantity_of(meter, billed.figures)
        units = EXACT.divide(Decimal(base), Decimal(found.base_per_unit))
        return f"{_short(units, places)} {found.unit}"

    def tax(self, side: Side) -> str:
        taxes: Sequence[Document] = side.made["taxes"]
        return " and ".join(
            f"{tax['percent']} % of {self.money(tax['taxable_minor'])}" for tax in taxes
        )

    def money(self, amount_minor: int) -> str:
        return money.display(amount_minor, self.currency)


def _short(quantity: Decimal, places: int) -> str:
    """Return a quantity with thousands separators and at most ``places`` decimals."""
    return f"{quantity:,.{places}f}".rstrip("0").rstrip(".")
