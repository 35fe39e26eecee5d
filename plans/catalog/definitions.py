"""Declares the content of a catalog as frozen dataclasses, and builds them from stored JSON.

The JSON is a canonical document, as ``parsing.canonical`` returns it and ``CatalogVersion`` stores
it, or one plan's definition in it. Nothing is validated here. Credits are thousandths of a router
or broker. Prices are decimals in the currency's main unit with up to 12 decimal places; fees are
integers in its minor unit. Quantities are integers in a meter's base unit (messages, milliseconds,
byte-milliseconds).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from controlplane.core import address_types
from controlplane.core.address_types import PlanSettings
from controlplane.core.errors import Conflict
from plans.rating.price_rules import Tier


class NotPriced(Conflict):
    """A version of a plan has no prices in a currency."""

    code = "plan.not_priced"


@dataclass(frozen=True)
class Seller:
    """A selling legal entity: its details on invoices, its currencies, rounding and tax.

    ``currency`` is the currency of its tenants unless they chose one of ``other_currencies``.
    """

    key: str
    name: str
    address: str
    country: str  # ISO 3166-1 alpha-2
    tax_id: str
    currency: str
    rounding: str  # a value of ``money.Rounding``
    tax_percent: Decimal
    payment_days: int  # from the issue of an invoice to its due date
    tax_regime: str = "flat"  # a value of ``taxes.Regime``; ``tax_percent`` counts if it is flat
    other_currencies: tuple[str, ...] = ()

    @property
    def currencies(self) -> tuple[str, ...]:
        return (self.currency, *self.other_currencies)


@dataclass(frozen=True)
class MeterPrice:
    """The price of one meter. ``model`` is a price model (``meters.Model``).

    One ``unit`` on the invoice is ``base_per_unit`` base units of the meter. ``tiers`` are in
    ascending order.
    """

    model: str
    unit: str
    base_per_unit: int
    tiers: tuple[Tier, ...]

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> "MeterPrice":
        """Return the price from an entry of ``prices`` in a plan's canonical definition."""
        # Decimals are text in the document, so that no binary float ever holds a price.
        tiers = tuple(
            Tier(None if up_to is None else Decimal(up_to), Decimal(unit_price))
            for up_to, unit_price in entry["tiers"]
        )
        return cls(entry["model"], entry["unit"], entry["base_per_unit"], tiers)


THROTTLE_PERCENT = 10  # the default


@dataclass(frozen=True)
class CurrencyPrices:
    """The fee (in minor units) and the prices by meter of a plan in one more currency."""

    monthly_fee_minor: int
    prices: Mapping[str, MeterPrice]


@dataclass(frozen=True)
class PlanDefinition:
    """The definition of one version of a commercial plan.

    Fee and prices are those of ``currency``; ``currencies`` has those of other ones.
    ``at_quota`` is what happens at 100 % of a monthly quota (``plans.quotas.resources.AtQuota``).
    ``throttle_percent``: the part of a space plan's limits of connections and message rates that is
    left while a tenant is throttled.
    """

    key: str
    title: str
    currency: str
    monthly_fee_minor: int
    included: Mapping[str, int]  # per month: base units by meter, hours by lifetime meter
    prices: Mapping[str, MeterPrice]  # by meter; a meter without an entry is free
    quotas: Mapping[str, int]  # by resource; a resource without an entry is not limited
    space_plans: tuple[str, ...]
    address_plans: tuple[str, ...]
    at_quota: str
    trial_days: int = 0  # in which a tenant's first plan charges no fee
    currencies: Mapping[str, CurrencyPrices] = field(default_factory=dict)

    @property
    def is_free(self) -> bool:
        """Whether the plan has no fee and no prices; then it needs no ``currencies``.

        Hours of spaces and addresses may still cost something: their own plans price them.
        """
        return not self.monthly_fee_minor and not self.prices

    def in_currency(self, currency: str) -> "PlanDefinition":
        """Return the plan with the fee and the prices of ``currency``.

        Raises:
            NotPriced: this version of the plan has none, and is not free (``is_free``).
        """
        if currency == self.currency:
            return self
        found = self.currencies.get(currency)
        if found is None and not self.is_free:
            raise not_priced(self.title, currency)
        fee, prices = (found.monthly_fee_minor, found.prices) if found else (0, {})
        return replace(self, currency=currency, monthly_fee_minor=fee, prices=prices)

    throttle_percent: int = THROTTLE_PERCENT


MAX_ROUTERS = 5  # per space; the auth service names every possible router in its grants


