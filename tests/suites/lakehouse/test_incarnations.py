"""Openings and heads on a few rows; they are computed from rows that Spark keeps."""

from datetime import date
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from lakehouse import schemas
from lakehouse.transforms import incarnations
from tests.support.lakehouse.frames import of_table, shown
from tests.support.lakehouse.samples import at

pytestmark = pytest.mark.spark


def plan_of(rows: DataFrame) -> str:
    query: Any = rows._jdf
    return str(query.queryExecution().optimizedPlan().toString())


def test_rows_stay_persisted_when_they_are_asked(spark: SparkSession) -> None:
    state = spark.createDataFrame([], schemas.STATE.schema).persist()
    try:
        incarnations.by_day(state)
        # Each answer drops its views, after which Spark must still know the rows.
        assert "InMemoryRelation" in plan_of(incarnations.heads(state))
    finally:
        state.unpersist()


def test_no_view_is_left(spark: SparkSession) -> None:
    incarnations.by_day(spark.createDataFrame([], schemas.STATE.schema))
    assert [view.name for view in spark.catalog.listTables()] == []


def reached(day: int, seq: int, messages_in: int, **columns: Any) -> dict[str, Any]:
    """A bucket of address ``orders`` on a day of November."""
    own = {"address": "orders", "date": date(2026, 11, day), "last_taken_at": at(0, day=day - 21)}
    return {**own, "seq": seq, "messages_in": messages_in, **columns}


OTHER = {"boot_id": "2"}
BUCKETS = (
    reached(21, 1, 3, bytes_in=8),
    reached(21, 2, 5, bytes_in=7),
    reached(22, 3, 8),
    reached(24, 4, 6),
    reached(22, 9, 9, **OTHER),
)


def test_a_day_has_the_maxima_of_its_buckets(spark: SparkSession) -> None:
    days = incarnations.by_day(of_table(spark, schemas.STATE, *BUCKETS))

    wanted = (*schemas.LIFE, "date", "seq", *schemas.COUNTERS, "last_taken_at")
    assert days.columns == list(wanted)
    assert shown(days, "boot_id", "date", "seq", "messages_in", "bytes_in", "last_taken_at") == [
        "1 2026-11-21 2 5 8 2026-11-21 00:00:00",
        "1 2026-11-22 3 8 0 2026-11-22 00:00:00",
        "1 2026-11-24 4 6 0 2026-11-24 00:00:00",
        "2 2026-11-22 9 9 0 2026-11-22 00:00:00",
    ]


def test_an_opening_has_the_maxima_of_earlier_days(spark: SparkSession) -> None:
    openings = incarnations.openings(of_table(spark, schemas.STATE, *BUCKETS))

    assert openings.columns == schemas.OPENINGS.schema.fieldNames()
    assert shown(openings, "boot_id", "date", "seq", "messages_in", "bytes_in") == [
        "1 2026-11-22 2 5 8",
        "1 2026-11-24 3 8 8",
    ]


def test_a_head_has_the_maxima_until_now(spark: SparkSession) -> None:
    heads = incarnations.heads(of_table(spark, schemas.STATE, *BUCKETS))

    assert heads.columns == schemas.HEADS.schema.fieldNames()
    columns = ("boot_id", "first_date", "date", "resting", "seq", "messages_in", "bytes_in")
    assert shown(heads, *columns) == [
        "1 2026-11-21 2026-11-24 false 4 8 8",
        "2 2026-11-22 2026-11-22 false 9 9 0",
    ]


def test_a_head_rests_after_thirty_days(spark: SparkSession) -> None:
    heads = of_table(
        spark,
        schemas.HEADS,
        {"boot_id": "1", "date": date(2026, 12, 24)},
        {"boot_id": "2", "date": date(2026, 11, 24), "resting": True},
        {"boot_id": "3", "date": date(2026, 11, 23), "seq": 4, "messages_in": 6},
    )

    found = incarnations.rested(heads)

    assert sorted(found.columns) == sorted(schemas.HEADS.schema.fieldNames())
    assert shown(found, "boot_id", "date", "seq", "messages_in", "resting") == [
        "1 2026-12-24 0 0 false",
        "2 2026-11-24 0 0 false",
        "3 2026-11-23 4 6 true",
    ]


def test_an_incarnation_is_moved_by_rows_of_another_day_than_its_last(
    spark: SparkSession,
) -> None:
    days = of_table(
        spark,
        schemas.STATE,
        *(reached(day, 1, 1, boot_id=boot) for boot, day in (("new", 24), ("new two", 24))),
        *(reached(day, 1, 1, boot_id="new two") for day in (25, 23)),
        *(reached(22, 1, 1, boot_id=boot) for boot in ("same", "later", "earlier", "both")),
        reached(24, 1, 1, boot_id="both"),
    )
    heads = of_table(
        spark,
        schemas.HEADS,
        *(
            {"address": "orders", "boot_id": boot, "date": date(2026, 11, day)}
            for boot, day in (("same", 22), ("later", 21), ("earlier", 23), ("both", 22))
        ),
    )

    moved = incarnations.moved(incarnations.by_day(days), heads)

    assert moved.columns == [*schemas.LIFE, "earliest"]
    assert shown(moved, "boot_id", "earliest") == [
        "both 2026-11-22",
        "earlier 2026-11-22",
        "later 2026-11-22",
        "new two 2026-11-23",
    ]


def test_openings_that_new_rows_change(spark: SparkSession) -> None:
    old = of_table(
        spark,
        schemas.STATE,
        *(reached(21, 2, 5), reached(24, 4, 8), reached(26, 5, 9)),
        *(reached(day, day, 7, **OTHER) for day in (21, 22)),
        reached(21, 1, 1, boot_id="3"),
    )
    new = incarnations.by_day(
        of_table(
            spark,
            schemas.STATE,
            *(reached(20, 1, 2), reached(23, 3, 9, bytes_in=3), reached(27, 6, 9)),
            reached(21, 3, 7, **OTHER),
            reached(22, 2, 2, boot_id="3"),
        )
    )
    lives = new.where("boot_id <> '3'").select(*schemas.LIFE).distinct()
    openings, heads = incarnations.openings(old), incarnations.heads(old)

    changed = incarnations.changed_openings(new, heads, openings, lives)

    assert changed.columns == schemas.OPENINGS.schema.fieldNames()
    assert shown(changed, "boot_id", "date", "seq", "messages_in", "bytes_in") == [
        "1 2026-11-21 1 2 0",
        "1 2026-11-23 2 5 0",
        "1 2026-11-24 3 9 3",
        "1 2026-11-26 4 9 3",
        "1 2026-11-27 5 9 3",
    ]
