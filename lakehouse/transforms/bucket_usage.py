"""Usage per bucket: differences of consecutive maxima inside one incarnation of a counter."""

from datetime import date

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from lakehouse.schemas import COUNTERS, LIFE, MAXIMA, PEAK, USAGE

_CELL = ("tenant_id", "space_id", "address", "bucket_at", "date")


def usage(state: DataFrame, first_date: date) -> DataFrame:
    """Return the usage of every bucket from ``first_date`` on, as ``USAGE``.

    The first value of an incarnation counts in full, because its counters began at zero. The
    maximum before ``first_date`` is the start value. After a counter reset inside an incarnation
    nothing counts until the counter exceeds its largest value, so quantities are never negative.
    """
    current = state.where(F.col("date") >= F.lit(first_date))
    reached = _reached_before(state, first_date)
    # ``reached`` has at most one row per incarnation, so the join keeps the number of rows.
    joined = current.join(reached, on=list(LIFE), how="left")
    grown = joined.select(*_CELL, F.col(PEAK), *(_growth(column) for column in COUNTERS))
    cells = grown.groupBy(*_CELL).agg(
        *(F.sum(column).alias(column) for column in COUNTERS), F.max(PEAK).alias(PEAK)
    )
    long = cells.unpivot(list(_CELL), list(MAXIMA), "meter", "quantity")
    return long.where(F.col("quantity") > 0).select(*USAGE.schema.fieldNames())


def _reached_before(state: DataFrame, first_date: date) -> DataFrame:
    before = state.where(F.col("date") < F.lit(first_date)).groupBy(*LIFE)
    return before.agg(*(F.max(column).alias(f"before_{column}") for column in COUNTERS))


def _growth(column: str) -> Column:
    """Return by how much the running maximum of the counter grew in the bucket."""
    incarnation = Window.partitionBy(*LIFE).orderBy("bucket_at")
    until_now = incarnation.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    before = F.coalesce(F.col(f"before_{column}"), F.lit(0))
    upto = F.max(column).over(until_now)
    earlier = F.max(column).over(incarnation.rowsBetween(Window.unboundedPreceding, -1))
    grown = F.greatest(upto, before) - F.greatest(F.coalesce(earlier, F.lit(0)), before)
    return grown.alias(column)