@dataclass(frozen=True)
class SpacePlanDefinition:
    """The definition of a space plan: the size, the limits and the hourly price of one space.

    ``aggregate_credit`` limits router credits and broker credits together. ``max_connections``
    limits each router, or the broker of a brokered space. Each instance counts its own connections,
    so a space with two routers has twice that limit.

    * ``broker_memory_mb``: the heap of each broker. ``broker_message_memory_mb``: the part of it
      that messages of all addresses together may fill.
    * ``broker_disk_gb``: each broker's volume; None means the size that the installation sets.
    * ``broker_cpu_millis``: thousandths of a core that each broker's pod requests.
    * ``broker_journal``: ``nio`` or ``asyncio``. ``broker_persistent``: False means that messages
      are in memory only, and that a restart of the broker loses them.
    * ``placement``: the name of one of the installation's placement profiles; empty means none.
    * ``max_message_kb``: the largest message that clients may send; None means no limit.
    * ``max_user_connections``: the connections of one user at each router, or at the broker of a
      brokered space; None means no limit.
    * ``max_source_connections``: the connections from one network address at each router of a
      standard space; None means no limit.
    * ``max_connection_sessions``, ``max_connection_senders``, ``max_connection_receivers``: the
      sessions, senders and receivers of one connection; None means no limit.
    * ``max_connection_rate``, ``max_user_rate``: messages that one connection, and all connections
      of one user, may send in a second, in a brokered space; None means no limit.
    """

    key: str
    title: str
    space_type: str
    router_credit: int
    broker_credit: int
    aggregate_credit: int
    max_brokers: int
    max_addresses: int
    max_users: int
    max_connections: int
    routers: int
    broker_memory_mb: int
    hour_price: Decimal
    # The defaults of the fields below are for plans that were published before the fields existed.
    # With the defaults, the files of their running spaces do not change.
    broker_message_memory_mb: int = 48
    broker_disk_gb: int | None = None
    broker_cpu_millis: int = 100
    broker_journal: str = "nio"
    broker_persistent: bool = True
    placement: str = ""
    max_message_kb: int | None = None
    max_user_connections: int | None = None
    max_connection_sessions: int | None = None
    max_connection_senders: int | None = None
    max_connection_receivers: int | None = None
    max_connection_rate: int | None = None
    max_user_rate: int | None = None
    max_source_connections: int | None = None
    # By currency, if the catalog has several; else ``hour_price`` is in its only currency.
    hour_prices: Mapping[str, Decimal] = field(default_factory=dict)

    def in_currency(self, currency: str) -> "SpacePlanDefinition":
        """Return the plan with the hourly price of ``currency``.

        Raises:
            NotPriced: this version of the plan has none.
        """
        return replace(self, hour_price=hour_price_in(self, currency))

    def throttled(self, percent: int | None) -> "SpacePlanDefinition":
        """Return the plan with ``percent`` of its limits of connections and message rates.

        ``percent`` None: return the plan unchanged. A lowered limit is at least 1. A limit that is
        None stays None.
        """
        if percent is None:
            return self
        limits = {name: getattr(self, name) for name in THROTTLED}
        lowered = {
            name: max(1, limit * percent // 100)
            for name, limit in limits.items()
            if limit is not None
        }
        return replace(self, **lowered)

    def message_bytes(self, assumed_disk_gb: int) -> int:
        """Return how many bytes of messages one broker can store for all its addresses together.

        Its volume limits them, or its message memory if messages are not persistent. What clients
        of a brokered space may store by subscriptions to filters is subtracted.
        ``assumed_disk_gb`` is the size of the volume in GiB if the plan does not name one.
        """
        has_filters = self.space_type == "brokered"
        if not self.broker_persistent:
            memory = self.broker_message_memory_mb * MEBIBYTE
            return memory - (memory // FILTER_PARTS_OF_MEMORY if has_filters else 0)
        volume = volume_bytes(self.broker_disk_gb or assumed_disk_gb)
        return volume - (FILTER_BYTES if has_filters else 0)


# The limits of ``SpacePlanDefinition`` that are lowered while a tenant is throttled.
THROTTLED = (
    "max_connections",
    "max_user_connections",
    "max_source_connections",
    "max_connection_rate",
    "max_user_rate",
)
MEBIBYTE = 1 << 20  # bytes
# What all subscriptions to filters on a broker may store: bytes, and the part of the message memory
# of a broker without a disk. The broker plugin enforces both (``Filters.java``).
FILTER_BYTES = 96 * MEBIBYTE
FILTER_PARTS_OF_MEMORY = 8
# What a volume holds beside messages: the 200 MB that ``broker_xml`` keeps free, and journal,
# bindings and pages that are already consumed but not deleted yet.
_VOLUME_RESERVE = 1 << 30


def volume_bytes(disk_gb: int) -> int:
    """Return how many bytes of messages a broker's volume of ``disk_gb`` GiB may hold."""
    return (disk_gb << 30) - _VOLUME_RESERVE


@dataclass(frozen=True)
class AddressPlanDefinition(PlanSettings):
    """The definition of an address plan: credits, partitions, hourly price, default settings.

    The default settings are the fields of ``PlanSettings``.
    """

    key: str
    title: str
    space_type: str
    address_type: str
    router_credit: int
    broker_credit: int
    partitions: int
    hour_price: Decimal
    hour_prices: Mapping[str, Decimal] = field(default_factory=dict)  # as of a space plan

    def in_currency(self, currency: str) -> "AddressPlanDefinition":
        """Return the plan with the hourly price of ``currency``; raise NotPriced without one."""
        return replace(self, hour_price=hour_price_in(self, currency))


def hour_price_in(plan: SpacePlanDefinition | AddressPlanDefinition, currency: str) -> Decimal:
    """Return the hourly price of a space or address plan in ``currency``.

    A plan without ``hour_prices`` comes from a catalog with one currency. Its ``hour_price`` is
    returned for every ``currency``: callers check the currency (``tenants.actions.sellers``).

    Raises:
        NotPriced: this version of the plan has none.
    """
    if not plan.hour_prices or not plan.hour_price:
        return plan.hour_price
    if currency not in plan.hour_prices:
        raise not_priced(plan.title, currency)
    return plan.hour_prices[currency]


def not_priced(title: str, currency: str) -> NotPriced:
    """Return the error about a plan without prices in ``currency``."""
    return NotPriced(
        f"This version of {title} has no prices in {currency}: publish a catalog that has them, "
        "or choose another seller."
    )


@dataclass(frozen=True)
class Catalog:
    """A catalog: its content as dataclasses, and the same content as canonical ``document``.

    ``seller`` is the main seller; ``sellers`` are all, the main one (the same object) first.
    The document consists of JSON values. ``publishing.publish`` stores and hashes it.
    """

    seller: Seller
    plans: tuple[PlanDefinition, ...]
    space_plans: tuple[SpacePlanDefinition, ...]
    address_plans: tuple[AddressPlanDefinition, ...]
    document: Mapping[str, Any]
    sellers: tuple[Seller, ...] = ()

    @property
    def currencies(self) -> tuple[str, ...]:
        """All currencies in which something is sold, the one of the main seller first."""
        return tuple(dict.fromkeys(c for row in self.sellers for c in row.currencies))


def from_document(document: Mapping[str, Any]) -> Catalog:
    """Return the catalog of a canonical document, which is not validated again.

    Plans are ordered by monthly fee, space and address plans by space type and hourly price. This
    function sorts them, because a PostgreSQL jsonb column does not keep the order of keys.
    """

    def from_small(row: SpacePlanDefinition | AddressPlanDefinition) -> tuple[Any, ...]:
        return (row.space_type, row.hour_price, row.broker_credit, row.key)

    plans = [plan(key, value) for key, value in document["plans"].items()]
    space_plans = [space_plan(key, value) for key, value in document["space_plans"].items()]
    address_plans = [address_plan(key, value) for key, value in document["address_plans"].items()]
    selling = sellers(document)
    return Catalog(
        seller=selling[0],
        plans=tuple(sorted(plans, key=lambda row: (row.monthly_fee_minor, row.key))),
        space_plans=tuple(sorted(space_plans, key=from_small)),
        address_plans=tuple(sorted(address_plans, key=from_small)),
        document=document,
        sellers=selling,
    )


def sellers(document: Mapping[str, Any]) -> tuple[Seller, ...]:
    """Return the selling legal entities of a canonical document: the main one, then by key."""
    others = sorted(document.get("sellers", {}).items())
    return (seller(document["seller"]), *(seller({**row, "key": key}) for key, row in others))


def seller(value: Mapping[str, Any]) -> Seller:
    """Return a selling legal entity from its section of a canonical document."""
    changed = {
        "tax_percent": Decimal(value["tax_percent"]),
        "other_currencies": tuple(value.get("other_currencies", ())),
    }
    return Seller(**{**value, **changed})


def plan(key: str, value: Mapping[str, Any]) -> PlanDefinition:
    """Return the commercial plan ``key``; ``value`` is its canonical definition, JSON values."""
    # ``**value``: a canonical definition has exactly the fields of its dataclass.
    lists = {name: tuple(value[name]) for name in ("space_plans", "address_plans")}
    currencies = {
        currency: CurrencyPrices(row["monthly_fee_minor"], _prices(row))
        for currency, row in value.get("currencies", {}).items()
    }
    changed = {"prices": _prices(value), "currencies": currencies, **lists}
    return PlanDefinition(key=key, **{**value, **changed})


def _prices(value: Mapping[str, Any]) -> dict[str, MeterPrice]:
    return {meter: MeterPrice.of(entry) for meter, entry in value["prices"].items()}


def space_plan(key: str, value: Mapping[str, Any]) -> SpacePlanDefinition:
    """Return the space plan ``key``; ``value`` is its canonical definition, JSON values."""
    return SpacePlanDefinition(key=key, **{**value, **_hour_prices(value)})


def address_plan(key: str, value: Mapping[str, Any]) -> AddressPlanDefinition:
    """Return the address plan ``key``; ``value`` is its canonical definition, JSON values.

    A setting that ``value`` lacks gets its default.
    """
    # A definition that was published before a setting existed lacks it and gets its default.
    defaults = {name: number.plan_default for name, number in address_types.of_plans().items()}
    return AddressPlanDefinition(key=key, **{**defaults, **value, **_hour_prices(value)})


def _hour_prices(value: Mapping[str, Any]) -> dict[str, Any]:
    others = {c: Decimal(price) for c, price in value.get("hour_prices", {}).items()}
    return {"hour_price": Decimal(value["hour_price"]), "hour_prices": others}
