"""Computes usage per bucket: how far maxima rose inside one incarnation of a counter."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from lakehouse.schemas import COUNTERS, LIFE, MAXIMA, PEAK, USAGE
from lakehouse.transforms.growth import growth

_CELL = ("tenant_id", "space_id", "address", "bucket_at", "date")


def usage(state: DataFrame, openings: DataFrame | None = None) -> DataFrame:
    """Return the usage of every bucket in ``state``, with the columns of ``USAGE``.

    ``state`` has the columns of ``STATE``, of whole days. ``openings`` are those of the same days.
    Without them ``state`` must begin with the first day of every incarnation.

    Usage of a counter in a bucket is how far its maximum rose (``growth``). The first rise counts
    from the day's opening, or from zero for an incarnation that began that day. Usage of several
    sources and incarnations is summed for each address, which is empty for usage of the space.
    After a counter reset inside an incarnation nothing counts until the counter exceeds its former
    maximum, so quantities are never negative. Usage of the peak is its largest value in the bucket.
    Rows with quantity zero are left out.
    """
    # By space, so that rows are shuffled once for the window and for the sums.
    joined = _opened(state, openings).repartition("space_id")
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


def _opened(state: DataFrame, openings: DataFrame | None) -> DataFrame:
    """Return ``state`` with ``before_<counter>`` of the row's day; null without an opening."""
    if openings is None:
        nothing = F.lit(None).cast("bigint")
        return state.select("*", *(nothing.alias(f"before_{c}") for c in COUNTERS))
    before = openings.select(*LIFE, "date", *(F.col(c).alias(f"before_{c}") for c in COUNTERS))
    # At most one opening per incarnation and day, so the join keeps the number of rows.
    return state.join(before, on=[*LIFE, "date"], how="left")
