"""Computes expected and received samples per incarnation of a source and day."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from lakehouse.schemas import QUALITY
from lakehouse.transforms.growth import growth

_SOURCE = ("tenant_id", "space_id", "source", "boot_id")


def quality(
    heartbeats: DataFrame, quarantine: DataFrame, openings: DataFrame | None = None
) -> DataFrame:
    """Return one row per incarnation of a source and day of ``heartbeats``, as ``QUALITY``.

    ``heartbeats`` are the valid samples with address '' of whole days: each landed snapshot of a
    source has one. ``quarantine`` has at least the same days, and ``openings`` exactly these.
    Without openings ``heartbeats`` must begin with the first day of every incarnation.

    ``seq`` rises by one per landed snapshot, so the number of samples to expect on a day is how far
    ``seq`` rose. The day's counter resets are counted in ``quarantine``. A gap with a later sample
    of the same incarnation loses nothing, because counters are cumulative.
    """
    days = received_by_day(heartbeats)
    resets = quarantine.where(F.col("reason") == "fall")
    per_day = resets.groupBy(*_SOURCE, "date").agg(F.count("*").alias("falls"))
    # Both have at most one row per key, so the joins add no rows.
    joined = _opened(days, openings).join(per_day, on=[*_SOURCE, "date"], how="left")
    by_day = Window.partitionBy(*_SOURCE).orderBy("date")
    judged = joined.withColumn("expected_seq", growth("last_seq", by_day, "before_seq")).withColumn(
        "falls", F.coalesce(F.col("falls"), F.lit(0))
    )
    # Never below zero: a day may also have samples whose ``seq`` an earlier day had passed already.
    missing = F.greatest(F.col("expected_seq") - F.col("seen_seq"), F.lit(0))
    return judged.withColumn("holes", missing).select(*QUALITY.schema.fieldNames())


def received_by_day(heartbeats: DataFrame) -> DataFrame:
    """Return one row per incarnation of a source and day, by the UTC date of the bucket.

    A row holds the number of different ``seq``, the highest ``seq``, the longest time between two
    consecutive samples of the day in milliseconds (0 for a single sample), and the times of the
    first and the last sample.
    """
    in_day = Window.partitionBy(*_SOURCE, "date").orderBy("taken_at")
    gap = F.unix_millis("taken_at") - F.unix_millis(F.lag("taken_at").over(in_day))
    return (
        heartbeats.select(*_SOURCE, "date", "seq", "taken_at", gap.alias("gap"))
        .groupBy(*_SOURCE, "date")
        .agg(
            F.count_distinct("seq").alias("seen_seq"),
            F.max("seq").alias("last_seq"),
            F.coalesce(F.max("gap"), F.lit(0)).alias("longest_gap_ms"),
            F.min("taken_at").alias("first_taken_at"),
            F.max("taken_at").alias("last_taken_at"),
        )
    )


def _opened(days: DataFrame, openings: DataFrame | None) -> DataFrame:
    """Return ``days`` with ``before_seq``, the largest ``seq`` before the day, or null."""
    if openings is None:
        return days.withColumn("before_seq", F.lit(None).cast("bigint"))
    of_sources = openings.where(F.col("address") == "").groupBy(*_SOURCE, "date")
    reached = of_sources.agg(F.max("seq").alias("before_seq"))
    return days.join(reached, on=[*_SOURCE, "date"], how="left")
