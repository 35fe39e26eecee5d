"""Texts that describe plans, space plans and address plans on pages. Pure."""

from collections.abc import Sequence
from decimal import Decimal

from controlplane.console import charts
from controlplane.core import address_types
from plans.catalog.definitions import (
    AddressPlanDefinition,
    MeterPrice,
    PlanDefinition,
    SpacePlanDefinition,
)
from plans.rating import money
from plans.usage import meters

_METERS = {meter.slug: meter.plan_text for meter in meters.REGISTRY}
_BASE = {meter.slug: meter.base_per_unit for meter in meters.REGISTRY if meter.base_per_unit > 1}
_HOURS = {"spaces": "space_hours", "addresses": "address_hours"}
_LONGEST_MONTH_HOURS = 31 * 24 + 1  # 31 days, and the hour that the end of summer time adds
_QUOTAS = ("spaces", "addresses", "members", "messages_per_month")


def type_words(address_type: str) -> str:
    """Return how messages of this address type are delivered, or '' for an unknown type."""
    row = address_types.BY_SLUG.get(address_type)
    return row.help_text if row else ""


def lines(plan: PlanDefinition | SpacePlanDefinition | AddressPlanDefinition) -> list[str]:
    """Return the limits, included usage and prices of a plan, one short line each."""
    if isinstance(plan, PlanDefinition):
        return [*_quotas(plan), *_included(plan), *_prices(plan)]
    if isinstance(plan, SpacePlanDefinition):
        return [
            f"up to {plan.max_addresses:,} addresses",
            f"up to {plan.max_connections:,} connections"
            + (" at each router" if plan.routers > 1 else ""),
            f"{plan.max_brokers} broker{'s' if plan.max_brokers > 1 else ''}"
            + (f", {plan.routers} router{'s' if plan.routers > 1 else ''}" if plan.routers else ""),
        ]
    return []  # the address form shows an address plan's type and hourly price instead


def hour_price(price: Decimal, currency: str) -> str:
    """Return an hourly price and, for comparison, the price of a month of 730 hours."""
    month = money.display(int((price * 730).scaleb(money.minor_digits(currency))), currency)
    return (
        f"{price.normalize():f} {currency} an hour, about {month} a month" if price else "no charge"
    )


def hours(
    plan: PlanDefinition,
    space_plans: Sequence[SpacePlanDefinition],
    address_plans: Sequence[AddressPlanDefinition],
) -> list[str]:
    """Return the lowest hourly prices of spaces and addresses that ``plan`` allows.

    A kind is left out when it is free or when the included hours cover the quota.
    """
    sold = {
        "spaces": [p.hour_price for p in space_plans if p.key in plan.space_plans],
        "addresses": [p.hour_price for p in address_plans if p.key in plan.address_plans],
    }
    return [
        f"{name} from {min(prices).normalize():f} {plan.currency} an hour"
        + (" beyond those included" if _HOURS[name] in plan.included else "")
        for name, prices in sold.items()
        if any(prices) and not _includes_all(plan, name)
    ]


def _includes_all(plan: PlanDefinition, name: str) -> bool:
    """Return whether the included hours cover the full quota during the longest month."""
    quota, included = plan.quotas.get(name), plan.included.get(_HOURS[name], 0)
    return quota is not None and quota * _LONGEST_MONTH_HOURS <= included


def _quotas(plan: PlanDefinition) -> list[str]:
    titles = {"messages_per_month": "messages a month"}
    return [
        f"{plan.quotas[name]:,} {titles.get(name, name)}" for name in _QUOTAS if name in plan.quotas
    ]


def _included(plan: PlanDefinition) -> list[str]:
    return [
        f"{_shown(amount, meter)} {_METERS.get(meter, meter)} included"
        for meter, amount in plan.included.items()
    ]


def _shown(amount: int, meter: str) -> str:
    return charts.words(Decimal(amount) / _BASE.get(meter, 1))


def _prices(plan: PlanDefinition) -> list[str]:
    return [_price(price, plan.currency) for price in plan.prices.values()]


def _price(price: MeterPrice, currency: str) -> str:
    # The lowest price of all tiers: the catalog does not require prices to fall from tier to tier.
    unit_prices = {tier.unit_price for tier in price.tiers}
    least = "from " if len(unit_prices) > 1 else ""
    return f"{least}{min(unit_prices).normalize():f} {currency} per {price.unit}"
