"""The copy of gold: replaced by days, never by an older version; and what is read from it."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import connection

from controlplane.core.errors import Invalid
from plans.models import UsageCopy, UsageDay, UsageHour, UsageRecord, UsageSpaceDay
from plans.usage import reading, recording
from plans.usage.meters import METERS
from plans.usage.reading import Figure, SeriesQuery, UsageCell
from tests.support.plans.billing_rows import ENDS_AT, STARTS_AT

pytestmark = pytest.mark.django_db
DAY = date(2026, 4, 1)
PEAK = "peak_connections"


def cell(
    quantity: int,
    *,
    meter: str = "messages_in",
    at: datetime = STARTS_AT,
    space: str = "spc_a",
    address: str = "orders",
    tenant: str = "ten_a",
) -> UsageCell:
    return UsageCell(tenant, space, address, meter, at, quantity)


def copy(version: int, *cells: UsageCell, table: str = "gold", days: int = 1) -> UsageCopy:
    return recording.copy_in(
        table_id=table,
        table_version=version,
        as_of=STARTS_AT + timedelta(hours=version),
        days=[DAY + timedelta(days=n) for n in range(days)],
        cells=cells,
    )


def totals() -> dict[str, int]:
    found = reading.totals("ten_a", STARTS_AT, ENDS_AT)
    return {meter: quantity for meter, quantity in found.items() if quantity}


def test_copy_in_replaces_the_named_days_and_leaves_the_others() -> None:
    copy(1, cell(5), cell(7, at=STARTS_AT + timedelta(days=1)), days=2)

    copy(2, cell(6))

    assert totals() == {"messages_in": 13}
    assert reading.as_of() == STARTS_AT + timedelta(hours=2)


def test_copy_in_of_the_same_version_again_changes_nothing() -> None:
    copy(1, cell(5))
    copy(1, cell(5))

    assert totals() == {"messages_in": 5}
    assert sums() == []
    assert UsageCopy.objects.count() == 1


def test_copy_in_refuses_an_older_version_and_keeps_what_is_there() -> None:
    copy(2, cell(5))

    with pytest.raises(recording.CopyIsOlder, match="copied version 2"):
        copy(1, cell(99))

    assert totals() == {"messages_in": 5}


def test_copy_in_follows_a_rebuilt_table_and_never_goes_back() -> None:
    copy(9, cell(5))
    copy(1, cell(6), table="rebuilt")

    with pytest.raises(recording.CopyIsOlder):
        copy(10, cell(5))

    assert totals() == {"messages_in": 6}


def test_copy_in_refuses_a_cell_outside_its_days_as_a_whole() -> None:
    copy(1, cell(5))

    with pytest.raises(Invalid, match="outside the days"):
        copy(2, cell(6), cell(1, at=STARTS_AT + timedelta(days=1)))

    assert totals() == {"messages_in": 5}
    assert UsageRecord.objects.count() == 1


def test_a_failing_copy_leaves_the_old_cells() -> None:
    copy(1, cell(5))

    def dying() -> None:
        def cells() -> Iterator[UsageCell]:
            yield cell(6)
            raise KeyboardInterrupt

        recording.copy_in(
            table_id="gold",
            table_version=2,
            as_of=ENDS_AT,
            days=[DAY],
            cells=cells(),
        )

    with pytest.raises(KeyboardInterrupt):
        dying()

    assert totals() == {"messages_in": 5}
    assert sums() == []


def test_as_of_is_nothing_before_the_first_copy() -> None:
    assert reading.as_of() is None


def test_totals_add_counters_up_and_take_the_largest_peak() -> None:
    later = STARTS_AT + timedelta(minutes=15)
    copy(
        1,
        cell(5),
        cell(6, at=later),
        cell(3, space="spc_b"),
        cell(9, tenant="ten_b"),
        cell(4, meter="peak_connections", address=""),
        cell(7, meter="peak_connections", address="", at=later),
        cell(6, meter="peak_connections", address="", space="spc_b"),
    )

    assert totals() == {"messages_in": 14, "peak_connections": 7}
    one = reading.totals("ten_a", STARTS_AT, ENDS_AT, space_id="spc_b")
    assert (one["messages_in"], one["peak_connections"]) == (3, 6)
    assert reading.by_address("ten_a", STARTS_AT, ENDS_AT, space_id="spc_b") == [
        Figure("spc_b", "", "peak_connections", 6),
        Figure("spc_b", "orders", "messages_in", 3),
    ]


def test_a_window_is_half_open() -> None:
    copy(1, cell(5), cell(6, at=STARTS_AT + timedelta(hours=1)))

    found = reading.totals("ten_a", STARTS_AT, STARTS_AT + timedelta(hours=1))

    assert found["messages_in"] == 5


@pytest.mark.parametrize(
    ("step", "zone", "expected"),
    [
        ("hour", "UTC", [("2026-04-01T00:00", 3), ("2026-04-01T23:00", 4)]),
        ("day", "UTC", [("2026-04-01T00:00", 7)]),
        ("day", "Europe/Berlin", [("2026-04-01T00:00", 3), ("2026-04-02T00:00", 4)]),
    ],
)
def test_series_steps_by_hour_or_local_day(
    step: str, zone: str, expected: list[tuple[str, int]]
) -> None:
    copy(
        1,
        cell(1),
        cell(2, at=STARTS_AT + timedelta(minutes=45)),
        cell(4, at=STARTS_AT + timedelta(hours=23)),
        cell(8, space="spc_b"),
    )

    found = reading.series(
        "ten_a", SeriesQuery("messages_in", STARTS_AT, ENDS_AT, step, zone, "spc_a")
    )

    assert [(f"{at:%Y-%m-%dT%H:%M}", quantity) for at, quantity in found] == expected


@pytest.mark.parametrize(("meter", "step"), [("messages_in", "week"), ("money", "day")])
def test_series_refuse_what_they_do_not_know(meter: str, step: str) -> None:
    with pytest.raises(Invalid, match="by hour or day"):
        reading.series("ten_a", SeriesQuery(meter, STARTS_AT, ENDS_AT, step))


def test_cells_in_memory_and_in_the_copy_sum_alike() -> None:
    made = [
        cell(5),
        cell(6, at=STARTS_AT + timedelta(hours=5)),
        cell(2, meter="peak_connections"),
        cell(9, meter="peak_connections", space="spc_b"),
    ]
    copy(1, *made)

    held = reading.cells("ten_a", STARTS_AT, ENDS_AT)

    assert sorted(held, key=str) == sorted(made, key=str)
    assert reading.summed_by_space(made) == reading.by_space("ten_a", STARTS_AT, ENDS_AT)


def sums() -> list[tuple[object, ...]]:
    """Return what the tables of sums hold of ``UsageRecord`` and what its rows add up to."""
    with connection.cursor() as cursor:
        cursor.execute(DIFFERENT)
        return list(cursor.fetchall())


# Each row is a sum that differs from the sum of the records, or is there only on one side.
DIFFERENT = " UNION ALL ".join(
    f"""SELECT '{table}', k.* FROM (
      SELECT {key}, summed, largest FROM plans_{table}
      EXCEPT
      SELECT {records}, sum(quantity), max(quantity) FROM plans_usagerecord GROUP BY {records}
    ) k UNION ALL SELECT '{table}', k.* FROM (
      SELECT {records}, sum(quantity), max(quantity) FROM plans_usagerecord GROUP BY {records}
      EXCEPT
      SELECT {key}, summed, largest FROM plans_{table}
    ) k"""
    for table, key, records in (
        (
            "usagehour",
            "tenant_id, space_id, meter, '', hour_at",
            "tenant_id, space_id, meter, left(address, 0), date_trunc('hour', bucket_at, 'UTC')",
        ),
        (
            "usagespaceday",
            "tenant_id, space_id, meter, '', day_at",
            "tenant_id, space_id, meter, left(address, 0), date_trunc('day', bucket_at, 'UTC')",
        ),
        (
            "usageday",
            "tenant_id, space_id, meter, address, day_at",
            "tenant_id, space_id, meter, address, date_trunc('day', bucket_at, 'UTC')",
        ),
    )
)


def test_sums_follow_every_change_of_the_records() -> None:
    quarter = timedelta(minutes=15)
    cells = [
        cell(n, at=STARTS_AT + n * quarter, address=f"a{n % 2}", meter=meter)
        for n in range(1, 40)
        for meter in ("messages_in", "peak_connections")
    ]
    copy(1, *cells)
    assert sums() == []
    copy(2, cell(6), cell(9, address="other"))
    assert sums() == []
    UsageRecord.objects.filter(address="other").update(
        address="moved", bucket_at=STARTS_AT + timedelta(days=3)
    )
    assert sums() == []
    UsageRecord.objects.filter(address="orders").delete()
    assert sums() == []
    left = [model._default_manager.count() for model in (UsageHour, UsageSpaceDay, UsageDay)]
    assert left == [1, 1, 1]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Asia/Kolkata"])
@pytest.mark.parametrize(
    ("starts", "ends"),
    [
        (timedelta(), timedelta(days=3)),
        (timedelta(minutes=50), timedelta(days=2, hours=5, minutes=10)),
        (timedelta(minutes=20), timedelta(minutes=40)),
        (timedelta(hours=5), timedelta(hours=5)),
    ],
)
def test_windows_that_cut_hours_and_days_read_each_bucket_once(
    zone: str, starts: timedelta, ends: timedelta
) -> None:
    """The figures are those of the cells, from whichever tables of sums they come."""
    quarter, first, last = timedelta(minutes=15), STARTS_AT + starts, STARTS_AT + ends
    made = [cell(n + 1, at=STARTS_AT + n * quarter, address=f"a{n % 3}") for n in range(4 * 72)]
    made += [cell(n + 1, at=one.bucket_at, meter=PEAK) for n, one in enumerate(made[::5])]
    copy(1, *made, days=4)
    read = [one for one in made if first <= one.bucket_at < last]

    days = reading.series("ten_a", SeriesQuery("messages_in", first, last, "day", zone))

    assert list(reading.cells("ten_a", first, last)) == sorted(
        read, key=lambda one: (one.bucket_at, one.space_id, one.address, one.meter)
    )
    assert reading.by_space("ten_a", first, last) == reading.summed_by_space(read)
    by_address = reading.by_address("ten_a", first, last)
    assert reading.combine(by_address) == reading.combine(reading.summed_by_space(read))
    expected: dict[date, int] = {}
    for one in read:
        if one.meter == "messages_in":
            day = one.bucket_at.astimezone(ZoneInfo(zone)).date()
            expected[day] = expected.get(day, 0) + one.quantity
    assert {at.date(): quantity for at, quantity in days} == expected


def test_late_and_corrected_rows_reach_the_sums_of_their_own_days() -> None:
    """A later version adds rows to a day that is over, makes one smaller and takes one away."""
    day = timedelta(days=1)
    copy(1, cell(5), cell(9, meter=PEAK), cell(7, at=STARTS_AT + day), days=2)

    copy(2, cell(3), cell(4, at=STARTS_AT + timedelta(hours=9)), cell(2, space="spc_b"))

    assert sums() == []
    by_space = [Figure("spc_a", "", "messages_in", 14), Figure("spc_b", "", "messages_in", 2)]
    assert reading.by_space("ten_a", STARTS_AT, ENDS_AT) == by_space
    days = reading.series("ten_a", SeriesQuery("messages_in", STARTS_AT, ENDS_AT, "day"))
    assert days == [(STARTS_AT, 9), (STARTS_AT + day, 7)]


def test_a_copy_that_is_killed_between_its_statements_leaves_rows_and_sums_alike() -> None:
    """The old rows are gone and some new ones are there when it dies; all of it is undone."""
    copy(1, cell(5), cell(6, at=STARTS_AT + timedelta(hours=1)))
    inserted = 0

    def killing(execute: Any, sql: str, *rest: Any) -> Any:
        nonlocal inserted
        found = execute(sql, *rest)
        inserted += sql.startswith('INSERT INTO "plans_usagerecord"')
        if inserted:
            raise KeyboardInterrupt
        return found

    with connection.execute_wrapper(killing), pytest.raises(KeyboardInterrupt):
        copy(2, cell(50))

    assert inserted == 1
    assert sums() == []
    assert totals() == {"messages_in": 11}
    copy(2, cell(50))
    assert (sums(), totals()) == ([], {"messages_in": 50})


def test_every_series_is_the_series_of_each_meter() -> None:
    cells = [
        cell(n + 1, at=STARTS_AT + n * timedelta(minutes=15), meter=meter, space=f"spc_{n % 2}")
        for n in range(4 * 40)
        for meter in ("messages_in", PEAK)
    ]
    copy(1, *cells, days=2)

    for step, zone, space in (("day", "UTC", ""), ("hour", "Europe/Berlin", "spc_1")):
        window = (STARTS_AT, ENDS_AT, step, zone, space)
        every = reading.every_series("ten_a", SeriesQuery("", *window))
        assert every == {
            meter: dict(reading.series("ten_a", SeriesQuery(meter, *window))) for meter in every
        }
        assert set(every) == set(METERS)
        assert [bool(every[meter]) for meter in ("messages_in", PEAK, "messages_out")] == [1, 1, 0]
