"""Validates samples: finds invalid rows and counter resets, and gives a reason for each."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from lakehouse.schemas import BRONZE, COUNTERS, LIFE, MAXIMA, QUARANTINE

_HASHED = f"xxhash64({', '.join(LIFE)}) AS life"


def valid(samples: DataFrame) -> DataFrame:
    """Return the samples for which ``reason`` is null, with the columns of ``BRONZE``.

    Samples that show a counter reset are valid.
    """
    return samples.where(reason().isNull()).select(*BRONZE.schema.fieldNames())


def refused(samples: DataFrame) -> DataFrame:
    """Return the invalid samples with their reason, with the columns of ``QUARANTINE``.

    Invalid samples never reach the state. The reason depends on the row alone, so the reason is the
    same in any order and batch. ``detail`` is empty.
    """
    judged = samples.withColumn("reason", reason()).where(F.col("reason").isNotNull())
    return judged.withColumn("detail", F.lit("")).select(*QUARANTINE.schema.fieldNames())


def suspects(samples: DataFrame, state: DataFrame) -> DataFrame:
    """Return the incarnations that may show a counter reset, as the column ``life``.

    ``life`` is a hash of LIFE. ``samples`` and ``state`` are those of ``counter_resets``. Each
    incarnation for which that function returns a row is in the result; a few others may be too, for
    example two incarnations with the same hash. This search is cheap, because it compares each
    sample only with the one before it.
    """
    # Null counts as zero, so a fall over a null in between is seen too.
    values = [f"coalesce({c}, 0) AS {c}" for c in COUNTERS]
    fell = " OR ".join(f"{c} < lag({c}) OVER (PARTITION BY life ORDER BY seq)" for c in COUNTERS)
    compared = samples.selectExpr(_HASHED, "seq", *values).selectExpr("*", f"{fell} AS fell")
    lowest = [f"min({c}) AS {c}" for c in ("seq", *COUNTERS)]
    lives = compared.groupBy("life").agg(*map(F.expr, ("max(fell) AS fell", *lowest)))
    known = state.selectExpr(_HASHED, *(f"{c} AS known_{c}" for c in ("seq", *COUNTERS)))
    # The lowest value is the first one if nothing fell.
    below = " OR ".join(f"{c} < known_{c}" for c in ("seq", *COUNTERS))
    found = lives.join(known, on="life", how="left").where(f"coalesce(fell, false) OR {below}")
    return found.select("life").distinct()


def of_lives(samples: DataFrame, lives: DataFrame) -> DataFrame:
    """Return the rows of ``samples`` whose incarnation is one of ``lives``, as in ``suspects``."""
    hashed = samples.selectExpr("*", _HASHED)
    return hashed.join(F.broadcast(lives), on="life", how="left_semi").drop("life")


def counter_resets(samples: DataFrame, state: DataFrame) -> DataFrame:
    """Return the samples that show a counter reset inside one incarnation.

    A sample shows a reset in either case:

    - A counter is lower than its maximum in the samples with a lower ``seq``.
    - The sample is late, because the state has a higher ``seq`` already, and a counter is higher
      than its maximum in the state.

    Input: valid new samples, and the state before they are merged. Output: one row per such sample,
    with the columns of ``QUARANTINE``; ``reason`` is ``fall``, and ``detail`` names the counters.
    Such samples still go into the state, where a lower value bills nothing, because the state is a
    maximum.
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
    """Return the column expression for the counter's maximum at lower ``seq`` than the row's own.

    Of the same incarnation, it takes the new samples, and the state if the state's highest ``seq``
    is lower too: the state does not keep single samples. Null when neither has a value. The rows
    must have the columns ``known_seq`` and ``known_<counter>``.
    """
    # A range of ``seq``, not of rows, so that a duplicate is not its own predecessor.
    earlier = Window.partitionBy(*LIFE).orderBy("seq").rangeBetween(Window.unboundedPreceding, -1)
    known = F.when(F.col("known_seq") < F.col("seq"), F.col(f"known_{counter}"))
    return F.greatest(F.max(counter).over(earlier), known)  # ignores nulls


def described_reset(counter: str) -> Column:
    """Return a column: ``<counter> <before> -> <after>`` if the row shows a reset of it, else null.

    The rows must have the columns that ``counter_resets`` joins.
    """
    value, before, known = F.col(counter), F.col(f"before_{counter}"), F.col(f"known_{counter}")
    text = F.format_string(f"{counter} %d -> %d", before, value)
    late = F.format_string(f"{counter} %d -> %d", value, known)
    is_late = (F.col("known_seq") > F.col("seq")) & (value > known)
    return F.when(value < before, text).when(is_late, late)


def reason() -> Column:
    """Return the column expression for why a sample is invalid; null if it is valid.

    ``null``: a required column is null. ``negative``: a meter or the epoch is below 0, or ``seq``
    below 1. ``time``: the bucket begins after the sample was taken. ``date``: the partition is not
    the date of the bucket.
    """
    any_null = " OR ".join(f"{c.name} IS NULL" for c in BRONZE.schema.fields if not c.nullable)
    negative = " OR ".join(f"{c} < 0" for c in (*MAXIMA, "epoch"))
    # As SQL text: one call to Java instead of one for each column expression.
    return F.expr(
        f"CASE WHEN {any_null} THEN 'null' WHEN {negative} OR seq < 1 THEN 'negative' "
        "WHEN bucket_at > taken_at THEN 'time' WHEN to_date(bucket_at) <> date THEN 'date' END"
    )
