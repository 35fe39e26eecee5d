"""Explains how a line of a minimum commitment came about, from the invoice document alone. Pure.

Documents store the terms and the charges of their month, so this works for old documents, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from plans.invoicing import document
from plans.invoicing.document import Document
from plans.rating import money, pricing
from plans.rating.billable import Segment
from plans.rating.money import Rounding
from plans.rating.month_so_far import MonthSoFar
from plans.rating.periods import Period
from plans.rating.pricing import SellerRule
from plans.rating.terms import COMMITMENT, Commitment


@dataclass(frozen=True)
class TrueUp:
    """The parts of a line of kind ``commitment``; amounts are in minor units and before tax.

    ``commitments`` are those of the month, and ``until`` is up to when they count.
    ``minimum_minor`` is their part of the month together, ``cost_minor`` what the month cost until
    then after discounts, and ``earlier_minor`` what earlier invoices of the month charged of the
    difference.
    """

    currency: str
    month: Period
    until: datetime
    commitments: Sequence[Commitment]
    minimum_minor: int
    cost_minor: int
    earlier_minor: int
    amount_minor: int

    @property
    def words(self) -> str:
        """How the amount of the line comes about, in sentences."""
        parts = " and ".join(self._part(row) for row in self.commitments)
        missing = self.amount_minor + self.earlier_minor
        found = (
            f"{parts} is {self._money(self.minimum_minor)}. The month cost "
            f"{self._money(self.cost_minor)} until then, after discounts and before tax, so "
            f"{self._money(missing)} is missing."
        )
        if not self.earlier_minor:
            return found
        return (
            f"{found} Earlier invoices of the month charged {self._money(self.earlier_minor)} of "
            f"it, so the line is {self._money(self.amount_minor)}."
        )

    def _part(self, row: Commitment) -> str:
        span = row.period.clip(self.month.starts_at, self.until)
        seconds = span.seconds if span else 0
        return (
            f"{self._money(row.minimum_minor)} a month for {seconds:,} of the month's "
            f"{self.month.seconds:,} seconds"
        )

    def _money(self, amount_minor: int) -> str:
        return money.display(amount_minor, self.currency)


def total_minor(made: Document) -> int:
    """Return the sum of the true-ups of the document ``made``, in minor units before tax."""
    return sum(line["amount_minor"] for line in made["lines"] if line["kind"] == COMMITMENT)


def of_line(made: Document, line: Document) -> TrueUp | None:
    """Return how a line of the document ``made`` came about; None if it is of another kind.

    Also None if the document has no state of the month, as those of the first engines.
    """
    if line["kind"] != COMMITMENT or "month_so_far" not in made:
        return None
    state, month = made["month_so_far"], document.month_of(made)
    # Without segments, which only rows of plans can complete, and which nothing here needs.
    after = MonthSoFar.from_plain({**state, "segments": []}, _no_segment)
    until = max(Period.from_plain(row["span"]).ends_at for row in state["segments"])
    rule = SellerRule(made["currency"], Rounding(made["rounding"]), Decimal(0))
    agreed = after.terms.commitments
    keys = {row.key for row in agreed}
    exact = sum((row.minimum(month, until) for row in agreed), Decimal(0))
    due = line["detail"]["month_so_far_minor"]
    discounts = sum(amount for key, amount in after.adjusted.items() if key not in keys)
    return TrueUp(
        rule.currency,
        month,
        until,
        agreed,
        money.round_minor(exact, rule.rounding),
        sum(pricing.amounts(after.charged, rule).values()) + discounts,
        due - line["amount_minor"],
        line["amount_minor"],
    )


def _no_segment(key: str, version: int, span: Period) -> Segment:
    raise AssertionError(f"no segment is read: {key} {version} {span}")
