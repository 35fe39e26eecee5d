"""Computes usage per bucket: how far maxima rose inside one incarnation of a counter."""

from datetime import date

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from lakehouse.schemas import COUNTERS, LIFE, MAXIMA, PEAK, USAGE
from lakehouse.transforms.growth import growth

_CELL = ("tenant_id", "space_id", "address", "bucket_at", "date")


def usage(state: DataFrame, first_date: date) -> DataFrame:
    """Return the usage of every bucket from ``first_date`` on, with the columns of ``USAGE``.

    ``state`` has the columns of ``STATE``, of all dates. Usage of a counter in a bucket is how far
    its maximum rose (``growth``). The first rise counts from the maximum before ``first_date``, or
    from zero for an incarnation that began later. Usage of several sources and incarnations is
    summed for each address, which is empty for usage of the space. After a counter reset inside an
    incarnation nothing counts until the counter exceeds its former maximum, so quantities are never
    negative. Usage of the peak is its largest value in the bucket. Rows with quantity zero are left
    out.
    """
    current = state.where(F.col("date") >= F.lit(first_date))
    before = state.where(F.col("date") < F.lit(first_date)).groupBy(*LIFE)
    reached = before.agg(*(F.max(column).alias(f"before_{column}") for column in COUNTERS))
    # ``reached`` has at most one row per incarnation, so the join keeps the number of rows.
    joined = current.join(reached, on=list(LIFE), how="left")
    incarnation = Window.partitionBy(*LIFE).orderBy("bucket_at")
    grown = joined.select(
        *_CELL,
        F.col(PEAK),
        *(growth(c, incarnation, f"before_{c}").alias(c) for c in COUNTERS),
    )
    # Counters of several sources and incarnations add up. Of peaks the largest one counts.
    cells = grown.groupBy(*_CELL).agg(
        *(F.sum(column).alias(column) for column in COUNTERS), F.max(PEAK).alias(PEAK)
    )
    long = cells.unpivot(list(_CELL), list(MAXIMA), "meter", "quantity")
    return long.where(F.col("quantity") > 0).select(*USAGE.schema.fieldNames())
