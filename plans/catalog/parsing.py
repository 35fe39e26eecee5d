"""Parses and validates the YAML of a catalog and returns its canonical document.

The canonical document contains every field, defaults included, as JSON values; decimals are text.
So its digest and the stored definitions do not depend on how the YAML was written. One pass finds
all mistakes. Only ``publishing`` calls it.
"""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from itertools import pairwise
from typing import Any

from controlplane.core import address_types
from controlplane.core.address_types import Whole
from controlplane.core.errors import Invalid
from plans.catalog import config_nodes, definitions
from plans.catalog.config_nodes import ConfigNode
from plans.catalog.definitions import MAX_ROUTERS, Catalog
from plans.quotas.resources import TENANT_RESOURCES
from plans.rating import money
from plans.rating.money import Rounding
from plans.usage import meters
from plans.usage.meters import Model

KEY = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
METERS = (*meters.DERIVED, *meters.METERS)
QUOTAS = tuple(resource.value for resource in TENANT_RESOURCES)
AT_QUOTA = ("notify", "withdraw_send")
WHOLE_BROKER = 1000  # credits are thousandths of a broker
_ONE_TIER = (Model.FLAT, Model.UNIT, Model.PACKAGE)
_SMALLEST_BROKER_MB = 64

Definition = dict[str, Any]


def parse(text: str) -> Catalog:
    """Return the catalog of a YAML document.

    Raises:
        CatalogInvalid: not YAML, or a rule is broken; names line and field of every mistake.
    """
    return definitions.from_document(canonical(text))


def canonical(text: str) -> dict[str, Any]:
    """Return the canonical document of a YAML text; raise CatalogInvalid on mistakes."""
    root = config_nodes.root(text)
    at = root.fields("seller", "space_plans", "address_plans", "plans")
    seller = _seller(at["seller"])
    space_plans = _section(at["space_plans"], _space_plan)
    address_plans = _section(at["address_plans"], _address_plan)

    def plan(config_node: ConfigNode) -> Definition:
        # References are checked against the keys in this document, so plans are read last.
        found = _plan(config_node, set(space_plans), set(address_plans))
        return {**found, "currency": seller["currency"]}  # a plan row stores its own currency

    plans = _section(at["plans"], plan)
    root.problems.refuse()
    return {
        "seller": seller,
        "space_plans": space_plans,
        "address_plans": address_plans,
        "plans": plans,
    }


def _section(
    config_node: ConfigNode, read: Callable[[ConfigNode], Definition]
) -> dict[str, Definition]:
    found = {}
    for key, at in config_node.entries():
        if not re.fullmatch(KEY, key):
            at.wrong("has a key that is not 1 to 63 lower-case letters, digits and inner hyphens")
        found[key] = read(at)
    if not found:
        config_node.wrong("must have at least one entry")
    return found


def _seller(config_node: ConfigNode) -> Definition:
    at = config_node.fields(
        "key",
        "name",
        "address",
        "country",
        "tax_id",
        "currency",
        "rounding",
        "tax_percent",
        "payment_days",
    )
    return {
        "key": at["key"].matching(KEY, "must be lower-case letters, digits and inner hyphens"),
        "name": at["name"].text(),
        "address": at["address"].text(longest=1000),
        "country": at["country"].matching("[A-Z]{2}", "must be two capital letters (ISO 3166-1)"),
        "tax_id": at["tax_id"].optional(lambda it: it.text(longest=60, empty=True), ""),
        "currency": _currency(at["currency"]),
        "rounding": at["rounding"].one_of([rounding.value for rounding in Rounding]),
        "tax_percent": at["tax_percent"].decimal(largest=Decimal(100)),
        "payment_days": at["payment_days"].optional(lambda it: it.whole(largest=365), 14),
    }


def _currency(config_node: ConfigNode) -> str:
    code = config_node.text(longest=3)
    try:
        money.minor_digits(code)
    except Invalid:
        config_node.wrong("must be an ISO 4217 currency code such as EUR")
    return code


def _plan(config_node: ConfigNode, space_plans: set[str], address_plans: set[str]) -> Definition:
    at = config_node.fields(
        "title",
        "monthly_fee_minor",
        "included",
        "prices",
        "quotas",
        "at_quota",
        "space_plans",
        "address_plans",
    )
    return {
        "title": at["title"].text(longest=100),
        "monthly_fee_minor": at["monthly_fee_minor"].whole(),
        "included": _counts(at["included"], (*METERS, *meters.LIFETIMES)),
        "prices": _prices(at["prices"]),
        "quotas": _counts(at["quotas"], QUOTAS),
        "at_quota": at["at_quota"].one_of(AT_QUOTA),
        "space_plans": _references(at["space_plans"], space_plans),
        "address_plans": _references(at["address_plans"], address_plans),
    }


def _counts(config_node: ConfigNode, known: tuple[str, ...]) -> dict[str, int]:
    entries = config_node.entries()
    for name, at in entries:
        _require_known(name, at, known)
    return {name: at.whole() for name, at in entries}


def _prices(config_node: ConfigNode) -> dict[str, Definition]:
    entries = config_node.entries()
    for meter, at in entries:
        _require_known(meter, at, METERS)
    found = {meter: _price(at) for meter, at in entries}
    # A sum priced beside its parts would bill the same messages twice.
    for whole, parts in meters.DERIVED.items():
        if whole in found and found.keys() & set(parts):
            config_node.wrong(
                f"{whole} is the sum of {' and '.join(parts)}: price the sum or the parts"
            )
    return found


def _require_known(name: str, at: ConfigNode, known: tuple[str, ...]) -> None:
    if name not in known:
        at.wrong(f"is unknown; known names are {', '.join(known)}")


