"""The copy of gold: replaced by days, never by an older version; and what is read from it."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta

import pytest

from controlplane.core.errors import Invalid
from plans.models import UsageCopy, UsageRecord
from plans.usage import reading, recording
from plans.usage.reading import Figure, SeriesQuery, UsageCell
from tests.support.plans.billing_rows import ENDS_AT, STARTS_AT

pytestmark = pytest.mark.django_db
DAY = date(2026, 4, 1)


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
