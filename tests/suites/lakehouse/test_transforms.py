"""Each pure transform on a few rows. `make mutation PART=lakehouse` runs these for each mutant."""

from datetime import date
from typing import Any

import pytest
from pyspark.sql import SparkSession, Window

from lakehouse import schemas
from lakehouse.transforms import bucket_maxima, bucket_usage, daily_usage, growth, window_usage
from tests.support.lakehouse.frames import bronze, of_table, shown
from tests.support.lakehouse.samples import at, row

pytestmark = pytest.mark.spark

NEXT_DAY = {"bucket_at": at(0, day=1), "date": date(2026, 11, 22)}


def test_buckets_have_the_maxima_of_their_samples(spark: SparkSession) -> None:
    samples = bronze(
        spark,
        [
            row(at(10, 1), 1, messages_in=5, messages_out=9, peak_connections=3, bytes_in=7),
            row(at(10, 3), 3, messages_in=8, messages_out=2, peak_connections=1, bytes_in=4),
            row(at(10, 2), 2, messages_in=6, stored_byte_ms=70, connection_ms=11),
            row(at(10, 2), 2, messages_in=6, connections_opened=4, steps_64k_in=3),
            row(at(10, 16), 4, messages_in=8),
        ],
    )

    state = bucket_maxima.buckets(samples, ["queue"])

    assert state.columns == schemas.STATE.schema.fieldNames()
    life = "ten_a spc_1 spc_1/broker-0 boot-1 orders 0"
    first = f"queue 3 {_maxima(8, 9, 70, 4, 11, 7, 0, 3, 0, 3)}"
    taken = "2026-11-21 10:01:00 2026-11-21 10:03:00"
    second = f"queue 4 {_maxima(8)} 2026-11-21 10:16:00 2026-11-21 10:16:00"
    assert shown(state) == [
        f"{life} 2026-11-21 10:00:00 2026-11-21 {first} {taken}",
        f"{life} 2026-11-21 10:15:00 2026-11-21 {second}",
    ]


def _maxima(*values: int) -> str:
    padded = [*values, *[0] * len(schemas.MAXIMA)][: len(schemas.MAXIMA)]
    return " ".join(map(str, padded))


def test_meters_that_older_samples_lack_are_zero(spark: SparkSession) -> None:
    samples = bronze(spark, [row(at(10), 1)], bytes_in=None, bytes_out=6)

    state = bucket_maxima.buckets(samples, ["queue"])

    assert shown(state, "bytes_in", "bytes_out") == ["0 6"]


def test_a_bucket_has_the_last_address_type_in_alphabetical_order(spark: SparkSession) -> None:
    of_type = {"a": ["topic", "it's", "queue"], "b": ["it's"], "c": [""]}
    rows = [
        row(at(10), n, address=address, address_type=kind)
        for address, kinds in of_type.items()
        for n, kind in enumerate(kinds, 1)
    ]
    samples = bronze(spark, rows)

    types = bucket_maxima.address_types(samples)

    assert sorted(types) == ["", "it's", "queue", "topic"]
    state = bucket_maxima.buckets(samples, types)
    assert shown(state, "address", "address_type") == ["a topic", "b it's", "c "]


def test_newest_sample_of_each_source(spark: SparkSession) -> None:
    state = of_table(
        spark,
        schemas.STATE,
        {"last_taken_at": at(10, 2)},
        {"last_taken_at": at(10, 5), "address": "orders"},
        {"last_taken_at": at(10, 3)},
        {"last_taken_at": at(9), "source": "spc_2/b", "space_id": "spc_2", "tenant_id": "ten_b"},
    )

    sources = bucket_maxima.newest_samples(state)

    assert sources.columns == schemas.SOURCES.schema.fieldNames()
    assert shown(sources) == [
        "ten_a spc_1 spc_1/b 2026-11-21 10:05:00",
        "ten_b spc_2 spc_2/b 2026-11-21 09:00:00",
    ]


@pytest.mark.parametrize(
    ("newest", "expected"),
    [
        ([], None),
        ([at(10, 2, 30)], "2026-11-21T10:02:30+00:00"),
        # A source that is silent for more than five minutes is left out.
        ([at(10, 5), at(10), at(9, 59, 59)], "2026-11-21T10:00:00+00:00"),
    ],
)
def test_watermark_is_the_oldest_newest_sample_of_an_active_source(
    spark: SparkSession, newest: list[Any], expected: str | None
) -> None:
    rows = [{"source": str(n), "last_taken_at": moment} for n, moment in enumerate(newest)]

    assert bucket_maxima.complete_until(of_table(spark, schemas.SOURCES, *rows)) == expected


def test_growth_begins_at_zero_or_at_what_was_reached_before(spark: SparkSession) -> None:
    rows = [
        *(("new", n, value, None) for n, value in enumerate([2, 0, 3, 1, 4])),
        *(("opened", n, value, 3) for n, value in enumerate([1, 5, 4, 6])),
        *(("late", n, value, None) for n, value in enumerate([None, 1])),
        ("equal", 0, 3, 3),
    ]
    frame = spark.createDataFrame(rows, "life string, n int, seen bigint, known bigint")
    window = Window.partitionBy("life").orderBy("n")

    grown = frame.withColumn("grown", growth.growth("seen", window, "known"))

    assert shown(grown, "life", "n", "grown") == [
        "equal 0 0",
        *("late 0 0", "late 1 1"),
        *("new 0 2", "new 1 0", "new 2 1", "new 3 0", "new 4 1"),
        *("opened 0 0", "opened 1 2", "opened 2 0", "opened 3 1"),
    ]


