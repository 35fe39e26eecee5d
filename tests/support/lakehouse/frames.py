"""Small DataFrames with the columns of a table, and results as text that is easy to compare."""

from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from lakehouse import schemas
from lakehouse.schemas import Table
from workers.metering.source_states import SampleRow

_DEFAULTS: dict[str, Any] = {
    "string": "",
    "bigint": 0,
    "boolean": False,
    "date": date(2026, 11, 21),
    "timestamp": datetime(2026, 11, 21, tzinfo=UTC),
}
# One incarnation of a counter, and the source of its space.
LIFE = {"tenant_id": "ten_a", "space_id": "spc_1", "source": "spc_1/b", "boot_id": "1"}


def bronze(spark: SparkSession, rows: Iterable[SampleRow], **columns: Any) -> DataFrame:
    """Return samples as ``bronze.samples`` has them; ``columns`` replace values in each row."""
    fields = schemas.BRONZE.schema.fieldNames()
    stored = [{**row.columns, "batch_id": "b", "date": row.date, **columns} for row in rows]
    values = [tuple(row.get(name) for name in fields) for row in stored]
    return spark.createDataFrame(values, schemas.BRONZE.schema)


def of_table(spark: SparkSession, table: Table, *rows: dict[str, Any]) -> DataFrame:
    """Return rows with the columns of ``table``.

    A column that a row lacks is that of ``LIFE``, or else 0, empty, or the day of ``samples.at``.
    """
    fields = table.schema.fields
    defaults = {**{f.name: _DEFAULTS[f.dataType.simpleString()] for f in fields}, **LIFE}
    values = [tuple({**defaults, **row}[f.name] for f in fields) for row in rows]
    return spark.createDataFrame(values, table.schema)


def shown(frame: DataFrame, *columns: str) -> list[str]:
    """Return the rows as sorted lines: the columns in UTC, separated by spaces, "-" for null."""
    texts = [f"coalesce(CAST({c} AS string), '-')" for c in columns or frame.columns]
    found = frame.selectExpr(f"concat_ws(' ', {', '.join(texts)}) AS line").collect()
    return sorted(row["line"] for row in found)
