"""Prices a change of a tenant's plan before anybody makes the change. Writes nothing."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from plans.catalog import publishing
from plans.invoicing import billing_inputs, corrections, facts, open_periods, rated_period
from plans.invoicing.billing_inputs import KnownLifetimes
from plans.invoicing.facts import Facts
from plans.models import Plan
from plans.rating import pricing
from plans.rating.billable import Segment
from plans.rating.month_so_far import MonthSoFar
from plans.rating.periods import Period, month_of
from tenants.models import Tenant


@dataclass(frozen=True)
class Amounts:
    """What one period costs with tax, in minor units: on the present and on the chosen plan."""

    period: Period
    present_minor: int
    chosen_minor: int

    @property
    def difference_minor(self) -> int:
        """How much more the chosen plan costs; negative if it costs less."""
        return self.chosen_minor - self.present_minor


@dataclass(frozen=True)
class PlanChangePrice:
    """What a change of plan now costs, with tax.

    * ``running``: the running period, with fees to its end and the usage and hours known so far.
    * ``fees``: the monthly fees alone, of the month after the running one.
    * ``last``: last month as if each plan had been in force for the whole month, with the usage and
      the hours that it had. None if the tenant used nothing in it.
    """

    currency: str
    tax_percent: str
    running: Amounts
    fees: Amounts
    last: Amounts | None


def price(tenant: Tenant, plan: Plan, now: datetime) -> PlanChangePrice:
    """Return what it costs to move ``tenant`` to the plan version ``plan`` at ``now``.

    Raises:
        NoSubscription: the tenant has no plan in any part of the running period.
        NotPriced: ``plan`` has no prices in the currency of the tenant's invoices.
        Unavailable: no catalog is published.
    """
    period = open_periods.running(tenant, now)
    found = facts.gather(tenant, period, until=now)
    before = corrections.month_after(corrections.previous_invoice(tenant.id, period, found.month))
    found = replace(found, so_far=before or found.so_far)
    changed = replace(found, segments=_with_change(found, plan, period, now))
    rule = found.seller_rule
    return PlanChangePrice(
        currency=rule.currency,
        tax_percent=f"{rule.tax_percent.normalize():f}",
        running=Amounts(period, _total(tenant, found), _total(tenant, changed)),
        fees=_fees(found, plan),
        last=_last_month(tenant, found, plan),
    )


def _with_change(found: Facts, plan: Plan, period: Period, now: datetime) -> tuple[Segment, ...]:
    """Return the segments of the running period if ``plan`` replaces the last one at ``now``."""
    *earlier, last = found.segments
    currency = found.seller_rule.currency
    until_now = last.period.clip(None, now)
    # Nothing is left of a plan that begins now.
    ended = [replace(last, period=until_now, runs_on=False)] if until_now else []
    rest = billing_inputs.segment(plan, Period(now, period.ends_at), currency, runs_on=True)
    return (*earlier, *ended, rest)


def _total(tenant: Tenant, found: Facts) -> int:
    rating = rated_period.rate(found, rated_period.from_copy(tenant.id)).rating
    return rating.net_minor + rating.tax_minor


def _fees(found: Facts, plan: Plan) -> Amounts:
    """Return the fees of the month after the running one, on either plan."""
    month = month_of(found.month.ends_at, found.time_zone)
    chosen = publishing.plan_in(plan, found.seller_rule.currency).monthly_fee_minor
    amounts = [
        fee + pricing.tax_on(fee, found.seller_rule).tax_minor
        for fee in (found.segments[-1].monthly_fee_minor, chosen)
    ]
    return Amounts(month, *amounts)


def _last_month(tenant: Tenant, found: Facts, plan: Plan) -> Amounts | None:
    """Return last month's price on either plan; None if the tenant used nothing in it."""
    # Any instant of the month before. A month begins at the end of the one before it.
    month = month_of(found.month.starts_at - timedelta(seconds=1), found.time_zone)
    known = KnownLifetimes.read(tenant, month)
    read = rated_period.from_copy(tenant.id)
    if not known.seconds and not read(month):
        return None
    whole = replace(
        found,
        period=month,
        month=month,
        lifetimes=known.lifetimes(found.seller_rule.currency),
        known_lifetimes=known,
        so_far=MonthSoFar(),
    )
    present = replace(found.segments[-1], period=month, runs_on=False)
    chosen = billing_inputs.segment(plan, month, found.seller_rule.currency, runs_on=False)
    totals = [_total(tenant, replace(whole, segments=(row,))) for row in (present, chosen)]
    return Amounts(month, *totals)