def _price(config_node: ConfigNode) -> Definition:
    at = config_node.fields("model", "unit", "base_per_unit", "tiers")
    model = at["model"].one_of([model.value for model in Model])
    tiers = [_tier(pair) for pair in at["tiers"].items()]
    _require_tiers(at["tiers"], Model(model), tiers)
    return {
        "model": model,
        "unit": at["unit"].text(longest=40),
        "base_per_unit": at["base_per_unit"].whole(smallest=1),
        "tiers": tiers,
    }


def _tier(config_node: ConfigNode) -> list[str | None]:
    pair = config_node.items()
    if len(pair) != 2:
        config_node.wrong("must be a pair [up_to, unit_price]")
        return [None, "0"]  # harmless: the document is refused in the end
    return [pair[0].optional(lambda it: it.decimal(), None), pair[1].decimal()]


def _require_tiers(config_node: ConfigNode, model: Model, tiers: list[list[str | None]]) -> None:
    ends = [up_to for up_to, _ in tiers]
    # 0 stands before the first bound, so that the first up_to must be above 0.
    bounds = [Decimal(0), *(Decimal(end) for end in ends[:-1] if end is not None)]
    if not ends or ends[-1] is not None or None in ends[:-1]:
        config_node.wrong("must list [up_to, unit_price]; the last up_to, and only that, is null")
    elif any(later <= earlier for earlier, later in pairwise(bounds)):
        config_node.wrong("must rise: each up_to above the previous one, the first above 0")
    elif model in _ONE_TIER and len(tiers) > 1:
        config_node.wrong(f"must be one tier for the model {model.value}")


def _references(config_node: ConfigNode, known: set[str]) -> list[str]:
    found: list[str] = []
    for reference in config_node.items():
        key = reference.text(longest=63)
        if key not in known:
            reference.wrong(f"must be the key of a plan in this document; {key!r} is not")
        elif key in found:
            reference.wrong("appears twice")
        found.append(key)
    if not found:
        config_node.wrong("must list at least one plan")
    return found


def _space_plan(config_node: ConfigNode) -> Definition:
    counts = (
        "router_credit",
        "broker_credit",
        "aggregate_credit",
        "max_brokers",
        "max_addresses",
        "max_users",
        "max_connections",
        "routers",
    )
    at = config_node.fields("title", "space_type", *counts, "broker_memory_mb", "hour_price")
    found: Definition = {
        "title": at["title"].text(longest=100),
        "space_type": at["space_type"].one_of(list(address_types.SPACE_TYPES)),
        **{name: at[name].whole() for name in counts},
        "broker_memory_mb": at["broker_memory_mb"].optional(_memory, 128),
        "hour_price": at["hour_price"].optional(lambda it: it.decimal(), "0"),
    }
    instances = (found["routers"], found["max_brokers"])
    if found["space_type"] == "brokered" and instances != (0, 1):
        config_node.wrong(
            "is brokered, so it has one broker and no routers: max_brokers 1, routers 0"
        )
    if found["space_type"] == "standard" and not 1 <= found["routers"] <= MAX_ROUTERS:
        at["routers"].wrong(f"must be 1 to {MAX_ROUTERS} in a standard space")
    return found


def _address_plan(config_node: ConfigNode) -> Definition:
    at = config_node.fields(
        "title",
        "space_type",
        "address_type",
        "router_credit",
        "broker_credit",
        "partitions",
        *address_types.numbers(),
        "hour_price",
    )
    space_type = at["space_type"].one_of(list(address_types.SPACE_TYPES))
    found: Definition = {
        "title": at["title"].text(longest=100),
        "space_type": space_type,
        "address_type": at["address_type"].one_of(address_types.offered_in(space_type)),
        "router_credit": at["router_credit"].whole(),
        "broker_credit": at["broker_credit"].whole(),
        "partitions": at["partitions"].optional(lambda it: it.whole(smallest=1, largest=100), 1),
        "hour_price": at["hour_price"].optional(lambda it: it.decimal(), "0"),
        **{name: _setting(at[name], number) for name, number in address_types.numbers().items()},
    }
    _require_shape(found, at)
    return found


def _memory(config_node: ConfigNode) -> int:
    return config_node.whole(smallest=_SMALLEST_BROKER_MB, largest=1_000_000)


def _setting(config_node: ConfigNode, number: Whole) -> int | None:
    return config_node.optional(
        lambda it: it.whole(smallest=number.smallest, largest=number.largest), number.plan_default
    )


def _require_shape(found: Definition, at: Mapping[str, ConfigNode]) -> None:
    """Record credits and partitions that an address of this type cannot have."""
    # Only such a queue has a part on several brokers; any other address is on one broker.
    is_spread = (found["space_type"], found["address_type"]) == ("standard", "queue")
    if not is_spread and found["partitions"] > 1:
        at["partitions"].wrong("must be 1: only a queue of a standard space can have more")
    if not is_spread and found["broker_credit"] > WHOLE_BROKER:
        at["broker_credit"].wrong(f"must be at most {WHOLE_BROKER}: the address is on one broker")
    whole, rest = divmod(found["broker_credit"], WHOLE_BROKER)
    if is_spread and whole and (rest or whole < found["partitions"]):
        at["broker_credit"].wrong(
            f"must, from {WHOLE_BROKER} on, be whole brokers and at least one per partition"
        )
    if found["broker_credit"] and not address_types.BY_SLUG[found["address_type"]].is_stored:
        at["broker_credit"].wrong("must be 0: anycast and multicast use no broker")
    if found["space_type"] == "brokered" and found["router_credit"]:
        at["router_credit"].wrong("must be 0: a brokered space has no routers")
