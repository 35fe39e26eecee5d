"""Parses and validates the YAML of a catalog and returns its canonical document.

The pydantic models below are the catalog's schema. The canonical document has JSON values, and
decimals as text. It contains each field even if the YAML leaves the field out, except the fields
that ``canonical_form`` removes. So its digest and the stored definitions do not depend on how the
YAML was written. The error about a mistake names its line and field and says what to write instead.
"""

from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    AfterValidator,
    ValidationError,
    ValidationInfo,
    create_model,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails

from controlplane.core import address_types
from controlplane.core.setting_values import Whole
from plans.catalog import (
    canonical_form,
    currency_prices,
    definitions,
    fields,
    sold_sizes,
    yaml_document,
)
from plans.catalog.definitions import MAX_ROUTERS, Catalog
from plans.catalog.fields import Count, Country, Currency, Key, Price, Rate, Title, wrong
from plans.catalog.sections import Section, known_name, unknown
from plans.catalog.sold_sizes import Installation
from plans.catalog.yaml_document import Path, YamlDocument
from plans.quotas.resources import TENANT_RESOURCES, AtQuota
from plans.rating.money import Rounding
from plans.usage import meters
from plans.usage.meters import Model

SPACE_TYPES = tuple(address_types.SPACE_TYPES)
WHOLE_BROKER = 1000  # credits are thousandths of a broker
_METERS = (*meters.DERIVED, *meters.METERS)
_ONE_TIER = (Model.FLAT, Model.UNIT, Model.PACKAGE)


Counts = dict[Annotated[str, known_name((*_METERS, *meters.LIFETIMES))], Count]
Quotas = dict[Annotated[str, known_name(resource.value for resource in TENANT_RESOURCES)], Count]
SpaceType = Annotated[str, fields.one_of(SPACE_TYPES)]


class OtherSellerSection(Section):
    """The schema of an entry of ``sellers``: a selling legal entity besides the main one."""

    name: Annotated[str, fields.text()]
    address: Annotated[str, fields.text(longest=1000)]
    country: Country
    tax_id: Annotated[str, fields.text(longest=60, shortest=0)] = ""
    currency: Currency
    rounding: Annotated[str, fields.one_of(rounding.value for rounding in Rounding)]
    tax_percent: Annotated[str, fields.decimal(largest=Decimal(100))]
    payment_days: Annotated[int, fields.whole(largest=365)] = 14
    tax_regime: fields.TaxRegime = "flat"
    other_currencies: list[Currency] = []


class SellerSection(OtherSellerSection):
    """The schema of the section ``seller``: the main selling legal entity."""

    key: Key


class PriceSection(Section):
    """The schema of an entry of ``prices``: the price of one meter."""

    model: Annotated[str, fields.one_of(model.value for model in Model)]
    unit: Annotated[str, fields.text(longest=40)]
    base_per_unit: Annotated[int, fields.whole(smallest=1)]
    tiers: list[list[Price | None]]

    @field_validator("tiers")
    @classmethod
    def tiers_cover_every_quantity(
        cls, tiers: list[list[str | None]], info: ValidationInfo
    ) -> list[list[str | None]]:
        pairs = [len(tier) == 2 and tier[1] is not None for tier in tiers]
        if not all(pairs):
            why = "must be a pair [up_to, unit_price], such as [null, 0.60]"
            raise fields.wrong_inside((n, why) for n, is_pair in enumerate(pairs) if not is_pair)
        ends = [tier[0] for tier in tiers]
        # 0 stands before the first bound, so that the first up_to must be above 0.
        bounds = [Decimal(0), *(Decimal(end) for end in ends[:-1] if end is not None)]
        if not ends or ends[-1] is not None or None in ends[:-1]:
            raise wrong("must list [up_to, unit_price]; the last up_to, and only that, is null")
        if any(later <= earlier for earlier, later in pairwise(bounds)):
            raise wrong("must rise: each up_to above the previous one, the first above 0")
        # ``data`` lacks the model if it is wrong: pydantic leaves out fields that failed.
        if info.data.get("model") in _ONE_TIER and len(tiers) > 1:
            raise wrong(f"must be one tier for the model {info.data['model']}")
        return tiers


