"""From YAML to definitions: what passes, and how mistakes are named."""

from decimal import Decimal

import pytest
import yaml
from pydantic import TypeAdapter

from controlplane.core import address_types
from controlplane.core.errors import Invalid
from plans.catalog import definitions, fields, parsing, publishing
from plans.rating.price_rules import Tier

TEXT = """\
seller:
  key: wp
  name: Example
  address: High Street 5
  country: NO
  currency: EUR
  rounding: half_up
  tax_percent: 7.5
space_plans:
  std: {title: S, space_type: standard, router_credit: 1000, broker_credit: 2000,
        aggregate_credit: 3000, max_brokers: 2, max_addresses: 5, max_users: 5,
        max_connections: 10, routers: 1, hour_price: 0.060}
address_plans:
  q: {title: Q, space_type: standard, address_type: queue, router_credit: 10, broker_credit: 20,
      partitions: 2, message_ttl_ms: 60_000}
plans:
  dear: {title: Dear, monthly_fee_minor: 9900, at_quota: notify, space_plans: [std],
         address_plans: [q]}
  cheap:
    title: Cheap
    monthly_fee_minor: 0
    included: {messages: 1000}
    prices:
      messages:
        model: graduated
        unit: million messages
        base_per_unit: 1000000
        tiers: [[10, 0.80], [null, "0.5"]]
    quotas: {spaces: 2, messages_per_month: 5}
    at_quota: withdraw_send
    space_plans: [std]
    address_plans: [q]
"""


def refused(text: str) -> dict[str, list[str]]:
    """Return the mistakes that the reading of ``text`` names."""
    with pytest.raises(Invalid) as refusal:
        parsing.parse(text)
    assert refusal.value.error_code == "catalog.invalid"
    return dict(refusal.value.fields)


@pytest.mark.parametrize(("written", "read"), [("-0", "0"), ("-0.00", "0.00"), ("0", "0")])
def test_a_zero_is_stored_without_a_sign(written: str, read: str) -> None:
    assert TypeAdapter(fields.Price).validate_python(written) == read


def test_parse_reads_exact_decimals_without_quotes() -> None:
    catalog = parsing.parse(TEXT)

    assert catalog.seller.tax_percent == Decimal("7.5")
    assert catalog.space_plans[0].hour_price == Decimal("0.060")
    price = catalog.plans[0].prices["messages"]
    assert price.tiers == (
        Tier(Decimal(10), Decimal("0.80")),
        Tier(None, Decimal("0.5")),
    )


def test_parse_orders_plans_from_cheap_to_dear() -> None:
    assert [plan.key for plan in parsing.parse(TEXT).plans] == ["cheap", "dear"]


def test_parse_spells_out_what_was_left_out() -> None:
    catalog = parsing.parse(TEXT)

    queue = catalog.address_plans[0]
    assert (queue.max_delivery_attempts, queue.redelivery_delay_ms) == (10, 0)
    assert (queue.message_ttl_ms, queue.max_bytes) == (60_000, 104_857_600)
    assert catalog.space_plans[0].broker_memory_mb == 128
    assert (catalog.seller.payment_days, catalog.seller.tax_id) == (14, "")
    assert catalog.plans[1].quotas == {}
    assert catalog.plans[1].currency == "EUR"


def test_parse_reads_the_settings_of_an_address_plan() -> None:
    given = "max_delivery_attempts: 3, redelivery_delay_ms: 0, max_bytes: 5, message_ttl_ms: 60"

    queue = parsing.parse(TEXT.replace("message_ttl_ms: 60_000", given)).address_plans[0]

    assert (queue.max_delivery_attempts, queue.redelivery_delay_ms) == (3, 0)
    assert (queue.max_bytes, queue.message_ttl_ms) == (5, 60)


def test_parse_keeps_norway() -> None:
    assert parsing.parse(TEXT).seller.country == "NO"


def test_documents_do_not_depend_on_how_the_yaml_was_written() -> None:
    reordered = yaml.safe_dump(yaml.load(TEXT, Loader=yaml.BaseLoader), sort_keys=True)
    text = reordered.replace("'null'", "null")

    assert parsing.parse(text).document == parsing.parse(TEXT).document


def test_definitions_come_back_from_the_document() -> None:
    catalog = parsing.parse(TEXT)

    assert definitions.from_document(catalog.document) == catalog


def test_default_catalog_offers_what_the_design_asks_for() -> None:
    catalog = parsing.parse(publishing.default_yaml())

    assert [plan.key for plan in catalog.plans] == ["free", "team", "business"]
    assert {plan.key for plan in catalog.space_plans} == {
        "standard-small",
        "standard-medium",
        "standard-large",
        "standard-xlarge",
        "brokered-small",
        "brokered-medium",
    }
    types = {(plan.space_type, plan.address_type) for plan in catalog.address_plans}
    assert types == {
        (space_type, address_type)
        for space_type in address_types.SPACE_TYPES
        for address_type in address_types.offered_in(space_type)
    }
    free = catalog.plans[0]
    assert free.monthly_fee_minor == 0
    assert free.quotas["messages_per_month"] == 100_000
    assert free.at_quota == "withdraw_send"


