"""Samples -> maxima per life and bucket. The rule that makes order and repetition harmless."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse.schemas import LIFE, MAXIMA, STATE


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
