"""Comparing what is desired with what a router shows."""

from typing import Any

from hypothesis import given

from tests.support.messaging.desired_routers import addresses, desired
from workers.messaging.routers import difference, entities
from workers.messaging.routers.desired import OnBroker, PeerAt, RoutedAddress, RouterAddressKind
from workers.messaging.routers.entities import Entity

QUEUE = RoutedAddress("orders", RouterAddressKind.QUEUE, [OnBroker("broker-0")])


def shown(wanted: list[Entity]) -> dict[str, dict[str, dict[str, object]]]:
    """Return what a healthy router shows once it holds ``wanted``."""
    held: dict[str, dict[str, dict[str, object]]] = {}
    for entity in wanted:
        row = {"name": entity.name, **entity.attributes, "operStatus": "active", "priority": -1}
        held.setdefault(entity.kind, {})[entity.name] = row
    return held


@given(addresses())
def test_what_is_held_needs_nothing(given_addresses: list[RoutedAddress]) -> None:
    wanted = list(entities.build(desired(given_addresses)))

    assert difference.compare(wanted, shown(wanted), complete=entities.ORDER).is_empty


@given(addresses(), addresses())
def test_applying_the_difference_leaves_none(
    before: list[RoutedAddress], after: list[RoutedAddress]
) -> None:
    held = shown(list(entities.build(desired(before))))
    wanted = list(entities.build(desired(after)))

    steps = difference.compare(wanted, held, complete=entities.ORDER)
    for kind, name in steps.delete:
        del held[kind][name]
    for entity in steps.create:
        assert entity.name not in held.get(entity.kind, {})
        held.setdefault(entity.kind, {})[entity.name] = dict(entity.attributes)

    assert difference.compare(wanted, held, complete=entities.ORDER).is_empty


def test_an_attribute_that_the_router_swallowed_is_seen() -> None:
    wanted = list(entities.build(desired([QUEUE])))
    held = shown(wanted)
    held[entities.ADDRESS]["wp-address:orders"]["waypoint"] = False

    steps = difference.compare(wanted, held, complete=entities.ORDER)

    assert steps.delete == [(entities.ADDRESS, "wp-address:orders")]
    assert [entity.name for entity in steps.create] == ["wp-address:orders"]


def test_what_others_made_is_left_alone() -> None:
    held = {entities.ADDRESS: {"theirs": {"name": "theirs"}, "wp-old": {"name": "wp-old"}}}

    steps = difference.compare([], held, complete=entities.ORDER)

    assert steps.delete == [(entities.ADDRESS, "wp-old")]


def test_nothing_is_deleted_of_a_kind_that_was_not_read_whole() -> None:
    held = {entities.ADDRESS: {"wp-old": {"name": "wp-old"}}}

    assert difference.compare([], held, complete=(entities.LINK_ROUTE,)).is_empty


def test_a_link_that_is_not_active_is_a_problem_in_the_routers_words() -> None:
    wanted = [e for e in entities.build(desired([QUEUE])) if e.kind == entities.AUTO_LINK]
    held = shown(wanted)
    held[entities.AUTO_LINK][wanted[0].name] |= {
        "operStatus": "failed",
        "lastError": "amqp:not-found: no queue",
    }

    assert "no queue" in difference.find_problem(wanted[0], held)


def test_a_holding_link_need_not_be_active() -> None:
    wanted = list(entities.build(desired([RoutedAddress("calls", RouterAddressKind.ANYCAST)])))
    held = shown(wanted)
    hold = next(entity for entity in wanted if entity.is_hold and entity.address == "calls")
    held[entities.AUTO_LINK][hold.name]["operStatus"] = "inactive"

    assert difference.find_problem(hold, held) == ""


def test_a_peer_is_joined_by_success_alone() -> None:
    peers = [PeerAt(f"router-{ordinal}", "host", 5674) for ordinal in range(4)]
    said = {"connectionStatus": "CONNECTING", "connectionMsg": "Connection Opened: dir=out"}
    rows: dict[str, dict[str, Any]] = {
        "wp-mesh-router-0": {"connectionStatus": "SUCCESS", "connectionMsg": "Connection Opened"},
        "wp-mesh-router-1": said,
        "wp-mesh-router-2": {"connectionStatus": "FAILED", "connectionMsg": None},
    }

    assert difference.find_unjoined(peers, {entities.CONNECTOR: rows}) == {
        "router-1": "host:5674: Connection Opened: dir=out",
        "router-2": "host:5674: FAILED",
        "router-3": "host:5674: it has no connector",
    }
