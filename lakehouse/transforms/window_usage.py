"""Sums gold usage over windows of time: what rating needs of a billing month. Pure."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse import schemas

# The columns of ``windows``: the window [starts_at, ends_at) of a tenant, in UTC.
WINDOWS = "tenant_id string, starts_at timestamp, ends_at timestamp"


def sums(usage: DataFrame, windows: DataFrame) -> DataFrame:
    """Return (tenant_id, starts_at, ends_at, space_id, meter, quantity) for each window.

    ``usage`` are rows of ``gold.usage``, ``windows`` rows with the columns of ``WINDOWS``, each
    once. The quantity covers all addresses of the space in the buckets that begin in the window: of
    the peak it is the maximum, of other meters the sum. Windows without usage are left out.
    """
    inside = (
        (usage.tenant_id == windows.tenant_id)
        & (usage.bucket_at >= windows.starts_at)
        & (usage.bucket_at < windows.ends_at)
    )
    # The windows are by far the smaller side, so gold need not be shuffled for the join.
    rows = usage.join(F.broadcast(windows), inside).select(
        windows.tenant_id, "starts_at", "ends_at", "space_id", "meter", "quantity"
    )
    keys = ("tenant_id", "starts_at", "ends_at", "space_id", "meter")
    both = rows.groupBy(*keys).agg(
        F.sum("quantity").alias("summed"), F.max("quantity").alias("largest")
    )
    quantity = F.when(F.col("meter") == schemas.PEAK, F.col("largest")).otherwise(F.col("summed"))
    return both.select(*keys, quantity.alias("quantity"))
