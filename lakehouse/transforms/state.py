"""Samples -> maxima per life and bucket. The rule that makes order and repetition harmless."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse.schemas import LIFE, MAXIMA, STATE

# A source that landed nothing for so long, while another did, is silent or gone.
SILENCE = "5 minutes"


def buckets(samples: DataFrame) -> DataFrame:
    """Return one row per life and bucket: the largest value of each counter, first and last time.

    Input: valid rows of ``bronze.samples``, in any order, repeated at will. Output: ``STATE``.
    """
    grouped = samples.groupBy(*LIFE, "bucket_at", "date")
    folded = grouped.agg(
        F.max("address_type").alias("address_type"),
        F.max("seq").alias("seq"),
        *(F.max(column).alias(column) for column in MAXIMA),
        F.min("taken_at").alias("first_taken_at"),
        F.max("taken_at").alias("last_taken_at"),
    )
    return folded.select(*STATE.schema.fieldNames())


def complete_until(state: DataFrame) -> DataFrame:
    """Return one value: the microseconds since 1970 up to which every sample is in; null if none.

    The least of the newest samples of the sources that live: a round may land the end of a bucket
    of one space before the others' samples of the same minute.
    """
    newest = state.groupBy("source").agg(F.max("last_taken_at").alias("at"))
    last = newest.agg(F.max("at").alias("last"))
    living = newest.crossJoin(last).where(F.col("at") >= F.expr(f"last - INTERVAL {SILENCE}"))
    return living.agg(F.unix_micros(F.min("at")))