STATE: tuple[dict[str, Any], ...] = (
    {"bucket_at": at(10), "address": "orders", "messages_in": 5, "peak_connections": 1},
    {"bucket_at": at(10, 15), "address": "orders", "messages_in": 6, "messages_out": 2},
    {"bucket_at": at(10, 15), "address": "orders", "messages_in": 4, "boot_id": "2"},
    {"bucket_at": at(10, 15), "source": "spc_1/space", "peak_connections": 7},
    {"bucket_at": at(10, 15), "source": "spc_1/other", "peak_connections": 9},
    {**NEXT_DAY, "address": "orders", "messages_in": 9, "messages_out": 1},
    {**NEXT_DAY, "tenant_id": "ten_b", "space_id": "spc_2", "address": "orders", "bytes_in": 1},
)


def test_usage_is_how_far_maxima_rose(spark: SparkSession) -> None:
    usage = bucket_usage.usage(of_table(spark, schemas.STATE, *STATE))

    assert usage.columns == schemas.USAGE.schema.fieldNames()
    assert shown(usage) == [
        "ten_a spc_1  peak_connections 2026-11-21 10:15:00 2026-11-21 9",
        "ten_a spc_1 orders messages_in 2026-11-21 10:00:00 2026-11-21 5",
        "ten_a spc_1 orders messages_in 2026-11-21 10:15:00 2026-11-21 5",
        "ten_a spc_1 orders messages_in 2026-11-22 00:00:00 2026-11-22 3",
        "ten_a spc_1 orders messages_out 2026-11-21 10:15:00 2026-11-21 2",
        "ten_a spc_1 orders peak_connections 2026-11-21 10:00:00 2026-11-21 1",
        "ten_b spc_2 orders bytes_in 2026-11-22 00:00:00 2026-11-22 1",
    ]


def test_usage_of_a_day_begins_at_its_opening(spark: SparkSession) -> None:
    openings = of_table(
        spark,
        schemas.OPENINGS,
        {"date": NEXT_DAY["date"], "address": "orders", "messages_in": 6, "messages_out": 2},
        {"date": date(2026, 11, 23), "address": "orders", "messages_in": 9},
    )

    usage = bucket_usage.usage(of_table(spark, schemas.STATE, *STATE[-2:]), openings)

    assert shown(usage, "address", "meter", "date", "quantity") == [
        "orders bytes_in 2026-11-22 1",
        "orders messages_in 2026-11-22 3",
    ]


USAGE: tuple[dict[str, Any], ...] = (
    {"meter": "messages_in", "bucket_at": at(10), "quantity": 5},
    {"meter": "messages_in", "bucket_at": at(11), "quantity": 4, "address": "orders"},
    {"meter": "messages_in", "bucket_at": at(12), "quantity": 2, "space_id": "spc_2"},
    {"meter": "peak_connections", "bucket_at": at(10), "quantity": 5},
    {"meter": "peak_connections", "bucket_at": at(11), "quantity": 7},
    {"meter": "messages_in", "bucket_at": at(11), "quantity": 100, "tenant_id": "ten_b"},
    {"meter": "messages_in", "quantity": 1000, **NEXT_DAY},
)


def test_usage_of_a_day_is_the_sum_and_the_largest_peak(spark: SparkSession) -> None:
    daily = daily_usage.daily(of_table(spark, schemas.USAGE, *USAGE))

    assert daily.columns == schemas.USAGE_DAILY.schema.fieldNames()
    assert shown(daily) == [
        "ten_a messages_in 2026-11-21 11",
        "ten_a messages_in 2026-11-22 1000",
        "ten_a peak_connections 2026-11-21 7",
        "ten_b messages_in 2026-11-21 100",
    ]


def test_windows_have_their_begin_and_not_their_end(spark: SparkSession) -> None:
    windows = spark.createDataFrame(
        [
            ("ten_a", at(10), at(12)),
            ("ten_a", at(11), at(12, 15)),
            ("ten_a", at(13), at(14)),
            ("ten_b", at(0), at(12)),
        ],
        window_usage.WINDOWS,
    )

    sums = window_usage.sums(of_table(spark, schemas.USAGE, *USAGE), windows)

    assert sums.columns == ["tenant_id", "starts_at", "ends_at", "space_id", "meter", "quantity"]
    day = "2026-11-21"
    assert shown(sums) == [
        f"ten_a {day} 10:00:00 {day} 12:00:00 spc_1 messages_in 9",
        f"ten_a {day} 10:00:00 {day} 12:00:00 spc_1 peak_connections 7",
        f"ten_a {day} 11:00:00 {day} 12:15:00 spc_1 messages_in 4",
        f"ten_a {day} 11:00:00 {day} 12:15:00 spc_1 peak_connections 7",
        f"ten_a {day} 11:00:00 {day} 12:15:00 spc_2 messages_in 2",
        f"ten_b {day} 00:00:00 {day} 12:00:00 spc_1 messages_in 100",
    ]
