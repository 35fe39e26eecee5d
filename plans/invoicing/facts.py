"""Gathers what an invoice is made of, apart from usage: who, which plans, what lived how long.

Rows in, plain values out. ``verify`` gathers the same facts again years later: from rows that never
change (plan versions, closed spans of subscriptions) and from what the manifest kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Q

from controlplane.core.errors import Conflict
from plans.invoicing import catalogue_prices, lived
from plans.invoicing.lived import Lived, SpaceFact
from plans.models import PlanSubscription
from plans.month_so_far import MonthSoFar
from plans.periods import Period, month_of
from plans.pricing import Lifetime, Segment, SellerRule
from tenants.models import Tenant


class NoSubscription(Conflict):
    """The tenant had no plan in the period, so there is nothing to bill by."""

    code = "invoice.no_plan"


@dataclass(frozen=True)
class Correction:
    """A month to price again with the usage of now, from the state ``before`` that is billed.

    ``number`` is its last invoice; ``n`` counts the corrections of the month from one on.
    """

    month: Period
    number: str
    n: int
    before: MonthSoFar


@dataclass(frozen=True)
class Facts:
    """All inputs of an invoice but its usage. ``segments`` are without usage.

    ``so_far`` is the state of the billing month before the period; ``corrections`` are what usage
    that landed late makes of it and of earlier months.
    """

    tenant_id: str
    period: Period
    month: Period
    time_zone: str
    buyer: Mapping[str, str]
    seller: Mapping[str, str]
    legal_entity: str
    seller_rule: SellerRule
    payment_days: int
    catalogue_number: int
    segments: tuple[Segment, ...]
    lifetimes: tuple[Lifetime, ...]
    lived: Lived
    so_far: MonthSoFar = field(default_factory=MonthSoFar)
    corrections: tuple[Correction, ...] = ()

    @property
    def spaces(self) -> tuple[SpaceFact, ...]:
        return self.lived.spaces

    def space_names(self) -> dict[str, str]:
        return {space.id: space.name for space in self.spaces}


@dataclass(frozen=True)
class Frozen:
    """What an existing invoice has pinned and new facts must use instead of today's."""

    buyer: Mapping[str, str]
    catalogue_number: int
    time_zone: str
    lived: Lived
    so_far: MonthSoFar
    corrections: tuple[Correction, ...]


def gather(
    tenant: Tenant, period: Period, *, until: datetime | None = None, frozen: Frozen | None = None
) -> Facts:
    """Return the facts of a tenant's period; lifetimes end at ``until`` at the latest (previews).

    Without ``frozen`` the month is as if it began with the period: see ``earlier``.

    Raises:
        NoSubscription: no plan was in force in any part of the period.
    """
    time_zone = frozen.time_zone if frozen else tenant.billing_time_zone
    seller = catalogue_prices.seller(frozen.catalogue_number if frozen else None)
    found = frozen.lived if frozen else lived.read(tenant, period, until)
    return Facts(
        tenant_id=tenant.id,
        period=period,
        month=month_of(period.starts_at, time_zone),
        time_zone=time_zone,
        buyer=frozen.buyer if frozen else buyer_of(tenant),
        seller=seller.printed,
        legal_entity=seller.key,
        seller_rule=seller.rule,
        payment_days=seller.payment_days,
        catalogue_number=seller.catalogue_number,
        segments=_segments(tenant, period),
        lifetimes=found.lifetimes(),
        lived=found,
        so_far=frozen.so_far if frozen else MonthSoFar(),
        corrections=frozen.corrections if frozen else (),
    )


def buyer_of(tenant: Tenant) -> dict[str, str]:
    """Return the billing details as they are now."""
    return {
        "organisation": tenant.name,
        "name": tenant.billing_name,
        "email": tenant.billing_email,
        "address": tenant.billing_address,
        "country": tenant.billing_country,
        "tax_id": tenant.tax_id,
    }


def _segments(tenant: Tenant, period: Period) -> tuple[Segment, ...]:
    subscriptions = (
        PlanSubscription.objects.filter(tenant=tenant, starts_at__lt=period.ends_at)
        .filter(Q(ends_at__isnull=True) | Q(ends_at__gt=period.starts_at))
        .select_related("plan")
        .order_by("starts_at")
    )
    found = []
    for subscription in subscriptions:
        span = period.clip(subscription.starts_at, subscription.ends_at)
        if span is not None:
            ends_at = subscription.ends_at
            runs_on = ends_at is None or ends_at > period.ends_at
            found.append(catalogue_prices.segment(subscription.plan, span, runs_on=runs_on))
    if not found:
        raise NoSubscription(
            "The tenant had no plan in this period: subscribe it to a plan, then close again."
        )
    return tuple(found)
