"""Reads the plans on offer, and the space and address plans that a tenant may choose from.

The cheapest plans and the first types come first, because forms select the first choice by default.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from controlplane.console import plan_descriptions
from plans.catalog import publishing
from plans.catalog.definitions import (
    AddressPlanDefinition,
    Catalog,
    PlanDefinition,
    SpacePlanDefinition,
)
from plans.quotas.resources import Resource
from tenants import admission, space_types
from tenants.models import AddressSpace, AddressType, SpaceType, Tenant

# Pages list types in the order of the enumerations.
_SPACE_TYPES = list(SpaceType.values)
_ADDRESS_TYPES = list(AddressType.values)


@dataclass(frozen=True)
class Offer:
    """A plan of the published catalog, for a card that offers it.

    ``hours`` are texts with the lowest hourly prices of spaces and addresses on this plan.
    ``lowest`` has these prices as numbers; what the plan does not sell has none.
    """

    plan: PlanDefinition
    hours: Sequence[str] = ()
    lowest: Mapping[Resource, Decimal] = field(default_factory=dict)


def offered(currency: str = "") -> list[Offer]:
    """Return the plans of the newest published catalog, lowest monthly fee first.

    ``currency`` is that of the prices; empty: the one of the main seller.

    Raises:
        Missing: no catalog is published.
        NotPriced: the catalog has no prices in ``currency``.
    """
    sold = publishing.current()
    plans = [plan.in_currency(currency or sold.seller.currency) for plan in sold.plans]
    return [_offer(sold, plan) for plan in sorted(plans, key=lambda p: p.monthly_fee_minor)]


def of_version(plan: PlanDefinition) -> Offer:
    """Return a plan that need not be on offer any more, with the present hourly prices.

    New spaces and addresses have these prices on each version of a plan.

    Raises:
        Missing: no catalog is published.
    """
    return _offer(publishing.current(), plan)


def _offer(sold: Catalog, plan: PlanDefinition) -> Offer:
    space_plans = [row.in_currency(plan.currency) for row in sold.space_plans]
    address_plans = [row.in_currency(plan.currency) for row in sold.address_plans]
    spaces = [row.hour_price for row in space_plans if row.key in plan.space_plans]
    addresses = [row.hour_price for row in address_plans if row.key in plan.address_plans]
    return Offer(
        plan,
        plan_descriptions.hours(plan, space_plans, address_plans),
        {
            resource: min(prices)
            for resource, prices in ((Resource.SPACES, spaces), (Resource.ADDRESSES, addresses))
            if prices
        },
    )


def hour_prices(
    tenant: Tenant,
    resource: Resource,
    offered: Sequence[SpacePlanDefinition] | Sequence[AddressPlanDefinition],
) -> dict[str, str]:
    """Return {key: what an hour costs the tenant, as text} of space plans or address plans.

    ``resource`` is SPACES for space plans and ADDRESSES for address plans. The text is ``Included
    in your plan`` if the plan's included hours cover all that the tenant may have.

    Raises:
        NoPlan: the tenant has no open subscription.
    """
    plan = admission.plan_of(tenant)
    # An override may allow more than the included hours cover.
    plan = replace(plan, quotas=admission.in_force(tenant, plan))
    return {
        row.key: plan_descriptions.hour_price_on(plan, resource, row.hour_price) for row in offered
    }


def space_plans(tenant: Tenant) -> list[SpacePlanDefinition]:
    """Return the published space plans that the tenant's plan allows.

    They are sorted by space type and hourly price. Plans of space types that this installation
    cannot run are left out.

    Raises:
        NoPlan: the tenant has no open subscription.
    """
    sold, types = admission.plan_of(tenant), space_types.offered()
    allowed = sold.space_plans
    found = [
        plan.in_currency(sold.currency)
        for plan in publishing.current().space_plans
        if plan.key in allowed and plan.space_type in types
    ]
    return sorted(found, key=lambda p: (_SPACE_TYPES.index(p.space_type), p.hour_price))


def address_plans(space: AddressSpace) -> list[AddressPlanDefinition]:
    """Return the published address plans that the plan of the space's tenant allows in ``space``.

    They are for the type of ``space``, sorted by address type and hourly price.

    Raises:
        NoPlan: the tenant has no open subscription.
    """
    sold = admission.plan_of(space.tenant)
    allowed = sold.address_plans
    found = [
        plan.in_currency(sold.currency)
        for plan in publishing.current().address_plans
        if plan.key in allowed and plan.space_type == space.type
    ]
    return sorted(found, key=lambda p: (_ADDRESS_TYPES.index(p.address_type), p.hour_price))
