"""From desired addresses to entities: what each shape becomes, and what must never happen."""

import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.messaging.desired_routers import BROKERS, PAIR, addresses, desired
from workers.messaging.certificates import KeyPair
from workers.messaging.routers import config, entities
from workers.messaging.routers.desired import (
    EngineLayout,
    OnBroker,
    RoutedAddress,
    RouterAddressKind,
)
from workers.services.devrouter import matching

ZERO = OnBroker("broker-0")


def of(address: RoutedAddress, **changes: object) -> list[tuple[str, dict[str, object]]]:
    """Return kind and attributes of one address's entities."""
    built = entities.build(desired([address], **changes))
    return [(e.kind, dict(e.attributes)) for e in built if e.address == address.address]


def test_anycast_is_an_exact_address_held_by_an_idle_link() -> None:
    assert of(RoutedAddress("calls", RouterAddressKind.ANYCAST)) == [
        (
            "router.config.address",
            {"pattern": "calls", "distribution": "balanced", "waypoint": False},
        ),
        (
            "router.config.autoLink",
            {"address": "calls", "direction": "in", "phase": 0, "connection": "wp-hold"},
        ),
    ]


def test_queue_is_a_waypoint_with_a_link_each_way() -> None:
    assert of(RoutedAddress("orders", RouterAddressKind.QUEUE, [ZERO])) == [
        (
            "router.config.address",
            {"pattern": "orders", "distribution": "balanced", "waypoint": True},
        ),
        (
            "router.config.autoLink",
            {"address": "orders", "direction": "in", "phase": 1, "connection": "wp-broker-0"},
        ),
        (
            "router.config.autoLink",
            {"address": "orders", "direction": "out", "phase": 0, "connection": "wp-broker-0"},
        ),
    ]


def test_a_draining_partition_gives_and_takes_nothing() -> None:
    built = of(
        RoutedAddress("orders", RouterAddressKind.QUEUE, [OnBroker("broker-0", draining=True)])
    )

    directions = [entity["direction"] for kind, entity in built if kind == entities.AUTO_LINK]
    assert directions == ["in"]


def test_topic_is_routed_on_its_own_connection_by_the_leading_router_only() -> None:
    topic = RoutedAddress("news", RouterAddressKind.TOPIC, [ZERO])

    assert of(topic) == [
        (
            "router.config.linkRoute",
            {"prefix": "news", "direction": direction, "connection": "wp-lr-broker-0@router-0"},
        )
        for direction in ("in", "out")
    ]
    assert of(topic, leads=False) == []


def test_topic_does_not_swallow_an_address_below_it() -> None:
    topic = RoutedAddress("news", RouterAddressKind.TOPIC, [ZERO])
    below = RoutedAddress("news/jobs", RouterAddressKind.QUEUE, [ZERO])

    built = entities.build(desired([topic, below]))

    routes = [entity.attributes for entity in built if entity.address == "news"]
    assert [set(route) for route in routes] == [{"pattern", "direction", "connection"}] * 2


def test_subscription_is_read_from_the_broker_under_its_full_name() -> None:
    built = of(RoutedAddress("news::desk", RouterAddressKind.SUBSCRIPTION, [ZERO]))

    assert [entity["direction"] for kind, entity in built if kind == entities.AUTO_LINK] == ["in"]
    assert built[-1][1]["externalAddress"] == "news::desk"


def test_names_that_a_router_cannot_tell_apart_are_found() -> None:
    same = [
        RoutedAddress(name, RouterAddressKind.ANYCAST) for name in ("a.b", "a/b", "/a.b", "a", "ab")
    ]

    assert entities.find_clashes(same) == {"a/b": "a.b", "/a.b": "a.b"}
    built = entities.build(desired(same))
    assert {e.address for e in built} & {"a/b", "/a.b"} == set()


@given(addresses())
def test_everything_is_ours_and_named_once(given_addresses: list[RoutedAddress]) -> None:
    built = entities.build(desired(given_addresses))

    names = [(entity.kind, entity.name) for entity in built]
    assert len(set(names)) == len(names)
    assert all(entity.name.startswith("wp-") for entity in built)


@given(addresses(), st.randoms(use_true_random=False))
def test_the_order_of_addresses_changes_nothing(
    given_addresses: list[RoutedAddress], random: Random
) -> None:
    clear = [e for e in given_addresses if e.address not in entities.find_clashes(given_addresses)]
    shuffled = list(clear)
    random.shuffle(shuffled)

    one, other = entities.build(desired(clear)), entities.build(desired(shuffled))

    assert {(e.kind, e.name): e for e in one} == {(e.kind, e.name): e for e in other}


