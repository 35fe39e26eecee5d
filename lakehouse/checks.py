"""Which samples break a rule, and why: DataFrames in, quarantine rows out."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from lakehouse.schemas import BRONZE, COUNTERS, LIFE, MAXIMA, QUARANTINE


def valid(samples: DataFrame) -> DataFrame:
    """Return the samples that keep every rule a single row can keep."""
    return samples.where(_reason().isNull()).select(*BRONZE.schema.fieldNames())


def refused(samples: DataFrame) -> DataFrame:
    """Return the others with the reason (``QUARANTINE``); they never reach the state.

    The reason depends on the row alone, so that order and batching change nothing.
    """
    judged = samples.withColumn("reason", _reason()).where(F.col("reason").isNotNull())
    return judged.withColumn("detail", F.lit("")).select(*QUARANTINE.schema.fieldNames())


def falls(samples: DataFrame, state: DataFrame) -> DataFrame:
    """Return the samples with a counter below what its life had already reached.

    Input: valid new samples, and the state before they are merged. Output: ``QUARANTINE``, one
    row per sample. A late sample above what a later one said is a fall too, seen from behind.
    The fallen value bills nothing because the state is a maximum; this only reports it.
    """
    reached = state.groupBy(*LIFE).agg(
        F.max("seq").alias("known_seq"), *(F.max(c).alias(f"known_{c}") for c in COUNTERS)
    )
    # One row of ``reached`` per life at most: the join keeps the number of rows.
    joined = samples.join(reached, on=list(LIFE), how="left").select(
        *(samples[c] for c in BRONZE.schema.fieldNames()),
        F.col("known_seq"),
        *(_before(c).alias(f"before_{c}") for c in COUNTERS),
        *(F.col(f"known_{c}") for c in COUNTERS),
    )
    said = F.concat_ws("; ", *(_said(c) for c in COUNTERS))
    judged = joined.withColumn("detail", said).where(F.col("detail") != "")
    return judged.withColumn("reason", F.lit("fall")).select(*QUARANTINE.schema.fieldNames())


def _before(counter: str) -> Column:
    """What the life had reached before this sample: earlier ones beside it, and the state."""
    earlier = Window.partitionBy(*LIFE).orderBy("seq").rangeBetween(Window.unboundedPreceding, -1)
    known = F.when(F.col("known_seq") < F.col("seq"), F.col(f"known_{counter}"))
    return F.greatest(F.max(counter).over(earlier), known)  # null when there is neither


def _said(counter: str) -> Column:
    value, before, known = F.col(counter), F.col(f"before_{counter}"), F.col(f"known_{counter}")
    text = F.format_string(f"{counter} %d -> %d", before, value)
    late = F.format_string(f"{counter} %d -> %d", value, known)
    is_late = (F.col("known_seq") > F.col("seq")) & (value > known)
    return F.when(value < before, text).when(is_late, late)


def _reason() -> Column:
    """Null when the row keeps every rule."""
    any_null = " OR ".join(f"{c} IS NULL" for c in BRONZE.schema.fieldNames())
    negative = " OR ".join(f"{c} < 0" for c in (*MAXIMA, "epoch"))
    # As text: one call of Java instead of many.
    return F.expr(
        f"CASE WHEN {any_null} THEN 'null' WHEN {negative} OR seq < 1 THEN 'negative' "
        "WHEN bucket_at > taken_at THEN 'time' WHEN to_date(bucket_at) <> date THEN 'date' END"
    )
