"""From the YAML of a catalogue to its canonical document, checked.

The canonical document has every field spelt out and holds JSON values only, decimals as text: its
digest and the stored definitions never depend on how the YAML was written. What passes here is
complete and consistent; mistakes are all found in one reading. Called by ``plans.catalog`` only.
"""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from itertools import pairwise
from typing import Any

from controlplane.core.errors import Invalid
from plans import meters, money
from plans.catalogue import definitions, places
from plans.catalogue.definitions import MAX_ROUTERS, Catalogue
from plans.catalogue.places import Place
from plans.meters import Model
from plans.money import Rounding
from plans.resources import TENANT_RESOURCES

KEY = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
METERS = (*meters.DERIVED, *meters.METERS)
QUOTAS = tuple(each.value for each in TENANT_RESOURCES)
AT_QUOTA = ("notify", "withdraw_send")
STORED_TYPES = ("queue", "topic", "subscription")
ADDRESS_TYPES = {"standard": (*STORED_TYPES, "anycast", "multicast"), "brokered": STORED_TYPES}
WHOLE_BROKER = 1000  # thousandths
_ONE_TIER = (Model.FLAT, Model.UNIT, Model.PACKAGE)
_LONGEST_MS = 10 * 365 * 24 * 3600 * 1000
_SMALLEST_BROKER_MB = 64

Definition = dict[str, Any]


def parse(text: str) -> Catalogue:
    """Return the catalogue of a YAML document.

    Raises:
        CatalogueInvalid: not YAML or a rule is broken; names line and field of every mistake.
    """
    return definitions.from_document(canonical(text))


def canonical(text: str) -> dict[str, Any]:
    """Return the canonical document of a YAML text (CatalogueInvalid otherwise)."""
    root = places.root(text)
    at = root.fields("seller", "space_plans", "address_plans", "plans")
    seller = _seller(at["seller"])
    space_plans = _section(at["space_plans"], _space_plan)
    address_plans = _section(at["address_plans"], _address_plan)

    def plan(place: Place) -> Definition:
        found = _plan(place, set(space_plans), set(address_plans))
        return {**found, "currency": seller["currency"]}

    plans = _section(at["plans"], plan)
    root.problems.refuse()
    return {
        "seller": seller,
        "space_plans": space_plans,
        "address_plans": address_plans,
        "plans": plans,
    }


def _section(place: Place, read: Callable[[Place], Definition]) -> dict[str, Definition]:
    found = {}
    for key, at in place.entries():
        if not re.fullmatch(KEY, key):
            at.wrong("has a key that is not 1 to 63 lower-case letters, digits and inner hyphens")
        found[key] = read(at)
    if not found:
        place.wrong("must have at least one entry")
    return found


def _seller(place: Place) -> Definition:
    at = place.fields(
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
        "rounding": at["rounding"].one_of([each.value for each in Rounding]),
        "tax_percent": at["tax_percent"].decimal(largest=Decimal(100)),
        "payment_days": at["payment_days"].optional(lambda it: it.whole(largest=365), 14),
    }


def _currency(place: Place) -> str:
    code = place.text(longest=3)
    try:
        money.minor_digits(code)
    except Invalid:
        place.wrong("must be an ISO 4217 currency code such as EUR")
    return code


