"""Turns usage into invoice lines and tax, with ``rate``. Pure: no database and no clock.

``plans.invoicing`` turns rows into the values used here. Quantities are integers in base units,
prices are decimals of up to 12 places in the currency's main unit, amounts are integers in minor
units, rounded by the legal entity's rule. Tax is computed on the sum of the lines that bear it.

An invoice charges the price of its month from the month's beginning to the invoice's end, minus
what earlier invoices of the month charged. So the net amounts of a month's invoices add up to that
of one invoice for the whole month, however closes divide it (exceptions: docs/billing.md, rule 2).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

from plans.rating import money, month_price, price_rules
from plans.rating.billable import Lifetime, Segment
from plans.rating.money import EXACT, Rounding
from plans.rating.month_price import FEE, Hours, MonthPrice, Part, PlanVersion
from plans.rating.month_so_far import MonthSoFar, merged
from plans.rating.periods import Period
from plans.rating.price_rules import Price
from plans.rating.taxes import TaxRule
from plans.rating.terms import DISCOUNT, Adjustment, Terms

TWELVE_PLACES = Decimal("1E-12")  # as many as the columns of invoice lines store


@dataclass(frozen=True)
class SellerRule:
    """The currency, rounding and tax that the selling legal entity uses on an invoice.

    ``tax_category`` is the code of EN 16931 for the kind of tax, and ``tax_note`` what the law
    wants on the document. Both are empty if the seller taxes everything at one rate.
    """

    currency: str
    rounding: Rounding
    tax_percent: Decimal
    tax_category: str = ""
    tax_note: str = ""

    @property
    def tax(self) -> TaxRule:
        return TaxRule(self.tax_percent, self.tax_category, self.tax_note)

    def taxed(self, tax: TaxRule) -> "SellerRule":
        """Return the same rule with another tax."""
        return replace(self, tax_percent=tax.percent, tax_category=tax.category, tax_note=tax.note)


@dataclass(frozen=True)
class Line:
    """One invoice line: ``quantity`` units at ``unit_price`` cost ``amount_minor``.

    ``quantity`` is rounded to 12 places. The amount is computed from ``billed_base`` in ``detail``,
    the exact quantity that ``Price`` counts. A line of kind ``repriced`` charges or takes back a
    difference from what earlier lines of the month charged. A ``correction`` does so for a month
    whose usage changed after its invoice was issued. Lines of kind ``discount`` and ``commitment``
    have no price of their own: one unit costs their amount. ``tax`` None: the tax of the invoice's
    own period; a correction may bear another one, that of the month it corrects.
    """

    kind: str  # fee | usage | lifetime | repriced | discount | commitment | correction
    meter: str
    description: str
    quantity: Decimal
    unit: str
    unit_price: Decimal
    amount_minor: int
    detail: dict[str, Any] = field(default_factory=dict)
    tax: TaxRule | None = None


@dataclass(frozen=True)
class TaxLine:
    """The tax at one rate, on the sum of the lines it applies to (EN 16931, rule BR-CO-17)."""

    percent: Decimal
    taxable_minor: int
    tax_minor: int
    category: str = ""
    note: str = ""

    @property
    def tax(self) -> TaxRule:
        return TaxRule(self.percent, self.category, self.note)


@dataclass(frozen=True)
class Rating:
    """A priced period: its lines, its taxes, and ``so_far``, the state of its month afterwards."""

    lines: tuple[Line, ...]
    taxes: tuple[TaxLine, ...]
    so_far: MonthSoFar

    @property
    def net_minor(self) -> int:
        return sum(line.amount_minor for line in self.lines)

    @property
    def tax_minor(self) -> int:
        return sum(tax.tax_minor for tax in self.taxes)


def rate(
    segments: Sequence[Segment],
    lifetimes: Sequence[Lifetime],
    seller: SellerRule,
    month: Period,
    so_far: MonthSoFar | None = None,
    terms: Terms | None = None,
) -> Rating:
    """Return the invoice lines and the tax of one period, and the state of its month afterwards.

    ``segments`` and ``lifetimes`` are those of the period; segments are in order of time. ``month``
    is the billing month that contains them: fees and included amounts are prorated by its seconds.
    ``so_far`` is the state of the month before the period (None: the period is the first one).
    ``terms`` are the discounts and commitments of the month (None: those of ``so_far``).
    Lines may have negative amounts that take back earlier charges. The result does not depend on
    the order of ``lifetimes`` or of the usage in a segment.
    """
    before = so_far or MonthSoFar()
    known = [*before.segments, *segments]
    all_lifetimes = merged([*before.lifetimes, *lifetimes])
    whole = month_price.price(known, all_lifetimes, month, seller.currency)
    bill = _Bill(seller, whole, Counter(before.charged))
    # The order matters: each step adds to what ``bill`` has charged, and ``repriced`` comes last
    # because it charges the difference that is still missing.
    lines = [
        *bill.segments(segments, len(before.segments)),
        *bill.lifetimes(lifetimes),
        *bill.repriced(),
    ]
    # A charge that was taken back completely leaves a zero, which the state does not store.
    charged = {key: base for key, base in bill.charged.items() if base}
    agreed = before.terms if terms is None else terms
    until = max((segment.period.ends_at for segment in known), default=month.ends_at)
    due = agreed.adjustments(bill.amounts(), month, until, seller.rounding)
    lines += bill.adjusted(due, before.adjusted)
    net = sum(line.amount_minor for line in lines)
    # For the next invoice these segments are over. If their plan goes on, its next segment brings
    # the included units of the rest of the month.
    ended = tuple(replace(segment, runs_on=False) for segment in known)
    adjusted = {row.key: row.amount_minor for row in due if row.amount_minor}
    after = MonthSoFar(ended, all_lifetimes, charged, agreed, adjusted)
    return Rating(tuple(lines), (tax_on(net, seller),), after)


def tax_on(taxable_minor: int, seller: SellerRule) -> TaxLine:
    """Return the seller's tax on ``taxable_minor``, the sum of all lines in minor units.

    The tax is rounded once, by the seller's rule.
    """
    exact = EXACT.divide(EXACT.multiply(Decimal(taxable_minor), seller.tax_percent), Decimal(100))
    rounded = money.round_minor(exact, seller.rounding)
    return TaxLine(seller.tax_percent, taxable_minor, rounded, seller.tax_category, seller.tax_note)


def taxes_on(lines: Iterable[Line], seller: SellerRule) -> tuple[TaxLine, ...]:
    """Return the tax of ``lines``: one entry for each different tax, each rounded once.

    The first entry is the seller's tax, also if no line bears it. The others are in the order of
    their first lines. Source: EN 16931, the VAT breakdown BG-23 and rule BR-CO-17.
    """
    rules = {seller.tax.key: seller}
    found: Counter[tuple[Decimal, str, str]] = Counter()
    for line in lines:
        tax = line.tax or seller.tax
        rules.setdefault(tax.key, seller.taxed(tax))
        found[tax.key] += line.amount_minor
    return tuple(tax_on(found[key], rule) for key, rule in rules.items())


def amounts(charged: Mapping[tuple[str, Price], int], seller: SellerRule) -> dict[str, int]:
    """Return {meter: amount in minor units} of ``charged``, which is {(meter, price): quantity}."""
    found: Counter[str] = Counter()
    for (meter, price), base in charged.items():
        found[meter] += price_rules.amount_minor(price, (0, base), seller.currency, seller.rounding)
    return dict(found)


@dataclass(frozen=True)
class _Bill:
    """Makes the lines of one invoice and keeps what its month was charged.

    ``whole`` is the price of the month to the end of this invoice. ``charged`` is what the month
    was charged so far, as {(meter, price): quantity}; making a line adds its quantity. So lines
    must be made in the order of the document: ``segments``, ``lifetimes``, ``repriced``.
    """

    seller: SellerRule
    whole: MonthPrice
    charged: Counter[tuple[str, Price]]

    def line(
        self,
        named: tuple[str, str, str],
        unit: str,
        charge: tuple[Price, int],
        detail: dict[str, Any],
        spaces: Sequence[tuple[str, int]] | None = None,
    ) -> Line:
        """Add ``charge``, (price, quantity), to ``self.charged``; return the invoice line for it.

        ``named`` is kind, meter and description. With ``spaces`` (space id, used base units), the
        detail holds each space's share of the amount; the shares add up to the amount exactly.
        """
        kind, meter, description = named
        price, base = charge
        before = self.charged[meter, price]
        self.charged[meter, price] = before + base
        quantity = EXACT.divide(Decimal(base), Decimal(price.per))
        span = (before, before + base)  # ``amount_minor`` rounds over all of the month's charges
        line = Line(
            kind,
            meter,
            description,
            quantity.quantize(TWELVE_PLACES, ROUND_HALF_EVEN, EXACT),
            unit,
            price.unit_price,
            price_rules.amount_minor(price, span, self.seller.currency, self.seller.rounding),
            {**detail, "billed_base": base},
        )
        if spaces is not None:
            parts = money.allocate(line.amount_minor, [quantity for _, quantity in spaces])
            line.detail["spaces"] = [
                {"space_id": space_id, "used_base": quantity, "amount_minor": part}
                for (space_id, quantity), part in zip(spaces, parts, strict=True)
            ]
        return line

    def segments(self, segments: Sequence[Segment], first: int) -> Iterator[Line]:
        """Yield the fee line and the usage lines of each segment of this period.

        ``first`` is the number of the period's first segment in the month, counted from 0.
        """
        # ``whole`` has all segments of the month, by number.
        for n, segment in enumerate(segments, start=first):
            detail = {
                "plan": segment.plan_key,
                "plan_version": segment.plan_version,
                "starts_at": segment.period.starts_at.isoformat(),
                "ends_at": segment.period.ends_at.isoformat(),
            }
            if segment.monthly_fee_minor:
                price, seconds = self.whole.fees[n]
                yield self.line(
                    ("fee", FEE, f"Plan {segment.plan_title}"),
                    "month",
                    (price, seconds),
                    {
                        **detail,
                        "seconds": seconds,
                        "seconds_per_month": price.per,
                        # Left out without a trial, as in the documents of engine 3.
                        **({"trial": segment.trial_seconds} if segment.trial_seconds else {}),
                    },
                )
            for rule in segment.rules:
                yield from self.usage(self.whole.parts[n, rule.meter], detail)

    def usage(self, part: Part, detail: dict[str, Any]) -> Iterator[Line]:
        """Yield the lines of one meter in one segment: one for each of its charges.

        There is always at least one line. With nothing to bill, its quantity is zero.
        """
        rule = part.rule
        for charge in part.charges:
            yield self.line(
                ("usage", rule.meter, rule.title),
                rule.unit,
                charge,
                {
                    **detail,
                    "model": rule.model.value,
                    "used_base": part.used,
                    "included_base": part.included,
                    "billed_before_base": part.start,
                    "base_per_unit": rule.base_per_unit,
                },
                part.spaces,
            )

    def lifetimes(self, lifetimes: Sequence[Lifetime]) -> Iterator[Line]:
        """Yield the line of hours of each space or address plan version used in this period.

        ``lifetimes`` are those of this period.
        """
        by_version: dict[PlanVersion, list[Lifetime]] = {}
        for lifetime in lifetimes:
            version = (lifetime.meter, lifetime.plan_key, lifetime.plan_version)
            by_version.setdefault(version, []).append(lifetime)
        for key, hours in self.whole.hours.items():
            if key in by_version:
                yield self.hours(key, hours, by_version[key])

    def hours(self, key: PlanVersion, hours: Hours, same: Sequence[Lifetime]) -> Line:
        """Return the line of the hours of one plan version in this period.

        ``hours`` is the price of the version's hours since the month began. ``same`` are its
        lifetimes in this period; at most their seconds are billed.
        """
        meter, plan_key, version = key
        spaces = month_price.summed((lifetime.space_id, lifetime.seconds) for lifetime in same)
        used = sum(seconds for _, seconds in spaces)
        # Bill at most what was used in this period, and never less than zero. ``repriced`` charges
        # or takes back the rest.
        billed = min(max(0, hours.billed - self.charged[meter, hours.price]), used)
        detail = {
            "plan": plan_key,
            "plan_version": version,
            "lifetimes": sum(lifetime.count for lifetime in same),
            "used_base": used,
            "included_base": used - billed,
            "base_per_unit": hours.price.per,
        }
        named = ("lifetime", meter, hours.title)
        return self.line(named, "hours", (hours.price, billed), detail, spaces)

    def repriced(self) -> Iterator[Line]:
        """Yield a line for each (meter, price) whose charge so far differs from the month's price.

        The line charges the difference, so its amount may be negative. Call it last.
        """
        due = self.whole.charges()
        # Sorted, because the order of lines is part of the document.
        for key in sorted({*due, *self.charged}):
            base = due[key] - self.charged[key]
            if base:
                (meter, price), (title, unit) = key, self.title_and_unit(key)
                detail = {"base_per_unit": price.per}
                yield self.line(("repriced", meter, title), unit, (price, base), detail)

    def amounts(self) -> dict[str, int]:
        """Return {meter: amount in minor units} of everything that the month was charged so far."""
        return amounts(self.charged, self.seller)

    def adjusted(self, due: Sequence[Adjustment], before: Mapping[str, int]) -> Iterator[Line]:
        """Yield a line for each discount or commitment that comes to more or less than before.

        ``due`` is what they come to for the month so far, ``before`` the same at the end of the
        month's previous invoice, by key. What is agreed no more is taken back.
        """
        known = {row.key for row in due}
        ended = [
            Adjustment(key, DISCOUNT, "Ended terms", 0) for key in sorted(before.keys() - known)
        ]
        for row in [*due, *ended]:
            amount = row.amount_minor - before.get(row.key, 0)
            if amount:
                yield Line(
                    row.kind,
                    row.kind,
                    row.title,
                    Decimal(1),
                    "month",
                    money.to_major(amount, self.seller.currency),
                    amount,
                    {"key": row.key, "month_so_far_minor": row.amount_minor},
                )

    def title_and_unit(self, key: tuple[str, Price]) -> tuple[str, str]:
        """Return the title and the unit for the lines of ``key``, a (meter, price)."""
        meter, price = key
        if meter == FEE:
            return "Plan", "month"
        for (lifetime_meter, _, _), hours in self.whole.hours.items():
            if (lifetime_meter, hours.price) == key:
                return hours.title, "hours"
        rules = [part.rule for (_, priced), part in self.whole.parts.items() if priced == meter]
        # Rules of several plans may have this price model; the first in order of time names the
        # line.
        same = [rule for rule in rules if rule.model.value == price.kind]
        return same[0].title, same[0].unit
