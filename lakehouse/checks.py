"""Validation of samples: finds invalid rows and counter resets, and says why."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from lakehouse.schemas import BRONZE, COUNTERS, LIFE, MAXIMA, QUARANTINE


def valid(samples: DataFrame) -> DataFrame:
    """Return the samples that pass every check of a single row."""
    return samples.where(reason().isNull()).select(*BRONZE.schema.fieldNames())


def refused(samples: DataFrame) -> DataFrame:
    """Return the invalid samples with the reason, as ``QUARANTINE``. They never reach the state.

    The reason depends on the row alone, so it is the same in any order and batch.
    """
    judged = samples.withColumn("reason", reason()).where(F.col("reason").isNotNull())
    return judged.withColumn("detail", F.lit("")).select(*QUARANTINE.schema.fieldNames())


def falls(samples: DataFrame, state: DataFrame) -> DataFrame:
    """Return the samples that show a counter reset inside one incarnation.

    A sample shows a reset if a counter is lower than in an earlier sample. A sample that arrives
    late shows one if a counter is higher than in a later sample. Input: valid new samples, and the
    state before they are merged. Output: ``QUARANTINE``, one row per sample. This only reports
    resets; the lower value bills nothing, because the state is a maximum.
    """
    reached = state.groupBy(*LIFE).agg(
        F.max("seq").alias("known_seq"), *(F.max(c).alias(f"known_{c}") for c in COUNTERS)
    )
    # ``reached`` has at most one row per incarnation, so the join keeps the number of rows.
    joined = samples.join(reached, on=list(LIFE), how="left").select(
        *(samples[c] for c in BRONZE.schema.fieldNames()),
        F.col("known_seq"),
        *(before(c).alias(f"before_{c}") for c in COUNTERS),
        *(F.col(f"known_{c}") for c in COUNTERS),
    )
    # ``concat_ws`` skips nulls, so the detail is empty when no counter was reset.
    detail = F.concat_ws("; ", *(described_reset(c) for c in COUNTERS))
    judged = joined.withColumn("detail", detail).where(F.col("detail") != "")
    return judged.withColumn("reason", F.lit("fall")).select(*QUARANTINE.schema.fieldNames())


def before(counter: str) -> Column:
    """Return the counter's maximum before this sample, in the new samples and the state.

    Null when there is no earlier sample.
    """
    earlier = Window.partitionBy(*LIFE).orderBy("seq").rangeBetween(Window.unboundedPreceding, -1)
    known = F.when(F.col("known_seq") < F.col("seq"), F.col(f"known_{counter}"))
    return F.greatest(F.max(counter).over(earlier), known)  # ignores nulls


def described_reset(counter: str) -> Column:
    """Return a text with the values before and after a reset of the counter, null without one."""
    value, before, known = F.col(counter), F.col(f"before_{counter}"), F.col(f"known_{counter}")
    text = F.format_string(f"{counter} %d -> %d", before, value)
    late = F.format_string(f"{counter} %d -> %d", value, known)
    is_late = (F.col("known_seq") > F.col("seq")) & (value > known)
    return F.when(value < before, text).when(is_late, late)


def reason() -> Column:
    """Return why the row is invalid, null if it is valid."""
    any_null = " OR ".join(f"{c} IS NULL" for c in BRONZE.schema.fieldNames())
    negative = " OR ".join(f"{c} < 0" for c in (*MAXIMA, "epoch"))
    # As SQL text: one call to Java instead of one for each column expression.
    return F.expr(
        f"CASE WHEN {any_null} THEN 'null' WHEN {negative} OR seq < 1 THEN 'negative' "
        "WHEN bucket_at > taken_at THEN 'time' WHEN to_date(bucket_at) <> date THEN 'date' END"
    )
