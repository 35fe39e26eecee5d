"""Computes a tenant's use and limit of each monthly quota, and of its spend cap.

Pages, the API, alerts and enforcement call this module, so all of them show and compare the same
numbers. A use has two parts: what the copy of gold in PostgreSQL has, and the tail, which is
sampled but not in the copy yet.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import Exists, Max

from controlplane.core.errors import WaypostError
from plans.catalog import publishing
from plans.catalog.definitions import THROTTLE_PERCENT, PlanDefinition
from plans.invoicing import corrections, previewing
from plans.invoicing.billing_inputs import KnownLifetimes
from plans.models import (
    CreditNote,
    Invoice,
    PlanSubscription,
    QuotaAlert,
    QuotaOverride,
    SpendCap,
)
from plans.quotas import checks
from plans.quotas.resources import METERED, SPEND, AtQuota
from plans.rating.periods import Period, month_of
from plans.usage import reading
from plans.usage.meters import DERIVED, LIFETIMES
from tenants.models import Tenant


@dataclass(frozen=True)
class Use:
    """What is used of a meter in a month, in its base unit; of money in minor units.

    ``landed`` is from the copy of gold, ``tail`` is what is counted but not in it yet.
    """

    landed: int = 0
    tail: int = 0

    @property
    def total(self) -> int:
        return self.landed + self.tail


@dataclass(frozen=True)
class MonthUse:
    """A tenant's use in a billing month.

    * ``by_meter``: the use of every meter of the registry, of kinds SUM and LIFETIME too.
    * ``as_of``: the time up to which the landed part is complete; None before the first copy.
    * ``sampled_at``: when the tail was counted; None without a tail.
    """

    month: Period
    by_meter: Mapping[str, Use]
    as_of: datetime | None
    sampled_at: datetime | None


@dataclass(frozen=True)
class Standing:
    """A tenant's use and limit of one monthly quota in ``period``, a billing month.

    ``resource`` is a metered ``Resource``, or SPEND. ``limit`` None: unlimited. ``at_quota`` is
    what happens at 100 % (a value of ``AtQuota``). ``currency``: of amounts of money, else empty.
    """

    resource: str
    period: Period
    use: Use
    limit: int | None
    at_quota: str
    currency: str = ""

    @property
    def used(self) -> int:
        return self.use.total

    def has_reached(self, level_percent: int) -> bool:
        # Without a division, so that rounding reaches no level.
        return self.limit is not None and self.used * 100 >= self.limit * level_percent

    @property
    def restriction(self) -> AtQuota:
        """What the quota demands now; NOTIFY restricts nothing."""
        return AtQuota(self.at_quota) if self.has_reached(100) else AtQuota.NOTIFY


def month_use(tenant: Tenant, now: datetime) -> MonthUse:
    """Return the tenant's use in its billing month at ``now``. A constant number of queries."""
    month = month_of(now, tenant.billing_time_zone)
    landed = reading.totals(tenant.id, month.starts_at, month.ends_at)
    tail = reading.tail(tenant.id, month.starts_at, month.ends_at)
    by_meter = {meter: Use(n, tail.quantities.get(meter, 0)) for meter, n in landed.items()}
    for meter, parts in DERIVED.items():
        by_meter[meter] = Use(
            sum(by_meter[part].landed for part in parts), sum(by_meter[part].tail for part in parts)
        )
    seconds = dict.fromkeys(LIFETIMES, 0)
    for key, (active, _) in KnownLifetimes.read(tenant, month, until=now).seconds.items():
        seconds[key.meter] += active
    by_meter |= {meter: Use(active // 3600) for meter, active in seconds.items()}
    return MonthUse(month, by_meter, reading.as_of(), tail.sampled_at)


def of_tenant(tenant: Tenant, now: datetime, *, with_money: bool = True) -> list[Standing]:
    """Return the standing of every monthly quota, and of the tenant's spend cap if it has one.

    Reads only. Without an open subscription there is no limit but the cap. ``with_money`` False
    leaves the cap out.
    """
    plan = _plan(tenant)
    use = month_use(tenant, now)
    limits = (
        checks.effective(plan, QuotaOverride.objects.filter(tenant=tenant), now) if plan else {}
    )
    at_quota = plan.at_quota if plan else AtQuota.NOTIFY
    found = [
        Standing(resource, use.month, use.by_meter[meter], limits.get(resource), at_quota)
        for resource, meter in METERED.items()
    ]
    cap = SpendCap.objects.filter(tenant=tenant).first() if with_money else None
    if cap is not None:
        used = spend(tenant, use.month, now)
        used = replace(used, landed=max(used.landed, _known_spend(tenant, use.month)))
        found.append(Standing(SPEND, use.month, used, cap.amount_minor, cap.action, cap.currency))
    return found


def throttle_percent(tenant: Tenant) -> int:
    """Return what is left of its space plans' limits while the tenant is throttled, in percent."""
    plan = _plan(tenant)
    return plan.throttle_percent if plan else THROTTLE_PERCENT


def spend(tenant: Tenant, month: Period, now: datetime) -> Use:
    """Return what ``month``, the running one, costs so far, with tax and with the fee of the plan.

    ``landed`` has the invoices of the month, less their credit notes, and the running period; of a
    closing or held invoice, what it comes to with the usage known now.
    ``tail`` is what usage that is not in the copy of gold yet adds. If the running period cannot be
    priced, only the invoices count.
    """
    issued = Invoice.objects.filter(
        tenant=tenant, starts_at__gte=month.starts_at, ends_at__lte=month.ends_at
    )
    # What a credit note took back, it does not cost.
    back = CreditNote.objects.filter(invoice__in=issued).values_list("total_minor", flat=True)
    priced = issued.exclude(state__in=corrections.UNPRICED)
    before = sum(priced.values_list("total_minor", flat=True)) - sum(back)
    try:
        preview = previewing.preview(tenant, now)
    except WaypostError:  # such as no subscription
        return Use(before)
    tail = reading.tail(tenant.id, month.starts_at, month.ends_at)
    whole = previewing.total_with(preview, tail.figures())
    # By tiers of volume, more usage may cost less.
    before += preview.estimated_minor
    return Use(before + preview.total_minor, max(0, whole - preview.total_minor))


def _known_spend(tenant: Tenant, month: Period) -> int:
    """Return the largest spend of the month's open alerts while an invoice is closing or held.

    0 if the month has no such invoice, or no open alert of the spend cap. What such an invoice
    comes to is an estimate. Without this, closing a part of a month could lift a cap that is
    reached.
    """
    waiting = Invoice.objects.filter(
        tenant=tenant,
        starts_at__gte=month.starts_at,
        ends_at__lte=month.ends_at,
        state__in=corrections.UNPRICED,
    )
    alerts = QuotaAlert.objects.filter(
        Exists(waiting),
        tenant=tenant,
        resource=SPEND,
        period_starts_at=month.starts_at,
        lifted_at__isnull=True,
    )
    return alerts.aggregate(used=Max("used"))["used"] or 0


def _plan(tenant: Tenant) -> PlanDefinition | None:
    subscription = (
        PlanSubscription.objects.filter(tenant=tenant, ends_at__isnull=True)
        .select_related("plan")
        .first()
    )
    return publishing.plan_definition(subscription.plan) if subscription else None
