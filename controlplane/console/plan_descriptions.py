"""Returns texts about plans, space plans, address plans, and space and address types. Pure."""

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
from plans.quotas.resources import Resource
from plans.rating import money
from plans.usage import meters

_METERS = {meter.slug: meter.plan_text for meter in meters.REGISTRY}
_BASE = {meter.slug: meter.base_per_unit for meter in meters.REGISTRY if meter.base_per_unit > 1}
_HOURS = {Resource.SPACES: meters.SPACE_HOURS, Resource.ADDRESSES: meters.ADDRESS_HOURS}
_LONGEST_MONTH_HOURS = 31 * 24 + 1  # 31 days, and the hour that the end of summer time adds
# The quotas that a plan's card shows: those by which people choose. All would be too many.
_ON_CARDS = {
    Resource.SPACES: "spaces",
    Resource.ADDRESSES: "addresses",
    Resource.MEMBERS: "members",
    Resource.MESSAGES_PER_MONTH: "messages a month",
}


def type_words(address_type: str) -> str:
    """Return how messages of this address type are delivered, or '' for an unknown type."""
    row = address_types.BY_SLUG.get(address_type)
    return row.help_text if row else ""


def space_type_words(space_type: str) -> str:
    """Return what a space of this type is, and the address types that it offers."""
    offered = ", ".join(address_types.offered_in(space_type))
    return f"{address_types.SPACE_TYPES[space_type]} Address types: {offered}."


def lines(plan: PlanDefinition | SpacePlanDefinition | AddressPlanDefinition) -> list[str]:
    """Return short lines about a plan for its card.

    * For a plan: main limits, included usage, prices of meters.
    * For a space plan: the most addresses and connections, the numbers of brokers and routers, and
      the lines of ``sizes``.
    * For an address plan: its number of partitions if it has several, else no line.
    """
    if isinstance(plan, PlanDefinition):
        quotas = [
            f"{plan.quotas[name]:,} {words}"
            for name, words in _ON_CARDS.items()
            if name in plan.quotas
        ]
        included = [
            f"{charts.words(Decimal(amount) / _BASE.get(meter, 1))} {_METERS[meter]} included"
            for meter, amount in plan.included.items()
        ]
        return [*quotas, *included, *(price_words(p, plan.currency) for p in plan.prices.values())]
    if isinstance(plan, SpacePlanDefinition):
        return [
            f"up to {plan.max_addresses:,} addresses",
            f"up to {plan.max_connections:,} connections"
            + (" at each router" if plan.routers > 1 else ""),
            f"{plan.max_brokers} broker{'s' if plan.max_brokers > 1 else ''}"
            + (f", {plan.routers} router{'s' if plan.routers > 1 else ''}" if plan.routers else ""),
            *sizes(plan),
        ]
    if plan.partitions > 1:
        return [f"spread over {plan.partitions} brokers, without order across them"]
    return []  # the address form shows an address plan's type and hourly price instead


def sizes(plan: SpacePlanDefinition) -> list[str]:
    """Return lines about a space plan: memory and disk of each broker, then limits of clients.

    A limit that the plan does not have has no line.
    """
    disk = f" and {plan.broker_disk_gb:,} GiB of disk" if plan.broker_disk_gb else ""
    limits = {
        "messages of up to {:,} KiB": plan.max_message_kb,
        "up to {:,} connections of each user": plan.max_user_connections,
        "up to {:,} sessions in each connection": plan.max_connection_sessions,
        "up to {:,} senders in each connection": plan.max_connection_senders,
        "up to {:,} receivers in each connection": plan.max_connection_receivers,
        "up to {:,} messages a second from each connection": plan.max_connection_rate,
        "up to {:,} messages a second from each user": plan.max_user_rate,
    }
    return [
        f"{plan.broker_memory_mb:,} MiB of memory{disk} for each broker"
        if plan.broker_persistent
        else f"{plan.broker_memory_mb:,} MiB of memory for each broker and no disk: messages are "
        "lost when a broker restarts",
        *(words.format(limit) for words, limit in limits.items() if limit is not None),
    ]


def hour_price(price: Decimal, currency: str) -> str:
    """Return an hourly price as text, with the price of 730 hours, a month; 0 is ``no charge``."""
    month = money.display(int((price * 730).scaleb(money.minor_digits(currency))), currency)
    return (
        f"{price.normalize():f} {currency} an hour, about {month} a month" if price else "no charge"
    )


def hours(
    plan: PlanDefinition,
    space_plans: Sequence[SpacePlanDefinition],
    address_plans: Sequence[AddressPlanDefinition],
) -> list[str]:
    """Return a line with the lowest hourly price of a space on ``plan``, and one of an address.

    Of ``space_plans`` and ``address_plans``, only those that ``plan`` allows count. A line is left
    out if all these are free, or if the hours that ``plan`` includes cover its full quota.
    """
    sold = {
        Resource.SPACES: [p.hour_price for p in space_plans if p.key in plan.space_plans],
        Resource.ADDRESSES: [p.hour_price for p in address_plans if p.key in plan.address_plans],
    }
    return [
        f"{name} from {min(prices).normalize():f} {plan.currency} an hour"
        + (" beyond those included" if _HOURS[name] in plan.included else "")
        for name, prices in sold.items()
        if any(prices) and not includes_all(plan, name)
    ]


def includes_all(plan: PlanDefinition, resource: Resource) -> bool:
    """Return whether the hours that ``plan`` includes cover its full quota in any month.

    ``resource`` is SPACES or ADDRESSES. Without a quota for it, the result is False.
    """
    quota, included = plan.quotas.get(resource), plan.included.get(_HOURS[resource], 0)
    return quota is not None and quota * _LONGEST_MONTH_HOURS <= included


def price_words(price: MeterPrice, currency: str) -> str:
    """Return a meter's price as one line: ``from 0.02 EUR per 1,000 messages``.

    The line names the lowest price of all tiers; "from" stands in front if the tiers differ.
    """
    # ``min`` and not the last tier: the catalog does not require falling prices.
    unit_prices = {tier.unit_price for tier in price.tiers}
    least = "from " if len(unit_prices) > 1 else ""
    return f"{least}{min(unit_prices).normalize():f} {currency} per {price.unit}"
