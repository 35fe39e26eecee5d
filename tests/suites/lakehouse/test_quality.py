"""Expected and received samples of a few heartbeats."""

from datetime import date
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lakehouse import schemas
from lakehouse.transforms import sample_quality
from tests.support.lakehouse.frames import LIFE, bronze, of_table, shown
from tests.support.lakehouse.samples import at, beat
from workers.metering.source_states import SampleRow

pytestmark = pytest.mark.spark
DAY, NEXT = date(2026, 11, 21), date(2026, 11, 22)
COUNTS = ("source", "boot_id", "date", "expected_seq", "seen_seq", "holes", "falls")


def sample(day: int, minute: int, seq: int, **columns: Any) -> SampleRow:
    return beat(at(0, minute, day=day), seq, **{**LIFE, **columns})


SAMPLES = (
    *(sample(0, 1, 1), sample(0, 4, 4), sample(0, 4, 4), sample(0, 6, 2)),
    *(sample(1, 1, 6), sample(1, 3, 7)),
    # Between two samples of the first incarnation.
    *(sample(0, 2, 5, boot_id="2"), sample(1, 2, 3, boot_id="2")),
    sample(1, 1, 1, source="spc_1/other"),
)


def test_quality_counts_what_is_expected_and_seen(spark: SparkSession) -> None:
    refused = (
        *({"boot_id": "1", "date": DAY, "reason": "fall"},) * 2,
        {"boot_id": "1", "date": DAY, "reason": "negative"},
        {"boot_id": "2", "date": NEXT, "reason": "fall"},
    )

    quality = sample_quality.quality(
        bronze(spark, SAMPLES), of_table(spark, schemas.QUARANTINE, *refused)
    )

    assert quality.columns == schemas.QUALITY.schema.fieldNames()
    assert shown(quality, *COUNTS) == [
        "spc_1/b 1 2026-11-21 4 3 1 2",
        "spc_1/b 1 2026-11-22 3 2 1 0",
        "spc_1/b 2 2026-11-21 5 1 4 0",
        "spc_1/b 2 2026-11-22 0 1 0 1",
        "spc_1/other 1 2026-11-22 1 1 0 0",
    ]


def test_quality_expects_what_a_day_added_to_its_opening(spark: SparkSession) -> None:
    openings = of_table(
        spark,
        schemas.OPENINGS,
        *({"date": NEXT, "seq": seq, "epoch": seq} for seq in (4, 3)),
        {"date": NEXT, "seq": 6, "address": "orders"},
        {"date": DAY, "seq": 7},
    )
    of_day = [one for one in SAMPLES if one.date == NEXT]

    quality = sample_quality.quality(
        bronze(spark, of_day), of_table(spark, schemas.QUARANTINE), openings
    )

    assert shown(quality, *COUNTS) == [
        "spc_1/b 1 2026-11-22 3 2 1 0",
        "spc_1/b 2 2026-11-22 3 1 2 0",
        "spc_1/other 1 2026-11-22 1 1 0 0",
    ]


def test_received_samples_of_a_day(spark: SparkSession) -> None:
    received = sample_quality.received_by_day(bronze(spark, SAMPLES[:-1]))

    assert shown(received) == [
        "ten_a spc_1 spc_1/b 1 2026-11-21 3 4 180000 2026-11-21 00:01:00 2026-11-21 00:06:00",
        "ten_a spc_1 spc_1/b 1 2026-11-22 2 7 120000 2026-11-22 00:01:00 2026-11-22 00:03:00",
        "ten_a spc_1 spc_1/b 2 2026-11-21 1 5 0 2026-11-21 00:02:00 2026-11-21 00:02:00",
        "ten_a spc_1 spc_1/b 2 2026-11-22 1 3 0 2026-11-22 00:02:00 2026-11-22 00:02:00",
    ]
