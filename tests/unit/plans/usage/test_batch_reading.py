"""Usage of many windows at once is what each window alone has, in the same number of queries."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from pytest_django import DjangoAssertNumQueries

from plans.usage import batch_reading, reading, recording
from plans.usage.batch_reading import Window
from plans.usage.reading import UsageCell

pytestmark = pytest.mark.django_db
MONTH = datetime(2026, 4, 1, tzinfo=UTC)


def cells(chance: random.Random) -> list[UsageCell]:
    """Usage of three tenants in the quarters of six days; two of them have two spaces."""
    buckets = [MONTH + timedelta(minutes=15 * n) for n in range(6 * 96)]
    return [
        UsageCell(f"ten_{t}", f"spc_{t}{s}", address, meter, bucket, chance.randint(1, 99))
        for t, s in ((0, 0), (0, 1), (1, 0), (1, 1), (2, 0))
        for address, meter in (("a", "messages_in"), ("b", "messages_in"), ("", "peak_connections"))
        for bucket in chance.sample(buckets, 40)
    ]


def windows(chance: random.Random) -> list[Window]:
    found = []
    for n in range(60):
        start, end = sorted(chance.sample(range(-20, 7 * 96), 2))
        found.append(
            Window(
                f"ten_{n % 4}",
                MONTH + timedelta(minutes=15 * start),
                MONTH + timedelta(minutes=15 * end),
            )
        )
    return [*found, found[0], Window("ten_0", MONTH, MONTH + timedelta(days=30))]


@pytest.mark.parametrize("seed", [1, 2])
def test_each_window_has_what_it_has_alone(seed: int) -> None:
    chance = random.Random(seed)
    used = cells(chance)
    days = {cell.bucket_at.date() for cell in used}
    recording.copy_in(table_id="g", table_version=1, as_of=MONTH, days=days, cells=used)
    asked = windows(chance)

    by_space, by_address = batch_reading.by_space(asked), batch_reading.by_address(asked)

    assert any(by_space.values())
    for window in asked:
        assert by_space[window] == reading.by_space(*window)
        assert by_address[window] == reading.by_address(*window)


def test_many_windows_take_no_more_queries_than_one(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    chance = random.Random(3)
    with django_assert_num_queries(3):  # days, hours, quarters
        batch_reading.by_space(windows(chance))
    with django_assert_num_queries(2):  # days, quarters
        batch_reading.by_address(windows(chance))
    with django_assert_num_queries(0):
        assert batch_reading.by_space([]) == {}