@given(addresses())
def test_what_is_referred_to_comes_first(given_addresses: list[RoutedAddress]) -> None:
    seen: set[str] = {entities.HOLD}
    for entity in entities.build(desired(given_addresses)):
        if entity.kind == entities.CONNECTOR:
            seen.add(entity.name)
        else:
            assert entity.attributes.get("connection", entities.HOLD) in seen


@given(addresses())
def test_each_address_is_found_by_its_own_name_alone(given_addresses: list[RoutedAddress]) -> None:
    built = entities.build(desired(given_addresses))
    rules: matching.PatternTable[str] = matching.PatternTable()
    for entity in built:
        if entity.kind == entities.ADDRESS:
            assert rules.add(matching.tokens(entity.attributes["pattern"]), entity.address)

    for entity in built:
        if entity.kind == entities.ADDRESS:
            assert rules.find(entity.address) == entity.address
            assert rules.find(f"{entity.address}/below/it") in (None, f"{entity.address}/below/it")


@given(addresses())
def test_the_file_holds_what_the_driver_keeps_live(given_addresses: list[RoutedAddress]) -> None:
    router = desired(given_addresses)
    written = json.loads(
        config.files(router, EngineLayout("/etc/router", "127.0.0.1", 1, 2))[config.CONFIG_FILE]
    )

    types = {"connector", "address", "linkRoute", "autoLink"}
    live = [attributes for kind, attributes in written if kind in types]
    assert live == [{"name": e.name, **e.attributes} for e in entities.build(router)]


@pytest.mark.parametrize("public_certificate", [None, PAIR])
def test_no_address_takes_the_name_of_another_entity(public_certificate: KeyPair | None) -> None:
    """A router does not start with two entities of one name, whatever their types."""
    ours = "public presented management mesh hold broker-0 server auth lr-broker-0@router-0"
    names = [*ours.split(), "in:wp-broker-0:x", "out:prefix:x", "address:x", "x"]
    shapes = (RouterAddressKind.QUEUE, RouterAddressKind.ANYCAST, RouterAddressKind.TOPIC)
    for address_kind in shapes:
        routed = [RoutedAddress(name, address_kind, [ZERO]) for name in names]
        router = desired(routed, public_certificate=public_certificate)
        engine_layout = EngineLayout("/etc", "127.0.0.1", 1, 2, 3)
        entries = json.loads(config.files(router, engine_layout)[config.CONFIG_FILE])
        taken = [attributes["name"] for _, attributes in entries if "name" in attributes]
        assert len(taken) == len(set(taken))


def test_only_the_base_restarts_a_router() -> None:
    engine_layout = EngineLayout("/etc/router", "127.0.0.1", 1, 2)

    def cold(*given_addresses: RoutedAddress, at: EngineLayout = engine_layout) -> dict[str, str]:
        files = config.files(desired(given_addresses), at)
        return {name: text for name, text in files.items() if name not in config.LIVE_FILES}

    assert cold() == cold(RoutedAddress("calls", RouterAddressKind.ANYCAST))
    assert cold() != cold(at=EngineLayout("/etc/router", "127.0.0.1", 3, 2))


def test_what_clients_are_shown_is_in_files_of_its_own_and_changes_live() -> None:
    engine_layout = EngineLayout("/etc/router", "127.0.0.1", 1, 2, 3)

    def profiles(text: str) -> dict[str, str]:
        held = [entity for kind, entity in json.loads(text) if kind == "listener"]
        return {entity["name"]: entity["sslProfile"] for entity in held}

    own, first = (
        config.files(desired(public_certificate=pair), engine_layout) for pair in (None, PAIR)
    )
    second = config.files(desired(public_certificate=KeyPair("key", "renewed")), engine_layout)

    inside = {"wp-management": "wp-server", "wp-mesh": "wp-server"}
    assert profiles(own[config.BASE_FILE]) == {"wp-public": "wp-server", **inside}
    assert profiles(first[config.BASE_FILE]) == {"wp-public": "wp-presented", **inside}
    changed = {name for name in first if first[name] != second[name]}
    assert changed == {"public.key", "public.pem"}
    assert changed <= config.LIVE_FILES


def test_keys_are_secret_files() -> None:
    files = config.files(
        desired(public_certificate=PAIR), EngineLayout("/etc/router", "127.0.0.1", 1, 2)
    )

    with_keys = {name for name, text in files.items() if "PRIVATE KEY" in text}
    assert with_keys == config.SECRET_FILES
    assert BROKERS  # the fixture has brokers, so the keys are in use
