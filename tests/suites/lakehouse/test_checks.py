"""Invalid samples and counter resets, on a few rows."""

from datetime import date
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from lakehouse import checks, schemas
from tests.support.lakehouse.frames import of_table, shown
from tests.support.lakehouse.samples import at

pytestmark = pytest.mark.spark

# address -> the values of a sample that differ from a valid one
INVALID: dict[str, dict[str, Any]] = {
    "null": {"messages_in": None},
    "null tenant": {"tenant_id": None, "messages_in": -1},
    "negative": {"messages_out": -1},
    "negative peak": {"peak_connections": -1},
    "negative epoch": {"epoch": -1},
    "negative seq": {"seq": 0},
    "time": {"bucket_at": at(0, 0, 1)},
    "date": {"date": date(2026, 11, 22)},
}
VALID: dict[str, dict[str, Any]] = {"first": {}, "older": {"bytes_in": None}}


def samples(spark: SparkSession, *rows: dict[str, Any]) -> DataFrame:
    """Samples as they arrive: each value may be null."""
    return of_table(spark, schemas.QUARANTINE, *rows).drop("reason", "detail")


def judged(spark: SparkSession) -> DataFrame:
    cases = {**INVALID, **VALID}
    rows = ({"seq": 1, **values, "address": name} for name, values in cases.items())
    return samples(spark, *rows)


def test_invalid_samples_are_refused_with_their_reason(spark: SparkSession) -> None:
    refused = checks.refused(judged(spark))

    assert refused.columns == schemas.QUARANTINE.schema.fieldNames()
    assert shown(refused, "address", "reason", "detail") == sorted(
        f"{name} {name.split()[0]} " for name in INVALID
    )


def test_the_other_samples_are_valid(spark: SparkSession) -> None:
    valid = checks.valid(judged(spark))

    assert valid.columns == schemas.BRONZE.schema.fieldNames()
    assert shown(valid, "address") == sorted(VALID)


# address -> the seq and messages_in of the state, and those of the new samples in their order
RESETS: dict[str, tuple[list[tuple[int, int]], list[tuple[int, int]]]] = {
    "lower": ([], [(3, 5), (1, 10), (2, 10), (4, 11)]),
    "below": ([(3, 9), (2, 4)], [(4, 8), (5, 9)]),
    "late and higher": ([(5, 5), (2, 2)], [(4, 6)]),
    "late": ([(5, 5)], [(4, 5)]),
    "steady": ([(1, 5)], [(2, 5), (3, 6)]),
    "repeated": ([(3, 5)], [(3, 5)]),
    "doubled": ([(3, 9)], [(3, 9), (3, 9)]),
    "new": ([], [(1, 0), (2, 1)]),
}


def known(spark: SparkSession) -> DataFrame:
    rows = [
        {"address": address, "seq": seq, "messages_in": value}
        for address, (state, _) in RESETS.items()
        for seq, value in state
    ]
    return of_table(spark, schemas.STATE, *rows)


def arrived(spark: SparkSession) -> DataFrame:
    rows = [
        {"address": address, "seq": seq, "messages_in": value, "bytes_in": 0}
        for address, (_, new) in RESETS.items()
        for seq, value in new
    ]
    sizes: tuple[int | None, ...] = (7, None, 6)
    rows += [
        {"address": "null between", "seq": n, "bytes_in": size, "messages_out": 9 - n}
        for n, size in enumerate(sizes, start=1)
    ]
    return samples(spark, *rows)


def test_counter_resets_name_the_counters_and_their_values(spark: SparkSession) -> None:
    resets = checks.counter_resets(arrived(spark), known(spark))

    assert resets.columns == schemas.QUARANTINE.schema.fieldNames()
    assert shown(resets, "address", "seq", "reason", "detail") == [
        "below 4 fall messages_in 9 -> 8",
        "late and higher 4 fall messages_in 6 -> 5",
        "lower 3 fall messages_in 10 -> 5",
        "null between 2 fall messages_out 8 -> 7",
        "null between 3 fall messages_out 8 -> 6; bytes_in 7 -> 6",
    ]


def test_two_values_of_one_sample_are_no_reset(spark: SparkSession) -> None:
    twice = [{"seq": 3, "messages_in": value} for value in (9, 5)]
    state = of_table(spark, schemas.STATE, {"seq": 3, "messages_in": 7})

    assert shown(checks.counter_resets(samples(spark, *twice), state)) == []


def test_suspects_are_the_incarnations_that_may_show_a_reset(spark: SparkSession) -> None:
    new = arrived(spark)

    lives = checks.suspects(new, known(spark))
    # A row comes once, even if its incarnation is there twice.
    rows = checks.of_lives(new, lives.union(lives))

    assert lives.columns == ["life"]
    assert rows.columns == new.columns
    found = shown(rows, "address")
    assert len(found) == 11
    assert sorted(set(found)) == [
        "below",
        "late",
        "late and higher",
        "lower",
        "null between",
    ]
    assert lives.count() == 5
