"""Computes the maxima of samples per incarnation and bucket, and the watermark.

A maximum is the same in whatever order samples arrive and however often they are repeated.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lakehouse.schemas import LIFE, MAXIMA, OPTIONAL, SOURCES, STATE, quoted

# A source is active unless its newest sample is more than this older than the newest sample of all.
SILENCE = "5 minutes"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def address_types(samples: DataFrame) -> list[str]:
    """Return the address types in rows of ``bronze.samples``. Runs a Spark job."""
    found = samples.select("address_type").distinct().collect()
    return [row["address_type"] for row in found if row["address_type"] is not None]


def buckets(samples: DataFrame, types: Iterable[str]) -> DataFrame:
    """Return the largest value of each meter and of ``seq``, and the first and last sample's time.

    Input: valid rows of ``bronze.samples``, in any order, possibly repeated, and at least their
    ``address_types``. Output: one row per incarnation and bucket, with the columns of
    ``STATE``. A meter that is null in all samples of a bucket is 0.
    """
    # The largest type by its number: a maximum of texts would make Spark sort all samples.
    # '' too, because a CASE needs a branch.
    literals = [f"'{quoted(name)}'" for name in sorted({"", *types})]
    numbers = " ".join(f"WHEN {name} THEN {n}" for n, name in enumerate(literals))
    grouped = samples.groupBy(*LIFE, "bucket_at", "date")
    folded = grouped.agg(
        F.expr(f"max(CASE address_type {numbers} END) AS type_number"),
        F.max("seq").alias("seq"),
        *(_maximum(column) for column in MAXIMA),
        F.min("taken_at").alias("first_taken_at"),
        F.max("taken_at").alias("last_taken_at"),
    )
    named = folded.withColumn("address_type", F.expr(f"array({', '.join(literals)})[type_number]"))
    return named.select(*STATE.schema.fieldNames())


def _maximum(meter: str) -> Column:
    if meter in OPTIONAL:
        return F.expr(f"coalesce(max({meter}), 0) AS {meter}")
    return F.max(meter).alias(meter)


def newest_samples(state: DataFrame) -> DataFrame:
    """Return the time of the newest sample of each source, with the columns of ``SOURCES``.

    ``state`` has at least the columns of ``SOURCES``, and any number of rows per source.
    """
    folded = state.groupBy("source").agg(
        # A source has one tenant and one space; ``max`` only picks it.
        F.max("tenant_id").alias("tenant_id"),
        F.max("space_id").alias("space_id"),
        F.max("last_taken_at").alias("last_taken_at"),
    )
    return folded.select(*SOURCES.schema.fieldNames())


def complete_until(sources: DataFrame) -> str | None:
    """Return the watermark as ISO 8601 text; None without samples. Runs a Spark job.

    ``sources`` has one row per source of all tenants, with ``last_taken_at``. The watermark is the
    time of the newest sample of that active source (see ``SILENCE``) whose newest sample is oldest.
    The newest sample of all sources would be too late, because samples that other spaces took in
    the same minute may land after it.
    """
    last = sources.agg(F.max("last_taken_at").alias("last"))
    is_active = F.col("last_taken_at") >= F.expr(f"last - INTERVAL {SILENCE}")
    active = sources.crossJoin(last).where(is_active)
    # As a number: ``collect`` converts instants to the time zone of the machine.
    micros = active.agg(F.unix_micros(F.min("last_taken_at"))).collect()[0][0]
    return None if micros is None else (_EPOCH + timedelta(microseconds=micros)).isoformat()
