"""Computes usage per tenant, meter and UTC day, for dashboards."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse.schemas import PEAK, USAGE_DAILY


def daily(usage: DataFrame) -> DataFrame:
    """Return the sum per tenant, meter and UTC day; of a peak, the largest value of any one space.

    ``usage`` has the columns of ``USAGE``, the result those of ``USAGE_DAILY``. Billing does not
    use the result: a billing period follows the tenant's time zone and is computed from
    ``gold.usage``.
    """
    grouped = usage.groupBy("tenant_id", "meter", "date").agg(
        F.sum("quantity").alias("summed"), F.max("quantity").alias("largest")
    )
    quantity = F.when(F.col("meter") == PEAK, F.col("largest")).otherwise(F.col("summed"))
    return grouped.withColumn("quantity", quantity).select(*USAGE_DAILY.schema.fieldNames())
