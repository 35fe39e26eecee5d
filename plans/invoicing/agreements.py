"""Reads how far a tenant's month is toward its minimum commitments, and how its trial goes.

Portal, API and command show the results.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from plans.catalog import publishing
from plans.invoicing import previewing
from plans.invoicing.facts import NoSubscription
from plans.models import PlanSubscription
from plans.rating import money, pricing
from plans.rating.month_so_far import MonthSoFar
from plans.rating.periods import Period, month_of
from tenants.models import Tenant


@dataclass(frozen=True)
class Progress:
    """How far a month is toward the minimum of its commitments, before tax, in minor units.

    ``minimum_minor`` is the minimum of the whole month; a part counts by its seconds.
    ``reached_minor`` is what the month has cost so far, after discounts and without true-ups.
    ``charged_minor`` is the true-up that earlier invoices of the month charged. ``missing_minor``
    is what the last invoice of the month would add to it if nothing more were used; negative: what
    it would take back. The preview of the running period has the same amount as a line.
    """

    month: Period
    currency: str
    titles: Sequence[str]
    minimum_minor: int
    reached_minor: int
    charged_minor: int
    missing_minor: int

    @property
    def taken_back_minor(self) -> int:
        """What the last invoice would take back, as a positive amount; 0 if it adds something."""
        return max(0, -self.missing_minor)

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
    month, rule, after = facts.month, facts.seller_rule, preview.rating.so_far
    exact = sum((row.minimum(month, month.ends_at) for row in rows), Decimal(0))
    keys = {row.key for row in rows}
    charged = _adjusted(facts.so_far, lambda key: key in keys)
    return Progress(
        month,
        rule.currency,
        [row.title for row in rows],
        money.round_minor(exact, rule.rounding),
        sum(pricing.amounts(after.charged, rule).values())
        + _adjusted(after, lambda key: key not in keys),
        charged,
        _adjusted(after, lambda key: key in keys) - charged,
    )


def _adjusted(state: MonthSoFar, is_chosen: Callable[[str], bool]) -> int:
    return sum(amount for key, amount in state.adjusted.items() if is_chosen(key))


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
