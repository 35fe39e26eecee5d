"""Returns texts about plans, space plans, address plans, and space and address types. Pure."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple, Protocol

from controlplane.console import charts
from controlplane.console.formats import AT_QUOTA
from controlplane.core import address_types
from plans.catalog import price_texts
from plans.catalog.definitions import (
    AddressPlanDefinition,
    PlanDefinition,
    SpacePlanDefinition,
)
from plans.quotas.resources import METERED, Resource
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
# The limits that the table of plans compares.
_COMPARED = {
    Resource.MESSAGES_PER_MONTH: "Messages a month",
    Resource.SPACES: "Spaces",
    Resource.ADDRESSES: "Addresses",
    Resource.USERS: "Messaging users",
    Resource.MEMBERS: "Members",
    Resource.API_TOKENS: "API tokens",
}


class ComparedRow(NamedTuple):
    """One row of a table that compares plans: what it compares, and a text for each plan."""

    title: str
    texts: Sequence[str]


class PricedMeter(NamedTuple):
    """A meter in the table of prices: the plan that prices it, and the title of the meter."""

    plan: PlanDefinition
    title: str
    steps: Sequence[price_texts.Step]


class Comparable(Protocol):
    """A plan on offer, with the lowest hourly price of its spaces and of its addresses."""

    @property
    def plan(self) -> PlanDefinition: ...

    @property
    def lowest(self) -> Mapping[Resource, Decimal]: ...


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
      the lines of ``sizes``. ``client_limits`` has the rest.
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
        prices = (price_texts.line(m, price, plan.currency) for m, price in plan.prices.items())
        return [*quotas, *included, *prices]
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
    """Return lines about a space plan: memory and disk of each broker, the largest message."""
    disk = f" and {plan.broker_disk_gb:,} GiB of disk" if plan.broker_disk_gb else ""
    return [
        f"{plan.broker_memory_mb:,} MiB of memory{disk} for each broker"
        if plan.broker_persistent
        else f"{plan.broker_memory_mb:,} MiB of memory for each broker and no disk: messages are "
        "lost when a broker restarts",
        *([f"messages of up to {plan.max_message_kb:,} KiB"] if plan.max_message_kb else []),
    ]


def client_limits(plan: SpacePlanDefinition) -> list[str]:
    """Return lines about what a space plan allows each user, connection and network address.

    The last line names the limits that the plan does not have, if there are any.
    """
    limits = {
        "connections of each user": plan.max_user_connections,
        "connections from each network address": plan.max_source_connections,
        "sessions in each connection": plan.max_connection_sessions,
        "senders in each connection": plan.max_connection_senders,
        "receivers in each connection": plan.max_connection_receivers,
        "messages a second from each connection": plan.max_connection_rate,
        "messages a second from each user": plan.max_user_rate,
    }
    missing = [words for words, limit in limits.items() if limit is None]
    return [
        *(f"up to {limit:,} {words}" for words, limit in limits.items() if limit is not None),
        *([f"no limit for {', '.join(missing)}"] if missing else []),
    ]


def hour_price(price: Decimal, currency: str) -> str:
    """Return an hourly price as text, with the price of 730 hours, a month; 0 is ``no charge``."""
    month = money.display(int((price * 730).scaleb(money.minor_digits(currency))), currency)
    return (
        f"{price.normalize():f} {currency} an hour, about {month} a month" if price else "no charge"
    )


def hour_price_on(plan: PlanDefinition, resource: Resource, price: Decimal) -> str:
    """Return what an hour of a space or an address costs a tenant on ``plan``, as text.

    ``resource`` is SPACES or ADDRESSES, ``price`` the hourly price. Where the hours that the plan
    includes cover its full quota, the text is ``Included in your plan``.
    """
    if not price:
        return "No charge"
    if includes_all(plan, resource):
        return "Included in your plan"
    included = plan.included.get(_HOURS[resource], 0)
    beyond = f", beyond the {included:,} hours a month in your plan" if included else ""
    return f"{hour_price(price, plan.currency)}{beyond}"


def comparison(offers: Sequence[Comparable]) -> list[ComparedRow]:
    """Return the rows of a table that compares plans, with one column for each of ``offers``.

    The rows of the fee, of limits and of hourly prices are always there. Rows of included usage, of
    prices of meters and of what happens at a monthly limit are left out if no plan has a value.
    """
    plans = [offer.plan for offer in offers]
    currency = plans[0].currency if plans else ""
    fees = [
        money.display(plan.monthly_fee_minor, plan.currency) if plan.monthly_fee_minor else "none"
        for plan in plans
    ]
    rows = [ComparedRow("Monthly fee", fees)]
    for resource, words in _COMPARED.items():
        limits = [plan.quotas.get(resource) for plan in plans]
        texts = ["no limit" if limit is None else f"{limit:,}" for limit in limits]
        rows.append(ComparedRow(words, texts))
    for meter in meters.REGISTRY:
        amounts = [plan.included.get(meter.slug) for plan in plans]
        if any(amounts):
            size = _BASE.get(meter.slug, 1)
            texts = [charts.words(Decimal(n) / size) if n else "none" for n in amounts]
            rows.append(ComparedRow(f"Included {meter.plan_text}", texts))
    for meter in meters.REGISTRY:
        prices = [plan.prices.get(meter.slug) for plan in plans]
        if any(prices):
            texts = [
                price_texts.line(meter.slug, price, currency) if price else "none"
                for price in prices
            ]
            rows.append(ComparedRow(f"Price: {meter.plan_text}", texts))
    rows += _hour_rows(offers)
    limited = [plan for plan in plans if METERED.keys() & plan.quotas.keys()]
    if limited:
        texts = [AT_QUOTA[plan.at_quota] if plan in limited else "none" for plan in plans]
        rows.append(ComparedRow("At a monthly limit", texts))
    return rows


def _hour_rows(offers: Sequence[Comparable]) -> list[ComparedRow]:
    """Return the rows of the lowest prices of an hour of a space and of an address."""
    found = []
    for resource, words in ((Resource.SPACES, "A space"), (Resource.ADDRESSES, "An address")):
        texts = []
        for offer in offers:
            lowest = offer.lowest.get(resource)
            if lowest is None:
                texts.append("not on offer")
            elif not lowest:
                texts.append("no charge")
            elif includes_all(offer.plan, resource):
                texts.append("included")
            else:
                texts.append(f"from {lowest.normalize():f} {offer.plan.currency} an hour")
        found.append(ComparedRow(words, texts))
    return found


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


def priced_meters(offers: Sequence[Comparable]) -> list[PricedMeter]:
    """Return what each part of a month's usage costs, of each meter that each plan prices."""
    return [
        PricedMeter(plan, meter.title, price_texts.steps(meter.slug, price, included, currency))
        for plan, currency in ((offer.plan, offer.plan.currency) for offer in offers)
        for meter in meters.REGISTRY
        if (price := plan.prices.get(meter.slug))
        for included in [plan.included.get(meter.slug, 0)]
    ]
