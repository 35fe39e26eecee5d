"""Splits the difference between two invoices by cause. Pure.

The split is a chain of invoices as they would have been, each priced by ``pricing.rate``. Each link
changes one thing, so the differences between neighbors add up to the whole difference exactly:

1. the older invoice as it was billed;
2. its quantities, as if its month had no other invoice, and its last plan was in force as long as
   its plans together;
3. the quantities of the newer invoice, at the prices of 2;
4. the same at the newer invoice's prices of this plan, and of the same space and address plans;
5. the newer invoice as it was billed, with its own plans.

The steps from 1 to 2 and from 4 to 5 have the cause ``PLAN``, or ``DIVIDED_MONTH`` if a close
divides the month. For discounts, commitments, corrections, tax and credit, the amounts of the two
invoices are subtracted.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum

from plans.invoicing import rated_period
from plans.rating import pricing
from plans.rating.billable import Lifetime, Segment
from plans.rating.periods import Period
from plans.rating.pricing import SellerRule
from plans.usage.reading import Figure

Amounts = Mapping[str, int]  # meter -> minor units


class Cause(StrEnum):
    """Why an invoice differs from an earlier one."""

    QUANTITY = "quantity"
    PRICE = "price"
    PLAN = "plan"
    DIVIDED_MONTH = "divided_month"
    CORRECTION = "correction"
    DISCOUNT = "discount"
    COMMITMENT = "commitment"
    TAX = "tax"
    CREDIT = "credit"


# The causes whose amounts stand on the invoices themselves: each is subtracted as one sum.
OWN_LINES = (Cause.CORRECTION, Cause.DISCOUNT, Cause.COMMITMENT, Cause.TAX, Cause.CREDIT)


@dataclass(frozen=True)
class Part:
    """How much of the difference has this cause.

    ``meter`` is empty for causes of the whole invoice. A positive amount makes the newer
    invoice dearer.
    """

    cause: Cause
    meter: str
    amount_minor: int


@dataclass(frozen=True)
class Billed:
    """What one invoice charged, and what it was priced from.

    * ``segments`` are the plans of the period, with their rules, in order of time; at least one.
    * ``figures`` is the usage of the period by space and sampled meter.
    * ``charged`` are the lines of kinds fee, usage, lifetime and repriced, by meter.
    * ``own_lines`` are the sums of the other lines, of tax, and of credit that paid (negative).
    """

    period: Period
    month: Period
    seller: SellerRule
    segments: Sequence[Segment]
    lifetimes: Sequence[Lifetime]
    figures: Sequence[Figure]
    charged: Amounts
    own_lines: Mapping[Cause, int]

    @property
    def payable_minor(self) -> int:
        """What was to be paid: the sum of everything."""
        return sum(self.charged.values()) + sum(self.own_lines.values())

    @property
    def is_whole_month(self) -> bool:
        return self.period == self.month

    @property
    def has_one_plan(self) -> bool:
        versions = {(segment.plan_key, segment.plan_version) for segment in self.segments}
        return len(versions) == 1

    def at(self, plan: Segment, lifetimes: Sequence[Lifetime], seller: SellerRule) -> Amounts:
        """Return by meter what the quantities cost if ``plan`` was in force all the time.

        That is as long as the plans of this invoice together: a subscription that begins inside
        the period pays no fee for the days before. Other invoices of the month do not count.
        ``lifetimes`` are those of this invoice, with the hourly prices to use.
        """
        ends_at = self.segments[-1].period.ends_at
        in_force = timedelta(seconds=sum(segment.period.seconds for segment in self.segments))
        alone = replace(
            plan,
            period=Period(ends_at - in_force, ends_at),
            usage=rated_period.priced_usage(plan, self.figures),
            counted=None,
            runs_on=False,
            trial_seconds=sum(segment.trial_seconds for segment in self.segments),
        )
        rated = pricing.rate([alone], lifetimes, seller, self.month)
        return by_meter((line.meter, line.amount_minor) for line in rated.lines)


def parts(older: Billed, newer: Billed) -> list[Part]:
    """Return the parts of the difference of the amounts to pay; they add up to it exactly.

    Parts of zero are left out. Both invoices have the same currency.
    """
    plan, seller = older.segments[-1], older.seller
    # Of plans that both have, the version of the newer invoice.
    same = [segment for segment in newer.segments if segment.plan_key == plan.plan_key]
    later = same[-1] if same else plan
    chain = [
        older.charged,
        older.at(plan, older.lifetimes, seller),
        newer.at(plan, _at_prices_of(older.lifetimes, newer.lifetimes), seller),
        newer.at(later, newer.lifetimes, newer.seller),
        newer.charged,
    ]
    causes = [_of_plan(older), Cause.QUANTITY, Cause.PRICE, _of_plan(newer, plan)]
    found: Counter[tuple[Cause, str]] = Counter()
    for cause, before, after in zip(causes, chain, chain[1:], strict=False):
        for meter in {*before, *after}:
            found[cause, meter] += after.get(meter, 0) - before.get(meter, 0)
    for cause in OWN_LINES:
        found[cause, ""] += newer.own_lines.get(cause, 0) - older.own_lines.get(cause, 0)
    kept = [Part(cause, meter, amount) for (cause, meter), amount in found.items() if amount]
    return sorted(kept, key=lambda part: (list(Cause).index(part.cause), part.meter))


def by_meter(amounts: Iterable[tuple[str, int]]) -> Amounts:
    """Return {meter: sum} of (meter, minor units)."""
    found: Counter[str] = Counter()
    for meter, amount in amounts:
        found[meter] += amount
    return dict(found)


def _of_plan(billed: Billed, expected: Segment | None = None) -> Cause:
    """Return the cause of the difference between ``billed`` and its quantities priced on one plan.

    ``expected`` is that plan; None: the invoice's own last one.
    """
    plan = expected or billed.segments[-1]
    is_same = billed.has_one_plan and billed.segments[-1].plan_key == plan.plan_key
    return Cause.DIVIDED_MONTH if is_same and not billed.is_whole_month else Cause.PLAN


def _at_prices_of(older: Sequence[Lifetime], newer: Sequence[Lifetime]) -> list[Lifetime]:
    """Return ``newer`` with the hourly prices of ``older``, where both have a plan of one name."""
    known = {(row.meter, row.plan_key): row for row in older}
    found = []
    for row in newer:
        before = known.get((row.meter, row.plan_key))
        if before is not None:
            row = replace(row, plan_version=before.plan_version, hour_price=before.hour_price)
        found.append(row)
    return found