class CurrencySection(Section):
    """The schema of an entry of a plan's ``currencies``: its fee and prices in that currency."""

    monthly_fee_minor: Count
    prices: dict[Annotated[str, known_name(_METERS)], PriceSection] = {}


@dataclass(frozen=True)
class Known:
    """The keys of the space and address plans in the document; plans may list only these."""

    space_plans: frozenset[str]
    address_plans: frozenset[str]


class PlanSection(Section):
    """The schema of one commercial plan in the section ``plans``."""

    title: Title
    monthly_fee_minor: Count
    included: Counts = {}
    prices: dict[Annotated[str, known_name(_METERS)], PriceSection] = {}
    quotas: Quotas = {}
    at_quota: Annotated[str, fields.one_of(action.value for action in AtQuota)]
    space_plans: list[Annotated[str, fields.text(longest=63)]]
    address_plans: list[Annotated[str, fields.text(longest=63)]]
    trial_days: Annotated[int, fields.whole(largest=366)] = 0
    currencies: dict[Currency, CurrencySection] = {}
    throttle_percent: Annotated[int, fields.whole(smallest=1, largest=99)] = (
        definitions.THROTTLE_PERCENT
    )

    @field_validator("prices")
    @classmethod
    def nothing_is_billed_twice(cls, prices: dict[str, Any]) -> dict[str, Any]:
        # A sum priced beside its parts would bill the same messages twice.
        for whole, parts in meters.DERIVED.items():
            if whole in prices and prices.keys() & set(parts):
                raise wrong(
                    f"{whole} is the sum of {' and '.join(parts)}: price the sum or the parts"
                )
        return prices

    @field_validator("space_plans", "address_plans")
    @classmethod
    def references_exist_once(cls, keys: list[str], info: ValidationInfo) -> list[str]:
        if not keys:
            raise wrong("must list at least one plan")
        # The fields of ``Known`` have the names of these two fields.
        known = getattr(info.context, str(info.field_name))
        reasons = []
        for n, key in enumerate(keys):
            if key not in known:
                reasons.append((n, f"must be the key of a plan in this document; {key!r} is not"))
            elif key in keys[:n]:
                reasons.append((n, "appears twice"))
        if reasons:
            raise fields.wrong_inside(reasons)
        return keys


class SpacePlanSection(Section):
    """The schema of one space plan; completes message memory and the largest message."""

    title: Title
    space_type: SpaceType
    router_credit: Count
    broker_credit: Count
    aggregate_credit: Count
    max_brokers: Count
    max_addresses: Count
    max_users: Count
    max_connections: Count
    routers: Count
    broker_memory_mb: Annotated[int, fields.whole(smallest=64, largest=1_000_000)] = 128
    broker_message_memory_mb: Annotated[int | None, fields.whole(smallest=8, largest=400_000)] = (
        None
    )
    broker_disk_gb: Annotated[int | None, fields.whole(smallest=2, largest=65_536)] = None
    broker_cpu_millis: Annotated[int, fields.whole(smallest=10, largest=1_000_000)] = 100
    broker_journal: Annotated[str, fields.one_of(("nio", "asyncio"))] = "nio"
    broker_persistent: Annotated[bool, fields.flag()] = True
    placement: Annotated[str, fields.text(longest=63, shortest=0)] = ""
    max_message_kb: Annotated[int | None, fields.whole(smallest=1, largest=1_000_000)] = None
    max_user_connections: Annotated[int | None, fields.whole(smallest=1)] = None
    max_connection_sessions: Annotated[int | None, fields.whole(smallest=1, largest=32_768)] = None
    max_connection_senders: Annotated[int | None, fields.whole(smallest=1)] = None
    max_connection_receivers: Annotated[int | None, fields.whole(smallest=1)] = None
    max_connection_rate: Rate = None
    max_user_rate: Rate = None
    max_source_connections: Annotated[int | None, fields.whole(smallest=1)] = None
    hour_price: Price = "0"
    hour_prices: dict[Currency, Price] = {}

    @field_validator("routers")
    @classmethod
    def a_standard_space_has_routers(cls, routers: int, info: ValidationInfo) -> int:
        if info.data.get("space_type") == "standard" and not 1 <= routers <= MAX_ROUTERS:
            raise wrong(f"must be 1 to {MAX_ROUTERS} in a standard space, not {routers}")
        return routers

    @model_validator(mode="after")
    def memory_and_limits_fit(self) -> "SpacePlanSection":
        self.broker_message_memory_mb = sold_sizes.message_memory_mb(
            self.broker_memory_mb, self.broker_message_memory_mb
        )
        if self.space_type == "standard":
            self.max_message_kb = sold_sizes.message_kb(self.broker_memory_mb, self.max_message_kb)
        sold_sizes.check_limits_of_clients(self.model_dump())
        return self

    @model_validator(mode="after")
    def a_brokered_space_is_one_broker(self) -> "SpacePlanSection":
        if self.space_type == "brokered" and (self.routers, self.max_brokers) != (0, 1):
            raise wrong(
                "is brokered, so it has one broker and no routers: write max_brokers 1, routers 0"
            )
        return self


