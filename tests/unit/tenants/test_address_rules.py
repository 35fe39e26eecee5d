"""Which addresses, types and settings are legal."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from controlplane.core import address_types
from controlplane.core.address_types import AddressSettings
from controlplane.core.errors import Invalid
from tenants import address_rules
from tenants.models import AddressType, SpaceType
from workers.messaging.routers.desired import RouterAddressKind


def wrong_settings(space_type: str, address_type: str, **settings: Any) -> set[str]:
    """Return the settings that are refused."""
    try:
        address_rules.check_settings(space_type, address_type, AddressSettings(**settings))
    except Invalid as refusal:
        return set(refusal.fields)
    return set()


def refusal(check: Callable[[str, str], None], space_type: str, value: str) -> str:
    """Return the code of the refusal; empty if nothing is refused."""
    try:
        check(space_type, value)
    except Invalid as refused:
        return refused.error_code
    return ""


@pytest.mark.parametrize(
    "name", ["orders", "a", "orders/new", "a:b", "été/€", "0", "x" * 255, "a$b", "wp", "a_b", "x.y"]
)
def test_check_name_accepts(name: str) -> None:
    assert refusal(address_rules.check_name, "standard", name) == ""


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "1 to 255"),
        ("x" * 256, "1 to 255"),
        ("a b", "without spaces"),
        ("a\tb", "without spaces"),
        ("a\u00a0b", "without spaces"),
        ("a\x00b", "control"),
        ("a\u202eb", "control"),
        ("a#", "'#'"),
        ("*", "'#'"),
        ("a+b", "'#'"),
        (":a", "':'"),
        ("$sys", "'$'"),
        ("a${user.home}", "replace"),
        ("topic::sub", "'::'"),
        ("amqp:/orders", "URL"),
        ("wp-orders", "reserved"),
        ("WP-orders", "reserved"),
        ("activemq.management", "reserved"),
        ("_topo/0/a", "reserved"),
        ("!!orders", "reserved"),
        ("/orders", "reserved"),
        (".orders", "reserved"),
        ("orders,$management", "','"),
    ],
)
def test_check_name_refuses_and_says_why(name: str, reason: str) -> None:
    with pytest.raises(Invalid, match="is not a legal address") as refused:
        address_rules.check_name("standard", name)

    assert refused.value.error_code == "address.invalid"
    assert reason in refused.value.fields["address"][0]


def test_brokers_take_a_comma_in_a_name() -> None:
    assert refusal(address_rules.check_name, "brokered", "orders,new") == ""


@given(st.text(max_size=300))
@example("a::b")
@example("a\x00b")
def test_check_name_lets_nothing_through_that_the_database_refuses(name: str) -> None:
    if refusal(address_rules.check_name, "standard", name):
        return

    assert re.fullmatch(r"[^\s#*+$:][^\s#*+]{0,254}", name)
    assert "::" not in name
    assert "\x00" not in name
    name.encode()


@pytest.mark.parametrize("address_type", ["queue", "topic", "subscription", "anycast", "multicast"])
def test_a_standard_space_offers_all_types_on_a_full_router(address_type: str) -> None:
    assert refusal(address_rules.check_type, "standard", address_type) == ""


@pytest.mark.parametrize("address_type", ["anycast", "multicast", "heap", ""])
def test_a_brokered_space_refuses_what_needs_routers(address_type: str) -> None:
    with pytest.raises(Invalid, match="offers: queue, topic, subscription, deadletter;") as refused:
        address_rules.check_type("brokered", address_type)

    assert refused.value.error_code == "address.type_not_offered"
    assert refused.value.fields["type"] == ["One of: queue, topic, subscription, deadletter."]


@pytest.mark.parametrize("space_type", SpaceType.values)
@pytest.mark.parametrize("address_type", ["queue", "topic"])
def test_settings_fit_queues_and_topics(space_type: str, address_type: str) -> None:
    settings = {
        "message_ttl_ms": 1,
        "max_delivery_attempts": 1,
        "redelivery_delay_ms": 0,
        "max_bytes": 1,
    }

    assert wrong_settings(space_type, address_type, **settings) == set()


@pytest.mark.parametrize("address_type", ["anycast", "multicast", "subscription"])
def test_settings_that_mean_nothing_are_refused_not_ignored(address_type: str) -> None:
    given_settings = {"message_ttl_ms": 5, "redelivery_delay_ms": 0}

    assert wrong_settings("standard", address_type, **given_settings) == set(given_settings)
    assert wrong_settings("standard", address_type) == set()


def test_a_topic_is_named_by_subscriptions_alone() -> None:
    assert wrong_settings("standard", "subscription", topic="news") == set()
    assert wrong_settings("standard", "queue", topic="news") == {"topic"}


def test_dead_letters_are_a_matter_of_stored_addresses() -> None:
    assert wrong_settings("brokered", "queue", dead_letter="dead", expiry="late") == set()
    assert wrong_settings("standard", "topic", dead_letter="dead") == set()
    assert wrong_settings("standard", "deadletter", dead_letter="dead") == {"dead_letter"}
    assert wrong_settings("standard", "anycast", dead_letter="dead") == {"dead_letter"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("when_full", "drop"),
        ("exclusive", "true"),
        ("last_value_key", "a${b}"),
        ("last_value_key", "a" * 65),
        ("redelivery_multiplier", 0),
        ("message_ttl_ms", 0),
        ("message_ttl_ms", 10**15),
        ("max_delivery_attempts", 0),
        ("max_delivery_attempts", 2**31),
        ("redelivery_delay_ms", -1),
        ("max_bytes", 0),
        ("max_bytes", 2**63),
    ],
)
def test_settings_out_of_range_are_refused(name: str, value: int) -> None:
    assert wrong_settings("brokered", "queue", **{name: value}) == {name}


def test_every_address_type_is_known_to_the_rules() -> None:
    offered = {kind for space in SpaceType for kind in address_types.offered_in(space)}

    assert offered == set(AddressType)
    assert set(address_types.BY_SLUG) == set(AddressType.values)
    # Of a type: what routers do with it follows from its row.
    for kind in RouterAddressKind:
        assert RouterAddressKind.of_type(kind.value) is kind
    for row in address_types.REGISTRY:
        assert row.help_text
        assert row.spaces