@pytest.mark.parametrize(
    ("old", "new", "line", "field", "reason"),
    [
        ("country: NO", "country: nor", 5, "seller.country", "two capital letters"),
        ("currency: EUR", "currency: EUX", 6, "seller.currency", "ISO 4217"),
        ("half_up", "up", 7, "seller.rounding", "one of half_even, half_up"),
        ("7.5", "107", 8, "seller.tax_percent", "from 0 to 100"),
        ("7.5", "-1", 8, "seller.tax_percent", "from 0 to 100"),
        ("7.5", "much", 8, "seller.tax_percent", "from 0 to 100"),
        ("7.5", ".inf", 8, "seller.tax_percent", "from 0 to 100"),
        ("7.5", "0.0000000000001", 8, "seller.tax_percent", "12 decimals"),
        ("key: wp", "key: WP", 2, "seller.key", "lower-case"),
        ("name: Example", "name: ''", 3, "seller.name", "1 to 200 characters"),
        ("name: Example", "nam: Example", 3, "seller.nam", "is unknown"),
        ("name: Example", "name: [Example]", 3, "seller.name", "must be a text"),
        ("  name: Example\n", "", 1, "seller.name", "is missing: write `name: ...`"),
        ("name: Example", "name: Example\n  nam: null", 4, "seller.nam", "write name, if"),
        ("currency: EUR", "currency: ' EUR'", 6, "seller.currency", "not ' EUR'"),
        ("routers: 1", "routers: 0", 12, "space_plans.std.routers", "1 to 5"),
        ("std: {title", "S_d: {title", 10, "space_plans.S_d", "lower-case"),
        ("max_brokers: 2", "max_brokers: two", 11, "space_plans.std.max_brokers", "whole number"),
        ("max_brokers: 2", "max_brokers: 1e3", 11, "space_plans.std.max_brokers", "whole number"),
        ("type: queue", "type: heap", 14, "address_plans.q.address_type", "one of queue"),
        ("type: queue", "type: topic", 15, "address_plans.q.partitions", "must be 1"),
        ("partitions: 2", "partitions: 0", 15, "address_plans.q.partitions", "from 1"),
        ("credit: 20,\n", "credit: 1500,\n", 14, "address_plans.q.broker_credit", "whole brokers"),
        ("credit: 20,\n", "credit: 1000,\n", 14, "address_plans.q.broker_credit", "partition"),
        ("60_000", "-5", 15, "address_plans.q.message_ttl_ms", "whole number"),
        ("monthly_fee_minor: 9900", "fee: 1", 17, "plans.dear.monthly_fee_minor", "is missing"),
        ("at_quota: notify", "at_quota: drop", 17, "plans.dear.at_quota", "one of notify"),
        ("  cheap:", "  dear:", 19, "plans.dear", "appears twice"),
        ("{messages: 1000}", "{mesages: 1000}", 22, "plans.cheap.included.mesages", "is unknown"),
        ("{messages: 1000}", "[messages]", 22, "plans.cheap.included", "mapping"),
        ("model: graduated", "model: free", 25, "plans.cheap.prices.messages.model", "one of flat"),
        ("unit: 1000000", "unit: 0", 27, "plans.cheap.prices.messages.base_per_unit", "from 1"),
        ("quotas: {spaces: 2", "quotas: {rooms: 2", 29, "plans.cheap.quotas.rooms", "is unknown"),
        ("spaces: 2,", "spaces: true,", 29, "plans.cheap.quotas.spaces", "whole number"),
        ("withdraw_send\n    space_plans: [std]", "notify\n    space_plans: std", 31,
         "plans.cheap.space_plans", "must be a list"),
        ("withdraw_send\n    space_plans: [std]", "notify\n    space_plans: [big]", 31,
         "plans.cheap.space_plans[0]", "key of a plan in this document"),
        ("withdraw_send\n    space_plans: [std]", "notify\n    space_plans: [std, std]", 31,
         "plans.cheap.space_plans[1]", "twice"),
        ("withdraw_send\n    space_plans: [std]", "notify\n    space_plans: []", 31,
         "plans.cheap.space_plans", "at least one"),
    ],
)  # fmt: skip
def test_parse_names_line_and_field_of_a_mistake(
    old: str, new: str, line: int, field: str, reason: str
) -> None:
    assert TEXT.count(old) == 1, "the test must spoil one place"

    mistakes = refused(TEXT.replace(old, new))

    assert any(
        said.startswith(f"line {line}: ") and reason in said for said in mistakes.get(field, [])
    ), mistakes