def setting_field(number: Whole) -> tuple[Any, int | None]:
    """Return (type, default) of an address setting, as pydantic's ``create_model`` takes them."""
    limited = Annotated[int, fields.whole(smallest=number.smallest, largest=number.largest)]
    return (limited if number.plan_default is not None else limited | None), number.plan_default


if TYPE_CHECKING:
    SettingsSection = Section  # mypy does not know the class that ``create_model`` makes
else:
    SettingsSection = create_model(
        "SettingsSection",
        __base__=Section,
        **{name: setting_field(number) for name, number in address_types.of_plans().items()},
    )


class AddressPlanSection(SettingsSection):
    """The schema of one address plan; ``SettingsSection`` adds its default settings.

    The order of the fields matters: a validator sees only the values of the fields above its own.
    """

    title: Title
    space_type: SpaceType
    address_type: str
    router_credit: Count
    partitions: Annotated[int, fields.whole(smallest=1, largest=100)] = 1
    broker_credit: Count
    hour_price: Price = "0"
    hour_prices: dict[Currency, Price] = {}

    @field_validator("address_type", mode="before")
    @classmethod
    def the_space_offers_the_type(cls, value: Any, info: ValidationInfo) -> Any:
        offered = address_types.offered_in(info.data.get("space_type", "standard"))
        return fields.choice(value, offered)

    @field_validator("router_credit")
    @classmethod
    def a_brokered_space_has_no_routers(cls, credit: int, info: ValidationInfo) -> int:
        if credit and info.data.get("space_type") == "brokered":
            raise wrong("must be 0: a brokered space has no routers")
        return credit

    @field_validator("partitions")
    @classmethod
    def only_a_spread_queue_has_partitions(cls, partitions: int, info: ValidationInfo) -> int:
        if partitions > 1 and not is_spread(info.data):
            raise wrong("must be 1: only a queue of a standard space can have more")
        return partitions

    @field_validator("broker_credit")
    @classmethod
    def credit_fits_the_brokers(cls, credit: int, info: ValidationInfo) -> int:
        row = address_types.BY_SLUG.get(info.data.get("address_type", ""))
        if credit and row is not None and not row.is_stored:
            raise wrong(f"must be 0: no broker stores an address of type {row.slug}")
        if not is_spread(info.data):
            if credit > WHOLE_BROKER:
                raise wrong(f"must be at most {WHOLE_BROKER}: the address is on one broker")
            return credit
        whole, rest = divmod(credit, WHOLE_BROKER)
        if whole and (rest or whole < info.data.get("partitions", 1)):
            raise wrong(
                f"must, from {WHOLE_BROKER} on, be whole brokers and at least one per partition"
            )
        return credit


