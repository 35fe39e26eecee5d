"""Computes how far a running maximum rose: the rule for usage and for expected samples."""

from pyspark.sql import Column, Window, WindowSpec
from pyspark.sql import functions as F


def growth(column: str, rows: WindowSpec, before: str) -> Column:
    """Return by how much the running maximum of ``column`` rose in each row of an ordered window.

    ``before`` is the column with the maximum that was reached before the first row; null counts as
    zero, because an incarnation begins at zero. The result is never negative: after a counter reset
    nothing grows until the old maximum is exceeded.
    """
    preceding = rows.rowsBetween(Window.unboundedPreceding, -1)
    # ``greatest`` ignores nulls.
    reached = F.greatest(F.max(column).over(preceding), F.col(before), F.lit(0))
    return F.greatest(F.col(column) - reached, F.lit(0))