@pytest.mark.parametrize(
    ("tiers", "reason"),
    [
        ("[]", "last up_to"),
        ("[[10, 1], [20, 1]]", "last up_to"),
        ("[[null, 1], [null, 1]]", "last up_to"),
        ("[[10, 1], [10, 1], [null, 1]]", "must rise"),
        ("[[0, 1], [null, 1]]", "must rise"),
        ("[[10, 1, 1], [null, 1]]", "must be a pair"),
        ("[[ten, 1], [null, 1]]", "must be a number"),
    ],
)
def test_parse_refuses_tiers_that_leave_a_price_open(tiers: str, reason: str) -> None:
    mistakes = refused(TEXT.replace('[[10, 0.80], [null, "0.5"]]', tiers))

    assert any(reason in said for reasons in mistakes.values() for said in reasons)


@pytest.mark.parametrize("model", ["flat", "unit", "package"])
def test_parse_refuses_more_than_one_tier_where_only_one_counts(model: str) -> None:
    mistakes = refused(TEXT.replace("graduated", model))

    assert mistakes == {
        "plans.cheap.prices.messages.tiers": [f"line 28: must be one tier for the model {model}"]
    }


def test_parse_refuses_to_bill_messages_twice() -> None:
    price = "{model: unit, unit: m, base_per_unit: 1, tiers: [[null, 1]]}"

    mistakes = refused(TEXT.replace("    prices:", f"    prices:\n      messages_in: {price}"))

    assert "price the sum or the parts" in mistakes["plans.cheap.prices"][0]


def test_parse_refuses_a_brokered_plan_with_routers() -> None:
    brokered = TEXT.replace("S, space_type: standard, router", "S, space_type: brokered, router")

    mistakes = refused(brokered)

    assert "one broker and no routers" in mistakes["space_plans.std"][0]


@pytest.mark.parametrize(
    ("plan", "field", "reason"),
    [
        ("address_type: anycast, router_credit: 1, broker_credit: 1", "broker_credit", "must be 0"),
        ("address_type: topic, router_credit: 1, broker_credit: 2000",
         "broker_credit", "at most 1000"),
        ("address_type: queue, router_credit: 1, broker_credit: 1, space_type: brokered",
         "router_credit", "no routers"),
    ],
)  # fmt: skip
def test_parse_refuses_credits_that_a_type_cannot_use(plan: str, field: str, reason: str) -> None:
    space_type = "" if "space_type" in plan else "space_type: standard, "
    entry = f"address_plans:\n  odd: {{title: O, {space_type}{plan}}}"

    mistakes = refused(TEXT.replace("address_plans:\n", f"{entry}\n", 1))

    assert reason in mistakes[f"address_plans.odd.{field}"][0]


def test_parse_names_every_mistake_at_once_and_tells_where_the_first_is() -> None:
    text = TEXT.replace("country: NO", "country: nor").replace("routers: 1", "routers: 0")

    with pytest.raises(
        Invalid, match=r"2 mistakes, the first in line 5 \(seller\.country\)"
    ) as refusal:
        parsing.parse(text)

    assert set(refusal.value.fields) == {"seller.country", "space_plans.std.routers"}


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("seller: {key: [", 1, "is not YAML"),
        ("a: 1\n\tb: 2", 2, "is not YAML"),
        ("a: 1\rb: [", 2, "is not YAML"),
        ("a: \x00", 1, "is not YAML"),
        ("a: 'é'\n\nb: \x00", 3, "is not YAML"),
        ("a: \ud800", 1, "is not YAML"),
        ("a: 'é'\n\nb: \ud800", 3, "is not YAML"),
        ('a: 1\nb: "\\ud83d\\ude00"', 2, "is not YAML"),
        ("a: &x 1\nb: *x", 2, "anchors"),
        ("a: 1\nb: " + "[" * 20 + "]" * 20, 2, "too deeply"),
        ("[" * 900_000, 1, "too deeply"),
        ("x" * 1_000_001, 1, "at most"),
    ],
)
def test_parse_refuses_what_is_no_yaml_with_its_line(text: str, line: int, reason: str) -> None:
    mistakes = refused(text)

    assert mistakes["catalog"][0].startswith(f"line {line}: ")
    assert reason in mistakes["catalog"][0]


@pytest.mark.parametrize("text", ["", "null", "[]", "catalogue", "{}", "? [1]\n: 2", "code: 1"])
def test_parse_refuses_a_document_that_is_no_catalog(text: str) -> None:
    assert "plans" in refused(text)


@pytest.mark.parametrize("section", ["space_plans", "address_plans"])
def test_parse_refuses_a_section_that_is_a_list_of_mappings(section: str) -> None:
    document = yaml.safe_load(TEXT)
    document[section] = [{"key": "small"}]

    assert section in refused(yaml.safe_dump(document))
