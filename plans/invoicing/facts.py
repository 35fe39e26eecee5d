"""Gathers what an invoice is made of, apart from usage: who, which plans, what lived how long.

Rows in, plain values out; only rows that never change afterwards are read (plan versions, closed
spans), so that ``verify`` gathers the same facts again years later.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q

from controlplane.core.errors import Conflict
from plans.invoicing import catalogue_prices
from plans.models import PlanSubscription
from plans.periods import Period, month_of
from plans.pricing import Lifetime, Segment, SellerRule
from tenants.models import Address, AddressSpace, Tenant


class NoSubscription(Conflict):
    """The tenant had no plan in the period, so there is nothing to bill by."""

    code = "invoice.no_plan"


@dataclass(frozen=True)
class SpaceFact:
    """One space that existed in the period; ``alive`` is its Active span inside it."""

    id: str
    name: str
    type: str
    alive: Period | None


@dataclass(frozen=True)
class Facts:
    """All inputs of an invoice but its usage. ``segments`` are without usage."""

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
    spaces: tuple[SpaceFact, ...]

    def space_names(self) -> dict[str, str]:
        return {space.id: space.name for space in self.spaces}


@dataclass(frozen=True)
class Frozen:
    """What an existing invoice has pinned and new facts must use instead of today's."""

    buyer: Mapping[str, str]
    catalogue_number: int
    time_zone: str


def gather(
    tenant: Tenant, period: Period, *, until: datetime | None = None, frozen: Frozen | None = None
) -> Facts:
    """Return the facts of a tenant's period; lifetimes end at ``until`` at the latest (previews).

    Raises:
        NoSubscription: no plan was in force in any part of the period.
    """
    time_zone = frozen.time_zone if frozen else tenant.billing_time_zone
    seller = catalogue_prices.seller(frozen.catalogue_number if frozen else None)
    lived = period.clip(None, until) if until else period
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
        lifetimes=_lifetimes(tenant, lived) if lived else (),
        spaces=_spaces(tenant, period),
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
            found.append(catalogue_prices.segment(subscription.plan, span))
    if not found:
        raise NoSubscription(
            "The tenant had no plan in this period: subscribe it to a plan, then close again."
        )
    return tuple(found)


def _lifetimes(tenant: Tenant, period: Period) -> tuple[Lifetime, ...]:
    spaces = _alive(AddressSpace.objects.filter(tenant=tenant), period).select_related("space_plan")
    addresses = _alive(Address.objects.filter(space__tenant=tenant), period)
    found = [
        catalogue_prices.space_lifetime(space.space_plan, space.id, _span(space, period))
        for space in spaces
    ] + [
        catalogue_prices.address_lifetime(
            address.address_plan, address.space_id, _span(address, period)
        )
        for address in addresses.select_related("address_plan")
    ]
    return tuple(lifetime for lifetime in found if lifetime is not None)


def _spaces(tenant: Tenant, period: Period) -> tuple[SpaceFact, ...]:
    rows = AddressSpace.objects.filter(tenant=tenant, created_at__lt=period.ends_at).filter(
        Q(deleted_at__isnull=True) | Q(deleted_at__gt=period.starts_at)
    )
    return tuple(
        SpaceFact(row.id, row.name, row.type, _clipped(row, period)) for row in rows.order_by("id")
    )


def _alive(rows: Any, period: Period) -> Any:
    return (
        rows.filter(active_since__lt=period.ends_at)
        .filter(Q(deleted_at__isnull=True) | Q(deleted_at__gt=period.starts_at))
        .order_by("id")
    )


def _clipped(row: AddressSpace | Address, period: Period) -> Period | None:
    return period.clip(row.active_since, row.deleted_at) if row.active_since else None


def _span(row: AddressSpace | Address, period: Period) -> Period:
    span = _clipped(row, period)
    return span or period
