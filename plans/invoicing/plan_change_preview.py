"""Prices a change of a tenant's plan before anybody makes the change. Writes nothing."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal

from plans.invoicing import (
    agreed_terms,
    billing_inputs,
    facts,
    month_before,
    open_periods,
    rated_period,
)
from plans.invoicing.agreed_terms import Agreed
from plans.invoicing.billing_inputs import KnownLifetimes
from plans.invoicing.facts import Facts
from plans.models import Plan
from plans.rating import money, pricing
from plans.rating.billable import Segment
from plans.rating.month_so_far import MonthSoFar
from plans.rating.periods import Period, month_of
from plans.rating.terms import DISCOUNT, Terms
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
class NextMonth(Amounts):
    """The month after the running one: its fee after discounts, and at least the agreed minimum.

    ``is_discounted``: discounts that are agreed for the month make the fee of the chosen plan
    lower. ``minimum_minor`` is what the tenant pays at least for the month, before tax; 0 if it has
    agreed on no minimum.
    """

    is_discounted: bool
    minimum_minor: int


@dataclass(frozen=True)
class PlanChangePrice:
    """What a change of plan now costs, with tax.

    * ``running``: the running period, with fees to its end and the usage and hours known so far.
    * ``fees``: the monthly fees without usage and hours, of the month after the running one, with
      the discounts and commitments of that month.
    * ``last``: last month as if each plan had been in force for the whole month, with the usage,
      the hours, the discounts and the commitments that it had. None if the tenant used nothing in
      it.
    """

    currency: str
    tax_percent: str
    running: Amounts
    fees: NextMonth
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
    before = month_before.read(tenant, period, found.month)
    found = replace(found, so_far=before.so_far)
    changed = replace(found, segments=_with_change(found, plan, period, now))
    rule = found.seller_rule
    return PlanChangePrice(
        currency=rule.currency,
        tax_percent=f"{rule.tax_percent.normalize():f}",
        running=Amounts(period, _total(tenant, found), _total(tenant, changed)),
        fees=_fees(tenant, found, plan),
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


def _fees(tenant: Tenant, found: Facts, plan: Plan) -> NextMonth:
    """Return the fees of the month after the running one, on either plan, with its terms."""
    month = month_of(found.month.ends_at, found.time_zone)
    rule = found.seller_rule
    terms = _terms(tenant, month, rule.currency)
    chosen = billing_inputs.segment(plan, month, rule.currency, runs_on=False)
    # Without rules, because nobody knows the usage of a month to come.
    present, then = (
        pricing.rate([replace(row, rules=())], [], rule, month, terms=terms)
        for row in (
            replace(found.segments[-1], period=month, runs_on=False, trial_seconds=0),
            chosen,
        )
    )
    minimum = sum((row.minimum(month, month.ends_at) for row in terms.commitments), Decimal(0))
    return NextMonth(
        month,
        present.net_minor + present.tax_minor,
        then.net_minor + then.tax_minor,
        is_discounted=any(line.kind == DISCOUNT for line in then.lines),
        minimum_minor=money.round_minor(minimum, rule.rounding),
    )


def _terms(tenant: Tenant, month: Period, currency: str) -> Terms:
    agreed = Agreed.read_each([tenant], month)[tenant.id]
    return agreed_terms.of_month(agreed, month, currency)


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
        terms=_terms(tenant, month, found.seller_rule.currency),
    )
    present = replace(found.segments[-1], period=month, runs_on=False)
    chosen = billing_inputs.segment(plan, month, found.seller_rule.currency, runs_on=False)
    totals = [_total(tenant, replace(whole, segments=(row,))) for row in (present, chosen)]
    return Amounts(month, *totals)
