"""The business rules of the pipeline on real Spark and Delta, one test each.

Spark is slow to ask and quick to answer: every rule has a tenant of its own, all their samples
land before two shared runs, a few before a third that touches the next day only, and each test
reads its tenant.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession

from lakehouse import schemas, tables
from lakehouse.jobs import pipeline
from lakehouse.schemas import Table
from lakehouse.tables import Lake
from tests.support.lakehouse.samples import Landed, at, beat, row
from workers.metering.source_states import SampleRow

pytestmark = pytest.mark.spark

_SPACE = {"source": "spc_1/space", "boot_id": "space"}
_FALL = row(at(10, 1), 1, messages_in=100)

# tenant -> what the first run sees, and what each later one sees besides
STORIES: dict[str, tuple[list[SampleRow], ...]] = {
    "growth": (
        [row(at(10, 1), 1, messages_in=5), row(at(10, 2), 2, messages_in=8, messages_out=2)],
        [row(at(10, 16), 3, messages_in=9, messages_out=2)],
    ),
    "restart": (
        [row(at(10, 1), 9, messages_in=100)],
        [row(at(10, 16), 1, messages_in=7, boot_id="boot-2")],
    ),
    "epoch": (
        [row(at(10, 1), 1, messages_in=100)],
        [row(at(10, 16), 2, messages_in=7, epoch=1), row(at(10, 17), 3, messages_in=9, epoch=1)],
    ),
    "duplicates": (
        [row(at(10, 1), 1, messages_in=5)] * 3,
        [row(at(10, 1), 1, messages_in=5), row(at(10, 3), 2, messages_in=6)],
    ),
    "late": (
        [row(at(10, 1), 1, messages_in=5), row(at(0, 1, day=1), 3, messages_in=9)],
        [row(at(10, 14), 2, messages_in=8)],
    ),
    "midnight": (
        [row(at(23, 59), 1, messages_in=50)],
        [row(at(0, 1, day=1), 2, messages_in=53)],
        [row(at(0, 20, day=1), 3, messages_in=60)],
    ),
    "cut": (
        [row(at(10, 7), 1, messages_in=5)],
        [row(at(10, 9), 2, messages_in=6, bucket_at=at(10, 7, 3))],
    ),
    "peak": (
        [
            beat(at(10, 1), 1, peak_connections=3, **_SPACE),
            beat(at(10, 2), 2, peak_connections=7, **_SPACE),
        ],
        [
            beat(at(10, 3), 3, peak_connections=5, **_SPACE),
            beat(at(10, 16), 4, peak_connections=2, **_SPACE),
        ],
    ),
    "fall": (
        [_FALL, row(at(10, 2), 2, messages_in=5), beat(at(10, 2), 2)],
        [row(at(10, 16), 3, messages_in=60), row(at(10, 31), 4, messages_in=120)],
    ),
    "late_fall": (
        [row(at(10, 1), 2, messages_in=100)],
        [row(at(10, 0, 30), 1, messages_in=101)],
    ),
    "invalid": (
        [
            row(at(10, 1), 1, messages_in=-1),
            row(at(10, 2), 2, messages_in=4),
            row(at(10, 3), 3, messages_in=9, bucket_at=at(10, 15)),
        ],
        [],
    ),
    "two_spaces": (
        [beat(at(10, 1), 1, peak_connections=3, **_SPACE), row(at(10, 1), 1, messages_in=10)],
        [
            beat(at(10, 1), 1, peak_connections=4, space_id="spc_2", source="spc_2/space"),
            row(at(10, 1), 1, messages_in=10, space_id="spc_2", source="spc_2/broker-0"),
        ],
    ),
    "holes": (
        [beat(at(10, 1), 1), beat(at(10, 4), 4), beat(at(10, 4), 4)],
        [beat(at(0, 1, day=1), 5), beat(at(0, 2, day=1), 7)],
        [beat(at(0, 4, day=1), 8)],
    ),
    "filled": ([beat(at(10, 1), 1), beat(at(10, 3), 3)], [beat(at(10, 2), 2)]),
}


@dataclass(frozen=True)
class Told:
    """The lake after all runs, and their reports."""

    lake: Lake
    reports: list[dict[str, Any]]

    def rows(self, table: Table, tenant: str) -> list[Row]:
        return tables.read(self.lake, table).where(f"tenant_id = '{tenant}'").collect()

    def used(self, tenant: str, meter: str = "messages_in") -> dict[str, int]:
        """Usage by bucket, such as {"21 10:15": 3}."""
        cells = [c for c in self.rows(schemas.USAGE, tenant) if c["meter"] == meter]
        return {f"{c['bucket_at']:%d %H:%M}": c["quantity"] for c in cells}


@pytest.fixture(scope="module")
def told(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Every story told in three runs."""
    root = tmp_path_factory.mktemp("rules")
    lake, landed = Lake(spark, str(root)), Landed(Path(root))
    reports = []
    for part in (0, 1, 2):
        stories = ((tenant, story[part]) for tenant, story in STORIES.items() if story[part:])
        landed(*_named(stories))
        reports.append(pipeline.run(lake))
    return Told(lake, reports)