def _plan(place: Place, space_plans: set[str], address_plans: set[str]) -> Definition:
    at = place.fields(
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


def _counts(place: Place, known: tuple[str, ...]) -> dict[str, int]:
    entries = place.entries()
    for name, at in entries:
        _require_known(name, at, known)
    return {name: at.whole() for name, at in entries}


def _prices(place: Place) -> dict[str, Definition]:
    entries = place.entries()
    for meter, at in entries:
        _require_known(meter, at, METERS)
    found = {meter: _price(at) for meter, at in entries}
    for whole, parts in meters.DERIVED.items():
        if whole in found and found.keys() & set(parts):
            place.wrong(f"{whole} is the sum of {' and '.join(parts)}: price it, or them")
    return found


def _require_known(name: str, at: Place, known: tuple[str, ...]) -> None:
    if name not in known:
        at.wrong(f"is not known here; known are {', '.join(known)}")


def _price(place: Place) -> Definition:
    at = place.fields("model", "unit", "base_per_unit", "tiers")
    model = at["model"].one_of([each.value for each in Model])
    tiers = [_tier(each) for each in at["tiers"].items()]
    _require_tiers(at["tiers"], Model(model), tiers)
    return {
        "model": model,
        "unit": at["unit"].text(longest=40),
        "base_per_unit": at["base_per_unit"].whole(smallest=1),
        "tiers": tiers,
    }


def _tier(place: Place) -> list[str | None]:
    pair = place.items()
    if len(pair) != 2:
        place.wrong("must be a pair [up_to, unit_price]")
        return [None, "0"]
    return [pair[0].optional(lambda it: it.decimal(), None), pair[1].decimal()]


def _require_tiers(place: Place, model: Model, tiers: list[list[str | None]]) -> None:
    ends = [up_to for up_to, _ in tiers]
    bounds = [Decimal(0), *(Decimal(end) for end in ends[:-1] if end is not None)]
    if not ends or ends[-1] is not None or None in ends[:-1]:
        place.wrong("must list [up_to, unit_price]; the last up_to, and only that, is null")
    elif any(later <= earlier for earlier, later in pairwise(bounds)):
        place.wrong("must rise: each up_to above the one before, the first above 0")
    elif model in _ONE_TIER and len(tiers) > 1:
        place.wrong(f"must be one tier for the model {model.value}")


def _references(place: Place, known: set[str]) -> list[str]:
    found: list[str] = []
    for each in place.items():
        key = each.text(longest=63)
        if key not in known:
            each.wrong(f"must be the key of a plan in this document; {key!r} is not")
        elif key in found:
            each.wrong("is there twice")
        found.append(key)
    if not found:
        place.wrong("must list at least one plan")
    return found


def _space_plan(place: Place) -> Definition:
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
    at = place.fields("title", "space_type", *counts, "broker_memory_mb", "hour_price")
    found: Definition = {
        "title": at["title"].text(longest=100),
        "space_type": at["space_type"].one_of(list(ADDRESS_TYPES)),
        **{name: at[name].whole() for name in counts},
        "broker_memory_mb": at["broker_memory_mb"].optional(_memory, 128),
        "hour_price": at["hour_price"].optional(lambda it: it.decimal(), "0"),
    }
    shape = (found["routers"], found["max_brokers"])
    if found["space_type"] == "brokered" and shape != (0, 1):
        place.wrong("is brokered, which is one broker without routers: max_brokers 1, routers 0")
    if found["space_type"] == "standard" and not 1 <= found["routers"] <= MAX_ROUTERS:
        at["routers"].wrong(f"must be 1 to {MAX_ROUTERS} in a standard space")
    return found


def _address_plan(place: Place) -> Definition:
    at = place.fields(
        "title",
        "space_type",
        "address_type",
        "router_credit",
        "broker_credit",
        "partitions",
        "message_ttl_ms",
        "max_delivery_attempts",
        "redelivery_delay_ms",
        "max_bytes",
        "hour_price",
    )
    space_type = at["space_type"].one_of(list(ADDRESS_TYPES))
    found: Definition = {
        "title": at["title"].text(longest=100),
        "space_type": space_type,
        "address_type": at["address_type"].one_of(ADDRESS_TYPES[space_type]),
        "router_credit": at["router_credit"].whole(),
        "broker_credit": at["broker_credit"].whole(),
        "partitions": at["partitions"].optional(lambda it: it.whole(smallest=1, largest=100), 1),
        "hour_price": at["hour_price"].optional(lambda it: it.decimal(), "0"),
        "message_ttl_ms": at["message_ttl_ms"].optional(_ttl, None),
        "max_delivery_attempts": at["max_delivery_attempts"].optional(_attempts, 10),
        "redelivery_delay_ms": at["redelivery_delay_ms"].optional(_delay, 0),
        "max_bytes": at["max_bytes"].optional(lambda it: it.whole(smallest=1), 104_857_600),
    }
    _require_shape(found, at)
    return found


def _memory(place: Place) -> int:
    return place.whole(smallest=_SMALLEST_BROKER_MB, largest=1_000_000)


def _ttl(place: Place) -> int:
    return place.whole(smallest=1, largest=_LONGEST_MS)


def _attempts(place: Place) -> int:
    return place.whole(smallest=1, largest=1_000_000)


def _delay(place: Place) -> int:
    return place.whole(largest=_LONGEST_MS)


def _require_shape(found: Definition, at: Mapping[str, Place]) -> None:
    """Note credits and partitions that an address of this type cannot have."""
    is_spread = (found["space_type"], found["address_type"]) == ("standard", "queue")
    if not is_spread and found["partitions"] > 1:
        at["partitions"].wrong("must be 1: only a queue of a standard space can have more")
    if not is_spread and found["broker_credit"] > WHOLE_BROKER:
        at["broker_credit"].wrong(f"must be at most {WHOLE_BROKER}: it sits on one broker")
    whole, rest = divmod(found["broker_credit"], WHOLE_BROKER)
    if is_spread and whole and (rest or whole < found["partitions"]):
        at["broker_credit"].wrong(
            f"must from {WHOLE_BROKER} on be whole brokers, at least one for each partition"
        )
    if found["address_type"] not in STORED_TYPES and found["broker_credit"]:
        at["broker_credit"].wrong("must be 0: anycast and multicast use no broker")
    if found["space_type"] == "brokered" and found["router_credit"]:
        at["router_credit"].wrong("must be 0: a brokered space has no routers")