def is_spread(plan: dict[str, Any]) -> bool:
    """Return whether an address of this plan may be on several brokers: a queue behind routers."""
    return (plan.get("space_type"), plan.get("address_type")) == ("standard", "queue")


class CatalogSection(Section):
    """The schema of the whole catalog."""

    seller: SellerSection
    sellers: dict[Key, OtherSellerSection] = {}
    space_plans: Annotated[dict[Key, SpacePlanSection], AfterValidator(fields.not_empty)]
    address_plans: Annotated[dict[Key, AddressPlanSection], AfterValidator(fields.not_empty)]
    plans: Annotated[dict[Key, PlanSection], AfterValidator(fields.not_empty)]


def parse(text: str) -> Catalog:
    """Return the catalog of a YAML document.

    Raises:
        CatalogInvalid: the text is not YAML, breaks a rule, or sells what this installation cannot
            hold (``sold_sizes``); names line and field of each mistake.
    """
    return definitions.from_document(canonical(text))


def keys_of(content: dict[str, Any], section: str) -> frozenset[str]:
    """Return the keys of ``section``; none if it is no mapping, which its schema refuses later."""
    found = yaml_document.at(content, (section,))
    return frozenset(found) if isinstance(found, dict) else frozenset()


def canonical(text: str) -> dict[str, Any]:
    """Return the canonical document of a YAML text; raise CatalogInvalid as ``parse`` does."""
    document = YamlDocument.read(text)
    content = document.content or {}
    if not isinstance(content, dict):
        document.problems.add(1, "catalog", "must be a mapping of names to values")
        content = {}  # so that validation also reports each missing section
    known = Known(keys_of(content, "space_plans"), keys_of(content, "address_plans"))
    try:
        found = CatalogSection.model_validate(content, context=known)
    except ValidationError as error:
        for details in error.errors(include_url=False):
            # Pydantic ends the path of a mapping's wrong key with "[key]". The line is the entry's.
            path = tuple(part for part in details["loc"] if part != "[key]")
            document.problems.add(
                document.line_of(path), yaml_document.dotted(path), reason_of(details)
            )
    document.problems.refuse()
    made = found.model_dump(mode="json")
    canonical_form.leave_out_defaults(made)
    for plan in made["plans"].values():
        plan["currency"] = made["seller"]["currency"]  # a plan row stores its own currency
    # Each check below needs a catalog without the mistakes of those before it.
    catalog = definitions.from_document(made)
    for path, reason in currency_prices.mistakes(catalog):
        document.problems.add(document.line_of(path), yaml_document.dotted(path), reason)
    document.problems.refuse()
    currency_prices.complete(made)
    catalog = definitions.from_document(made)  # again: ``complete`` has added prices
    for sold, reason in sold_sizes.find(catalog, Installation.configured()):
        document.problems.add(document.line_of(sold), yaml_document.dotted(sold), reason)
    document.problems.refuse()
    return made


def reason_of(details: ErrorDetails) -> str:
    """Return the text that refuses a value: the validator's own, or one in place of pydantic's."""
    kind = details["type"]
    if kind == "catalog":
        return details["msg"]
    if kind == "extra_forbidden":
        return unknown(str(details["loc"][-1]), section_at(details["loc"]).model_fields)
    if kind == "missing" or details["input"] is None:
        return f"is missing: write `{details['loc'][-1]}: ...`"
    if kind == "list_type":
        return "must be a list, such as [one, two]"
    return "must be a mapping of names to values"


def section_at(path: Path) -> type[Section]:
    """Return the schema of the mapping that holds the field at ``path``."""
    if len(path) == 1:
        return CatalogSection
    # First, because ``prices`` also stand below ``currencies``.
    if "prices" in path:
        return PriceSection
    if "currencies" in path:
        return CurrencySection
    sections: dict[str | int, type[Section]] = {
        "seller": SellerSection,
        "sellers": OtherSellerSection,
        "space_plans": SpacePlanSection,
        "address_plans": AddressPlanSection,
        "plans": PlanSection,
    }
    return sections[path[0]]
