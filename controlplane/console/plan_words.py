"""Plans of all three kinds in words: what a card or a page says about one. Pure."""

from collections.abc import Sequence
from decimal import Decimal

from controlplane.console import charts
from plans import money
from plans.catalog import (
    AddressPlanDefinition,
    MeterPrice,
    PlanDefinition,
    SpacePlanDefinition,
)

_TYPES = {
    "queue": "Kept until one receiver takes it.",
    "topic": "Every subscriber gets a copy.",
    "subscription": "Keeps a topic's messages for a receiver that comes and goes.",
    "anycast": "Straight through to one of the receivers there now; not stored.",
    "multicast": "Straight through to every receiver there now; not stored.",
    "deadletter": "Where messages go that could not be delivered.",
}
_METERS = {
    "messages": "messages",
    "messages_in": "messages in",
    "messages_out": "messages out",
    "connection_ms": "connection hours",
    "peak_connections": "connections at the peak",
    "connections_opened": "connections opened",
    "stored_byte_ms": "GiB-hours of storage",
    "space_hours": "hours of spaces",
    "address_hours": "hours of addresses",
}
_BASE = {"connection_ms": 3_600_000, "stored_byte_ms": 3_600_000 * 2**30}
_HOURS = {"spaces": "space_hours", "addresses": "address_hours"}
_LONGEST_MONTH_HOURS = 31 * 24 + 1  # 31 days, and the hour that the end of summer time adds
_QUOTAS = ("spaces", "addresses", "members", "messages_per_month")


def type_words(address_type: str) -> str:
    """Return what an address type promises."""
    return _TYPES.get(address_type, "")


def lines(plan: PlanDefinition | SpacePlanDefinition | AddressPlanDefinition) -> list[str]:
    """Return what a plan gives, one short line each."""
    if isinstance(plan, PlanDefinition):
        return [*_quotas(plan), *_included(plan), *_prices(plan)]
    if isinstance(plan, SpacePlanDefinition):
        return [
            f"up to {plan.max_addresses:,} addresses",
            f"up to {plan.max_connections:,} connections",
            f"{plan.max_brokers} broker{'s' if plan.max_brokers > 1 else ''}"
            + (f", {plan.routers} router{'s' if plan.routers > 1 else ''}" if plan.routers else ""),
        ]
    return []


def hour_price(price: Decimal, currency: str) -> str:
    """Return an hourly price with its whole month of 730 hours: what a person can compare."""
    month = money.display(int((price * 730).scaleb(money.minor_digits(currency))), currency)
    return (
        f"{price.normalize():f} {currency} an hour, about {month} a month" if price else "no charge"
    )


def hours(
    plan: PlanDefinition,
    space_plans: Sequence[SpacePlanDefinition],
    address_plans: Sequence[AddressPlanDefinition],
) -> list[str]:
    """Return what spaces and addresses of the plan cost by the hour; nothing where they do not."""
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
    """Return whether the quota, used for the longest month, stays within the included hours."""
    quota, included = plan.quotas.get(name), plan.included.get(_HOURS[name], 0)
    return quota is not None and quota * _LONGEST_MONTH_HOURS <= included


def _quotas(plan: PlanDefinition) -> list[str]:
    words = {"messages_per_month": "messages a month"}
    return [
        f"{plan.quotas[name]:,} {words.get(name, name)}" for name in _QUOTAS if name in plan.quotas
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
    first = price.tiers[0]
    least = "from " if len(price.tiers) > 1 else ""
    shown = price.tiers[-1] if len(price.tiers) > 1 else first
    return f"{least}{shown.unit_price.normalize():f} {currency} per {price.unit}"