def _named(stories: Iterable[tuple[str, list[SampleRow]]]) -> Iterable[SampleRow]:
    for tenant, rows in stories:
        for sample in rows:
            # Sources belong to one tenant, as their names say.
            space = sample.space_id
            own = {"tenant_id": tenant, "space_id": f"{tenant}_{space}"}
            yield sample.__class__(
                **{**sample.__dict__, **own, "source": f"{tenant}_{sample.source}"}
            )


def test_usage_is_the_growth_inside_a_life(told: Told) -> None:
    assert told.used("growth") == {"21 10:00": 8, "21 10:15": 1}
    assert told.used("growth", "messages_out") == {"21 10:00": 2}


def test_usage_of_a_new_life_counts_its_first_value(told: Told) -> None:
    assert told.used("restart") == {"21 10:00": 100, "21 10:15": 7}


def test_usage_of_a_new_epoch_counts_its_first_value(told: Told) -> None:
    assert told.used("epoch") == {"21 10:00": 100, "21 10:15": 9}


def test_usage_ignores_repeated_rows_and_files(told: Told) -> None:
    assert told.used("duplicates") == {"21 10:00": 6}


def test_usage_of_a_late_row_moves_to_its_own_bucket(told: Told) -> None:
    assert told.used("late") == {"21 10:00": 8, "22 00:00": 1}


def test_usage_starts_from_what_was_reached_on_earlier_days(told: Told) -> None:
    assert told.used("midnight") == {"21 23:45": 50, "22 00:00": 3, "22 00:15": 7}


def test_usage_of_a_cut_bucket_is_a_bucket_of_its_own(told: Told) -> None:
    assert told.used("cut") == {"21 10:00": 5, "21 10:07": 1}


def test_state_has_one_row_a_bucket_with_its_extremes(told: Told) -> None:
    [state] = told.rows(schemas.STATE, "duplicates")

    assert (state["seq"], state["messages_in"]) == (2, 6)
    taken = [state[c].timestamp() for c in ("first_taken_at", "last_taken_at")]
    assert taken == [at(10, 1).timestamp(), at(10, 3).timestamp()]


def test_peak_is_the_largest_sum_of_its_bucket(told: Told) -> None:
    assert told.used("peak", "peak_connections") == {"21 10:00": 7, "21 10:15": 2}


def test_fall_inside_an_epoch_is_quarantined_and_never_billed(told: Told) -> None:
    found = sorted(told.rows(schemas.QUARANTINE, "fall"), key=lambda row: row["seq"])

    assert [(f["seq"], f["reason"], f["detail"]) for f in found] == [
        (2, "fall", "messages_in 100 -> 5"),
        (3, "fall", "messages_in 100 -> 60"),
    ]
    assert told.used("fall") == {"21 10:00": 100, "21 10:30": 20}
    assert [day["falls"] for day in told.rows(schemas.QUALITY, "fall")] == [2]


def test_fall_is_found_when_the_larger_value_comes_late(told: Told) -> None:
    found = told.rows(schemas.QUARANTINE, "late_fall")

    assert [f["detail"] for f in found] == ["messages_in 101 -> 100"]


def test_invalid_rows_are_quarantined_and_the_rest_is_billed(told: Told) -> None:
    found = {(f["seq"], f["reason"]) for f in told.rows(schemas.QUARANTINE, "invalid")}

    assert found == {(1, "negative"), (3, "time")}
    assert told.used("invalid") == {"21 10:00": 4}


def test_daily_usage_sums_counters_and_keeps_the_largest_peak(told: Told) -> None:
    daily = {d["meter"]: d["quantity"] for d in told.rows(schemas.USAGE_DAILY, "two_spaces")}

    assert daily == {"messages_in": 20, "peak_connections": 4}


def test_quality_counts_gaps_and_expects_only_what_a_day_added(told: Told) -> None:
    days = sorted(told.rows(schemas.QUALITY, "holes"), key=lambda day: day["date"])

    assert [(d["expected_seq"], d["seen_seq"], d["holes"]) for d in days] == [(4, 2, 2), (4, 3, 1)]
    assert [d["longest_gap_ms"] for d in days] == [180_000, 120_000]


def test_quality_gap_is_filled_by_a_late_row(told: Told) -> None:
    days = told.rows(schemas.QUALITY, "filled")

    assert [(d["expected_seq"], d["seen_seq"], d["holes"]) for d in days] == [(3, 3, 0)]


def test_report_names_tables_versions_and_counts(told: Told) -> None:
    first, then, last = told.reports

    assert set(first["tables"]) == {table.name for table in schemas.PINNED}
    assert then["tables"]["gold.usage"]["version"] > first["tables"]["gold.usage"]["version"]
    assert then["rows"]["samples"] == sum(len(story[1]) for story in STORIES.values())
    assert last["rows"] == {"samples": 2, "quarantined": 0, "files": 1}
    assert first["rows"]["quarantined"] == 3
    assert then["as_of"] == at(0, 1, day=1).isoformat()  # "holes" was sampled until 00:02
    assert last["as_of"] == at(0, 20, day=1).isoformat()
