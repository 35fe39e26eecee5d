"""A spend cap on last month: when it had acted, and what it had refused."""

from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from plans.models import SpendCap
from plans.quotas import simulation
from tenants.models import AddressSpace, Tenant
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import ENDS_AT, STARTS_AT

pytestmark = pytest.mark.django_db
NOW = ENDS_AT + timedelta(days=3)


@pytest.fixture
def owner() -> Tenant:
    """One euro a message before tax; ten messages in and two out each day at 12:15, for 30 days."""
    found = rows.tenant(to=rows.plan("bulk"))
    space = rows.space(found, active_since=None)
    cells = []
    for day in range(30):
        at = STARTS_AT + timedelta(days=day, hours=12, minutes=15)
        cells += [
            rows.cell(space, "messages_in", 10, at=at),
            rows.cell(space, "messages_out", 2, at=at),
            rows.cell(space, "connections_opened", 1, at=at),
        ]
    rows.used(*cells)
    return found


def test_it_acts_in_the_hour_that_reaches_it_and_refuses_what_came_later(owner: Tenant) -> None:
    # 12 messages a day at 1.19 each: 14.28 a day. 50.00 are reached on the fourth day.
    found = simulation.of_last_month(owner, 5000, "refuse_connections", NOW)

    assert found.acted_at == datetime(2026, 4, 4, 13, tzinfo=UTC)
    assert [spent for _, spent in found.days[:4]] == [1428, 2856, 4284, 5712]
    assert found.days[0][0] == date(2026, 4, 1)
    assert (len(found.days), found.spent_minor) == (30, 42840)
    assert found.affected == {
        "messages_in": 260,
        "messages_out": 52,
        "connections_opened": 26,
    }
    assert not SpendCap.objects.exists()


@pytest.mark.parametrize(
    ("action", "affected"),
    [
        ("notify", {}),
        ("throttle", {"messages_in": 260, "connections_opened": 26}),
        ("withdraw_send", {"messages_in": 260}),
    ],
)
def test_each_action_affects_its_meters(
    owner: Tenant, action: str, affected: dict[str, int]
) -> None:
    assert simulation.of_last_month(owner, 5000, action, NOW).affected == affected


def test_a_cap_that_is_never_reached_refuses_nothing(owner: Tenant) -> None:
    found = simulation.of_last_month(owner, 10**9, "withdraw_send", NOW)

    assert (found.acted_at, found.affected) == (None, {"messages_in": 0})


def test_a_cap_below_the_fee_alone_is_reached_on_each_first_day() -> None:
    found = rows.tenant(to=rows.plan("team"))
    rows.used()

    low, high = (simulation.of_last_month(found, cap, "notify", NOW) for cap in (3000, 9000))

    assert (low.fee_minor, low.is_below_fee, high.is_below_fee) == (5831, True, False)


def test_days_are_the_tenants_own(owner: Tenant) -> None:
    Tenant.objects.update(billing_time_zone="Asia/Tokyo")
    owner.refresh_from_db()

    found = simulation.of_last_month(owner, 1000, "notify", NOW)

    assert (found.days[0][0], found.days[-1][0]) == (date(2026, 4, 1), date(2026, 4, 30))
    # 12:15 of UTC is 21:15 in Tokyo, on the same day.
    assert found.acted_at == datetime(2026, 4, 1, 13, tzinfo=UTC)


def test_queries_do_not_grow_with_usage(owner: Tenant) -> None:
    with CaptureQueriesContext(connection) as few:
        simulation.of_last_month(owner, 10**9, "notify", NOW)
    space = AddressSpace.objects.get(tenant=owner)
    rows.used(
        *(
            rows.cell(space, "messages_in", 1, at=STARTS_AT + timedelta(minutes=15 * n))
            for n in range(200)
        )
    )

    with CaptureQueriesContext(connection) as many:
        simulation.of_last_month(owner, 10**9, "notify", NOW)

    assert len(many) == len(few)


def test_queries_do_not_grow_with_days_hours_or_plans() -> None:
    start = datetime(2026, 2, 1, tzinfo=UTC)
    found = rows.tenant(start, to=rows.plan("bulk"))
    rows.address(rows.space(found, active_since=start), active_since=start)

    def queries(cap_minor: int, now: datetime) -> tuple[int, int]:
        with CaptureQueriesContext(connection) as captured:
            days = simulation.of_last_month(found, cap_minor, "notify", now).days
        return len(captured), len(days)

    short, days_of_february = queries(10**9, datetime(2026, 3, 3, tzinfo=UTC))
    long, days_of_march = queries(10**9, datetime(2026, 4, 3, tzinfo=UTC))
    # The hours of the last day take one query more, for the lifetimes.
    by_hour, _ = queries(1500, datetime(2026, 4, 3, tzinfo=UTC))
    assert (days_of_february, days_of_march) == (28, 31)
    assert (long, by_hour) == (short, short + 1)
    assert short < 20


def test_hours_of_spaces_and_addresses_count_until_each_end() -> None:
    found = rows.tenant(to=rows.plan("bulk"))
    space = rows.space(found)
    gone_at = STARTS_AT + timedelta(days=2)
    rows.address(space, deletion_requested_at=gone_at, deleted_at=gone_at)

    first, second, third, *_ = simulation.of_last_month(found, 10**9, "notify", NOW).days

    # 0.02 an hour for the space and, for two days, 0.001 for the address, with 19 % tax.
    assert [amount for _, amount in (first, second, third)] == [60, 120, 177]
    acted = simulation.of_last_month(found, 100, "notify", NOW).acted_at
    assert acted == STARTS_AT + timedelta(days=1, hours=16)
