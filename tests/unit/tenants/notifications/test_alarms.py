"""Alarms are evaluated in the sampling cycle, from what it stores, at a cost of what changed."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from controlplane.core.audit import SYSTEM
from tenants.actions import alarms as alarm_actions
from tenants.models import Address, AddressReading, AddressSpace
from tenants.notifications import alarms, rendering, watching
from tenants.notifications.event_kinds import BY_KEY
from tenants.notifications.models import AddressAlarm, Event
from tests.support import domain
from tests.support.notifications import notified
from workers.messaging.observed import AddressGauges, InstanceSnapshot
from workers.metering import sampling
from workers.metering.collector import Reading

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
# A cycle some seconds after noon, with the depth of orders and the age of its oldest message.
Cycle = Callable[[float, int, float | None], None]


@pytest.fixture
def space(cast: domain.Cast) -> AddressSpace:
    return domain.space(cast.tenant, "brokered")


@pytest.fixture
def orders(space: AddressSpace) -> Address:
    return domain.address(space, "orders")


@pytest.fixture
def cycle(space: AddressSpace, orders: Address) -> Cycle:
    """Apply a sampling cycle of the space as the sampler does."""

    def one(seconds: float, depth: int, oldest_seconds: float | None = None) -> None:
        taken_at = NOON + timedelta(seconds=seconds)
        oldest_ms = None if oldest_seconds is None else int(oldest_seconds * 1000)
        gauges = {"orders": AddressGauges(depth, 0, depth=depth, oldest_ms=oldest_ms)}
        found = {"broker-0": InstanceSnapshot("b", [], [], 0, gauges)}
        reading = Reading(space.tenant_id, space.id, taken_at, found, {})
        assert sampling.apply(reading, started_at=taken_at)

    return one


def kinds() -> list[str]:
    return list(Event.objects.order_by("occurred_at").values_list("kind", flat=True))


def test_depth_raises_after_its_time_and_clears_with_hysteresis(
    orders: Address, cycle: Cycle
) -> None:
    alarm = notified.alarm(orders, for_seconds=30)
    cycle(0, 120, None)
    cycle(20, 120, None)  # nothing has changed: the stored due time alone brings it here
    assert kinds() == []
    cycle(30, 120, None)
    assert kinds() == ["alarm.raised"]
    cycle(40, 90, None)
    cycle(50, 500, None)
    assert kinds() == ["alarm.raised"]
    cycle(60, 79, None)

    assert kinds() == ["alarm.raised", "alarm.cleared"]
    alarm.refresh_from_db()
    assert (alarm.raised_at, alarm.due_at, alarm.last_value) == (None, None, 79)
    raised, cleared = Event.objects.order_by("occurred_at")
    assert raised.fields["value_words"] == "120 messages"
    assert raised.fields["threshold_words"] == "100 messages for 30 s"
    assert raised.tenant == orders.space.tenant
    assert cleared.fields["raised_at"] == "2026-11-21T12:00:30.000000Z"
    assert set(raised.fields) == {*BY_KEY["alarm.raised"].sample, "tenant", "organization"}
    assert set(cleared.fields) == {*BY_KEY["alarm.cleared"].sample, "tenant", "organization"}


def test_age_raises_without_any_change_of_the_reading(orders: Address, cycle: Cycle) -> None:
    notified.alarm(orders, "age", 60)
    cycle(0, 1, 0)
    written = AddressReading.objects.get()
    cycle(59, 1, 59)
    assert kinds() == []
    cycle(60, 1, 60)

    assert kinds() == ["alarm.raised"]
    assert AddressReading.objects.get().parts == written.parts
    cycle(70, 0, None)
    assert kinds() == ["alarm.raised", "alarm.cleared"]


def test_the_age_of_a_raised_alarm_keeps_growing(orders: Address, cycle: Cycle) -> None:
    alarm = notified.alarm(orders, "age", 20)
    # In one minute: at the end of a minute of its history, the reading is written.
    for seconds in (0, 39, 55):
        cycle(seconds, 1, seconds)

    alarm.refresh_from_db()
    assert alarm.raised_at == NOON + timedelta(seconds=39)
    assert alarm.last_value == 55
    assert kinds() == ["alarm.raised"]


def test_an_alarm_of_a_quiet_address_costs_no_evaluation(
    orders: Address, cycle: Cycle, space: AddressSpace
) -> None:
    notified.alarm(orders)
    cycle(0, 10, None)

    assert AddressAlarm.objects.get().due_at is None
    assert alarms.evaluate(space.id, [], NOON + timedelta(hours=1)) == 0


def test_a_cycle_takes_as_many_queries_for_twenty_alarms_as_for_two(
    space: AddressSpace, cycle: Cycle
) -> None:
    def evaluated(n: int) -> int:
        AddressAlarm.objects.update(due_at=NOON)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert alarms.evaluate(space.id, [], NOON) == n
        return len(queries)

    rows = [domain.address(space, f"queue-{number}") for number in range(20)]
    for row in rows[:2]:
        notified.alarm(row)
    few = evaluated(2)
    for row in rows[2:]:
        notified.alarm(row)

    assert evaluated(20) == few


def test_a_new_alarm_is_evaluated_though_nothing_changes(orders: Address, cycle: Cycle) -> None:
    cycle(0, 500, None)
    notified.alarm(orders, due_at=NOON)
    cycle(10, 500, None)

    assert kinds() == ["alarm.raised"]


def test_an_alarm_of_another_space_is_left_alone(
    cast: domain.Cast, orders: Address, cycle: Cycle
) -> None:
    other = domain.address(domain.space(cast.other, "brokered"), "orders")
    notified.alarm(other, due_at=NOON)
    cycle(0, 500, None)

    assert kinds() == []


def test_a_deleted_address_raises_nothing(orders: Address, cycle: Cycle) -> None:
    notified.alarm(orders, due_at=NOON)
    domain.gone(orders)
    cycle(0, 500, None)

    assert kinds() == []


@pytest.mark.parametrize("deleted", ["address", "space"])
def test_a_raised_alarm_of_what_is_deleted_ends_once(
    orders: Address, space: AddressSpace, cycle: Cycle, deleted: str
) -> None:
    alarm = notified.alarm(orders)
    other = notified.alarm(domain.address(space, "other"))
    cycle(0, 120, None)
    AddressAlarm.objects.filter(pk=other.pk).update(due_at=None)
    watching.watch(NOON + timedelta(seconds=10))
    assert kinds() == ["alarm.raised"]

    domain.gone(orders if deleted == "address" else space)
    for seconds in (20, 30):
        watching.watch(NOON + timedelta(seconds=seconds))

    assert kinds() == ["alarm.raised", "alarm.cleared"]
    raised, cleared = Event.objects.order_by("occurred_at")
    assert cleared.fields["alarm"] == raised.fields["alarm"] == alarm.pk
    assert "is over: the address is deleted." in rendering.message(cleared).text
    alarm.refresh_from_db()
    assert (alarm.raised_at, alarm.breached_since, alarm.due_at) == (None, None, None)


def test_a_cycle_of_watch_that_is_rolled_back_ends_the_alarm_in_the_next(
    orders: Address, cycle: Cycle, monkeypatch: pytest.MonkeyPatch
) -> None:
    notified.alarm(orders)
    cycle(0, 120, None)
    domain.gone(orders)
    with monkeypatch.context() as patched:
        patched.setattr(watching, "_tokens", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            watching.watch(NOON)
    assert kinds() == ["alarm.raised"]
    watching.watch(NOON + timedelta(seconds=30))

    assert kinds() == ["alarm.raised", "alarm.cleared"]


@pytest.mark.parametrize("is_raised", [True, False])
def test_a_raised_alarm_that_is_deleted_ends(
    orders: Address, cycle: Cycle, is_raised: bool
) -> None:
    alarm = notified.alarm(orders)
    cycle(0, 120 if is_raised else 1, None)
    for _ in range(2):
        alarm_actions.delete(alarm=alarm, by=SYSTEM)

    assert sorted(kinds()) == (["alarm.cleared", "alarm.raised"] if is_raised else [])


def test_an_evaluation_that_fails_loses_no_reading_and_is_made_up_for(
    orders: Address, cycle: Cycle, monkeypatch: pytest.MonkeyPatch
) -> None:
    notified.alarm(orders, due_at=None)
    with monkeypatch.context() as patched:
        patched.setattr(alarms, "_advance", lambda *_: 1 / 0)
        cycle(0, 500, None)
    assert AddressReading.objects.get().parts["broker-0"]["depth"] == 500
    assert AddressAlarm.objects.get().due_at == NOON
    cycle(10, 500, None)

    assert kinds() == ["alarm.raised"]


def test_a_cycle_that_is_rolled_back_raises_nothing(
    orders: Address, space: AddressSpace, cycle: Cycle, monkeypatch: pytest.MonkeyPatch
) -> None:
    notified.alarm(orders, due_at=NOON)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(alarms, "_write", killed)
    with pytest.raises(KeyboardInterrupt):
        cycle(0, 500, None)

    assert kinds() == []
    assert AddressAlarm.objects.get().raised_at is None
