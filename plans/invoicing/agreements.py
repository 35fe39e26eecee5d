"""Reads how far a tenant's month is toward its minimum commitments, and how its trial goes.

Portal, API and command show the results.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Q, Sum

from plans.catalog import publishing
from plans.invoicing import previewing
from plans.invoicing.facts import NoSubscription
from plans.models import Invoice, InvoiceLine, PlanSubscription
from plans.rating import money
from plans.rating.periods import Period, month_of
from plans.rating.terms import COMMITMENT
from tenants.models import Tenant


@dataclass(frozen=True)
class Progress:
    """How far a month is toward the minimum of its commitments, before tax, in minor units.

    ``minimum_minor`` is the minimum of the whole month; a part counts by its seconds.
    ``reached_minor`` is what the month has cost so far, after discounts. ``missing_minor`` is what
    the last invoice of the month would add (the true-up) if nothing more were used.
    """

    month: Period
    currency: str
    titles: Sequence[str]
    minimum_minor: int
    reached_minor: int

    @property
    def missing_minor(self) -> int:
        return max(0, self.minimum_minor - self.reached_minor)

    @property
    def percent(self) -> int:
        """How much of the minimum is reached, 0 to 100, rounded down."""
        reached = max(0, min(self.reached_minor, self.minimum_minor))
        return reached * 100 // self.minimum_minor if self.minimum_minor else 100


@dataclass(frozen=True)
class Trial:
    """A running trial. From ``ends_at`` on the fee of the plan is charged, by seconds.

    ``first_fee_minor`` is the fee of the rest of the month in which it ends, before tax.
    """

    plan: str
    currency: str
    ends_at: datetime
    days_left: int
    monthly_fee_minor: int
    first_fee_minor: int


def progress(tenant: Tenant, now: datetime) -> Progress | None:
    """Return the progress of the running month; None without a commitment in it, or without a plan.

    Raises:
        Unavailable: no catalog is published.
    """
    try:
        preview = previewing.preview(tenant, now)
    except NoSubscription:
        return None
    facts, rows = preview.facts, preview.facts.terms.commitments
    if not rows:
        return None
    month, rule = facts.month, facts.seller_rule
    exact = sum((row.minimum(month, month.ends_at) for row in rows), Decimal(0))
    lines = preview.document["lines"]
    running = sum(line["amount_minor"] for line in lines if line["kind"] != COMMITMENT)
    return Progress(
        month,
        rule.currency,
        [row.title for row in rows],
        money.round_minor(exact, rule.rounding),
        running + _billed(tenant, month),
    )


def _billed(tenant: Tenant, month: Period) -> int:
    """Return what earlier invoices of ``month`` charged, without commitments and other months."""
    # A closing or held invoice may still have the lines of an earlier draft.
    invoices = Invoice.objects.filter(
        tenant=tenant, starts_at__gte=month.starts_at, ends_at__lte=month.ends_at
    ).exclude(state__in=[Invoice.State.CLOSING, Invoice.State.HELD])
    numbers = [number for number in invoices.values_list("number", flat=True) if number]
    # A correction counts for the month whose invoice it names.
    own = ~Q(detail__kind="correction") | Q(detail__corrects__in=numbers)
    lines = InvoiceLine.objects.filter(own, invoice__in=invoices)
    lines = lines.exclude(detail__kind=COMMITMENT)
    return lines.aggregate(total=Sum("amount_minor"))["total"] or 0


def trial(tenant: Tenant, now: datetime) -> Trial | None:
    """Return the tenant's running trial; None without one."""
    row = (
        PlanSubscription.objects.select_related("plan", "tenant__seller_assignment")
        .filter(tenant=tenant, ends_at__isnull=True, trial_ends_at__gt=now)
        .first()
    )
    if row is None or row.trial_ends_at is None:
        return None
    plan = publishing.sold_plan(row)
    month = month_of(row.trial_ends_at, tenant.billing_time_zone)
    rest = month.clip(row.trial_ends_at, None)
    seconds = rest.seconds if rest else 0
    # An estimate for people: the invoice rounds by the rule of the seller.
    first = plan.monthly_fee_minor * seconds // month.seconds
    left = row.trial_ends_at - now
    # A part of a day counts as one, so that the last day is no zero.
    days = -(-int(left.total_seconds()) // 86400)
    return Trial(plan.title, plan.currency, row.trial_ends_at, days, plan.monthly_fee_minor, first)
