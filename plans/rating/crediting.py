"""Computes what a credit note takes back from an issued invoice. Pure: no database and no clock.

A credit note names lines of one invoice. The notes of an invoice together never take back more than
the invoice charged. A line is taken back with the tax that it bears. Each tax is rounded over
everything that was credited so far, so each tax of all notes adds up to that of the invoice once
all of it is credited.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from controlplane.core.errors import Conflict, Invalid
from plans.rating import pricing
from plans.rating.pricing import SellerRule, TaxLine
from plans.rating.taxes import TaxRule


class NothingLeft(Conflict):
    """Nothing is left to take back: earlier credit notes did, or the net amount is not positive."""

    code = "credit_note.nothing_left"


class TooMuch(Conflict):
    """The credit note would take back more than is left of a line or of the invoice."""

    code = "credit_note.too_much"


@dataclass(frozen=True)
class Credited:
    """What one credit note takes back, in minor units; the total is positive.

    ``net_minor`` is positive too, unless all that is left is below zero before tax: a large
    correction at a low rate can outweigh lines at a higher one, and their tax remains.

    ``lines`` is {position of the invoice's line: amount}; of a negative line it is negative.
    ``taxes`` has one entry for each tax that these lines bear, in the order of the lines.
    ``is_rest`` is True if nothing of the invoice is left afterwards.
    """

    lines: Mapping[int, int]
    taxes: tuple[TaxLine, ...]
    is_rest: bool

    @property
    def net_minor(self) -> int:
        return sum(self.lines.values())

    @property
    def tax_minor(self) -> int:
        return sum(tax.tax_minor for tax in self.taxes)

    @property
    def total_minor(self) -> int:
        return self.net_minor + self.tax_minor


def credit(
    charged: Mapping[int, int],
    before: Mapping[int, int],
    wanted: Mapping[int, int] | None,
    seller: SellerRule,
    taxes: Mapping[int, TaxRule] | None = None,
) -> Credited:
    """Return what a credit note takes back of an invoice.

    ``charged`` is {position: amount} of the invoice's lines, ``before`` the same of everything that
    earlier credit notes took back. ``wanted`` is the same of this note; None: all that is left.
    ``seller`` has the tax and the rounding of the invoice. ``taxes`` is {position: tax} of lines
    that may bear another tax than the seller's; None: there are none.

    Raises:
        Invalid: ``wanted`` is empty, names a position that the invoice lacks, or has an amount that
            is not positive.
        TooMuch: more is wanted than is left of a line, or of the whole invoice; or it would leave
            an amount that no credit note could take back.
        NothingLeft: nothing of the invoice is left, with tax.
    """
    rules = {n: seller.taxed((taxes or {}).get(n, seller.tax)) for n in charged}
    rest = rest_of(charged, before, rules)
    if rest.total_minor <= 0:
        raise NothingLeft("Nothing of this invoice is left that a credit note could take back.")
    if wanted is None:
        return rest
    if rest.net_minor <= 0:
        raise TooMuch(
            "Before tax nothing of this invoice is left: a part of it cannot be taken back, but "
            "all that is left can. Void it.",
            left_minor=0,
        )
    _check(wanted, {n: rest.lines.get(n, 0) for n in charged}, rest.net_minor)
    both = {n: before.get(n, 0) + wanted.get(n, 0) for n in charged}
    after = rest_of(charged, both, rules)
    # Lines below zero make up for other lines, but only for those with the same tax.
    is_rest = not any(tax.taxable_minor for tax in after.taxes)
    if not is_rest and after.total_minor <= 0:
        raise TooMuch(
            "This would leave lines of several taxes that no credit note could take back: take "
            "back less, or all that is left.",
            left_minor=rest.net_minor,
        )
    return Credited(dict(wanted), taken_back(wanted, before, rules), is_rest)


def rest_of(
    charged: Mapping[int, int], before: Mapping[int, int], rules: Mapping[int, SellerRule]
) -> Credited:
    """Return what is left of an invoice after earlier notes took ``before`` back.

    Net amount and total may be zero or below. The parameters are those of ``taken_back``;
    ``charged`` is {position: amount} of the invoice's lines.
    """
    left = {n: amount - before.get(n, 0) for n, amount in charged.items()}
    lines = {n: amount for n, amount in left.items() if amount}
    return Credited(lines, taken_back(lines, before, rules), is_rest=True)


def taken_back(
    parts: Mapping[int, int], before: Mapping[int, int], rules: Mapping[int, SellerRule]
) -> tuple[TaxLine, ...]:
    """Return the tax of ``parts``, {position: amount}: one entry for each tax that they bear.

    ``before`` is what earlier notes took back. ``rules`` has the tax of each line of the invoice.
    Each tax is that of ``before`` and ``parts`` together, less that of ``before`` alone: it may
    differ by one minor unit from the tax of ``parts`` alone.
    """
    found = []
    for rule in dict.fromkeys(rule for n, rule in rules.items() if n in parts):
        earlier, taxable = (
            sum(amount for n, amount in amounts.items() if rules[n] == rule)
            for amounts in (before, parts)
        )
        was, now = (pricing.tax_on(n, rule).tax_minor for n in (earlier, earlier + taxable))
        found.append(replace(pricing.tax_on(taxable, rule), tax_minor=now - was))
    return tuple(found)


def _check(wanted: Mapping[int, int], left: Mapping[int, int], net_left: int) -> None:
    if not wanted or any(n not in left for n in wanted) or min(wanted.values()) <= 0:
        raise Invalid(
            "Name lines of the invoice by their positions, each with a positive amount.",
            code="credit_note.lines",
        )
    for position, amount in wanted.items():
        if amount > left[position]:
            raise TooMuch(
                f"Of line {position} only {left[position]} is left: take back at most that.",
                position=position,
                left_minor=left[position],
            )
    # A discount may make the invoice smaller than the sum of its positive lines.
    if sum(wanted.values()) > net_left:
        raise TooMuch(
            f"Of the invoice only {net_left} before tax is left: take back at most that.",
            left_minor=net_left,
        )
