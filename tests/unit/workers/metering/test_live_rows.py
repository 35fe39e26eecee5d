"""Newest readings and their history: sums over instances, rates, steps, nothing for idle rows."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tenants import live_readings, reading_history
from tenants.live_readings import LiveReading
from tenants.models import (
    Address,
    AddressMinutes,
    AddressQuarters,
    AddressReading,
    AddressSpace,
    SpaceReading,
)
from tests.support import domain
from tests.support.domain import Cast
from workers.messaging.observed import AddressGauges, InstanceSnapshot
from workers.metering import live_rows
from workers.metering.live_rows import Cycle

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
Play = Callable[..., None]


@pytest.fixture
def space(cast: Cast) -> AddressSpace:
    return domain.space(cast.tenant, "standard")


@pytest.fixture
def orders(space: AddressSpace) -> Address:
    return domain.address(space, "orders", "queue")


@pytest.fixture
def play(space: AddressSpace) -> Play:
    """``play(10, broker_0={"orders": gauges})`` is a cycle ten seconds after noon."""

    def one(seconds: float, silent: tuple[str, ...] = (), boot: str = "b", **found: Any) -> None:
        taken_at = NOON + timedelta(seconds=seconds)
        instances = {
            name.replace("_", "-"): InstanceSnapshot(boot, [], [], 0, gauges)
            for name, gauges in found.items()
        }
        live_rows.write([Cycle(space.id, taken_at, instances, silent)])

    return one


def on_broker(arrived: int, left: int, **more: Any) -> Mapping[str, AddressGauges]:
    values = {"depth": arrived - left, "stored_bytes": 0, "consumers": 1, **more}
    return {"orders": AddressGauges(arrived, left, **values)}


def newest(address: Address) -> LiveReading:
    return live_readings.of_addresses(address.space, [address])[address.id]


def test_partitions_add_up_and_receivers_are_those_of_the_routers(
    orders: Address, play: Play
) -> None:
    router = {"orders": AddressGauges(0, 0, consumers=3)}
    play(0, broker_0=on_broker(5, 1), broker_1=on_broker(7, 0), router_0=router)
    play(10, broker_0=on_broker(15, 1), broker_1=on_broker(17, 5), router_0=router)

    reading = newest(orders)

    assert (reading.gauges.depth, reading.gauges.consumers) == (26, 3)
    assert (reading.in_per_second, reading.out_per_second) == (2.0, 0.5)
    assert (reading.messages_in, reading.messages_out) == (20, 5)
    assert reading.as_of == NOON + timedelta(seconds=10)


def test_direct_address_has_no_depth(space: AddressSpace, play: Play) -> None:
    rpc = domain.address(space, "rpc", "anycast")
    play(0, router_0={"rpc": AddressGauges(5, 5, consumers=2)})

    gauges = newest(rpc).gauges

    assert (gauges.depth, gauges.stored_bytes, gauges.producers) == (None, None, None)
    assert gauges.consumers == 2


def test_silent_instance_keeps_its_values_and_the_reading_gets_old(
    orders: Address, play: Play
) -> None:
    play(0, broker_0=on_broker(5, 0), broker_1=on_broker(7, 0))
    play(10, silent=("broker-1",), broker_0=on_broker(6, 0))
    silent = newest(orders)
    play(20, broker_0=on_broker(6, 0))  # broker-1 does not exist any more
    gone = newest(orders)

    assert (silent.gauges.depth, silent.as_of) == (13, NOON)
    assert (gone.gauges.depth, gone.as_of) == (6, NOON + timedelta(seconds=20))


def test_restarted_broker_counts_from_zero(orders: Address, play: Play) -> None:
    play(0, broker_0=on_broker(100, 100))
    play(10, boot="next", broker_0=on_broker(4, 0))

    assert newest(orders).messages_in == 4


def test_idle_addresses_write_nothing_and_a_cycle_costs_the_same(
    space: AddressSpace, orders: Address, play: Play
) -> None:
    for name in "abcde":
        domain.address(space, name, "queue")
    play(0, broker_0=on_broker(5, 0))
    play(60, broker_0=on_broker(5, 0))
    play(900, broker_0=on_broker(5, 0))
    with CaptureQueriesContext(connection) as queries:
        play(1000, broker_0=on_broker(5, 0))

    assert AddressReading.objects.count() == 1
    written = [
        q["sql"] for q in queries if "addressreading" in q["sql"] and "SELECT" not in q["sql"]
    ]
    assert written == []
    assert len(queries) <= 6
    assert AddressMinutes.objects.count() == 1  # the first minute, in which the depth appeared
    assert newest(orders).as_of == NOON + timedelta(seconds=1000)


def test_same_cycle_twice_gives_the_same_rows(orders: Address, play: Play) -> None:
    play(0, broker_0=on_broker(5, 0))
    for _ in range(2):
        play(30, broker_0=on_broker(9, 0))
    for _ in range(2):
        play(70, broker_0=on_broker(9, 0))

    assert newest(orders).messages_in == 4
    [row] = AddressMinutes.objects.all()
    assert (row.messages_in, row.depth) == ([4], [9])


def test_history_has_each_minute_and_carries_the_depth_on(orders: Address, play: Play) -> None:
    play(0, broker_0=on_broker(0, 0))
    play(60 * 5 + 10, broker_0=on_broker(8, 2))
    play(60 * 5 + 20, broker_0=on_broker(9, 2))
    play(60 * 9, broker_0=on_broker(9, 2))
    play(60 * 2 + 3600, broker_0=on_broker(9, 9))

    now = NOON + timedelta(seconds=60 * 4 + 3600)
    series = reading_history.read(orders, "1h", now)
    points = {(p.at - NOON) // timedelta(minutes=1): p for p in series.points}

    assert len(series.points) == 60
    assert (points[5].messages_in, points[5].messages_out, points[5].depth) == (9, 2, 7)
    assert (points[6].messages_in, points[6].depth) == (0, 7)
    assert (points[62].messages_out, points[62].depth) == (7, 0)
    assert points[64].depth == 0


def test_quarters_of_a_day_share_one_row(orders: Address, play: Play) -> None:
    for quarter in range(4):
        play(900 * quarter, broker_0=on_broker(10 * quarter, 0))
    play(900 * 4, broker_0=on_broker(30, 0))

    [row] = AddressQuarters.objects.all()
    series = reading_history.read(orders, "7d", NOON + timedelta(hours=1))

    assert row.messages_in[48:] == [0, 10, 10, 10]
    assert sum(point.messages_in for point in series.points) == 30


def test_address_that_never_changes_shows_its_depth(orders: Address, play: Play) -> None:
    play(0, broker_0=on_broker(5, 0))
    play(1000, broker_0=on_broker(5, 0))
    AddressMinutes.objects.all().delete()

    series = reading_history.read(orders, "1h", NOON + timedelta(days=3))

    assert {point.depth for point in series.points} == {5}


def test_old_days_are_dropped_with_their_partition(orders: Address, play: Play) -> None:
    first = reading_history.make_partitions(NOON)
    again = reading_history.make_partitions(NOON)
    play(86_400, broker_0=on_broker(5, 0))
    play(86_400 + 60, broker_0=on_broker(5, 0))
    before = AddressMinutes.objects.count()
    connection.check_constraints()  # a table with deferred checks in this transaction cannot go

    reading_history.make_partitions(NOON + timedelta(days=5))

    assert (first, again, before) == (4, 0, 1)
    assert AddressMinutes.objects.count() == 0


def test_deleted_instance_of_all_leaves_other_spaces_alone(
    cast: Cast, orders: Address, play: Play
) -> None:
    other = domain.space(cast.tenant, "brokered")
    same = domain.address(other, "orders", "queue")
    play(0, broker_0=on_broker(5, 0))

    assert live_readings.of_addresses(other, [same]) == {}
    assert set(live_readings.of_spaces([orders.space_id, other.id])) == {orders.space_id}
    assert SpaceReading.objects.count() == 1
