"""The columns and the file format of the bronze table: Arrow schema, Parquet bytes, statistics.

The columns come from ``lakehouse/bronze_schema.json``, which the Spark side reads too. ``landing``
writes the files, ``committer`` adds them to the Delta log, and ``recompute`` queries the columns
that are meters.
"""

import importlib.util
import io
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from workers.metering.source_states import SampleRow

TABLE = "bronze/samples"
# Type in ``bronze_schema.json`` -> type of Arrow.
_TYPES: Mapping[str, Any] = {
    "string": pa.string(),
    "bigint": pa.int64(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "date": pa.date32(),
}
# Columns with minimum and maximum per file, by which readers skip files outside a period.
_STATISTICS = ("taken_at", "bucket_at")


@cache
def schema() -> pa.Schema:
    """Return the table's Arrow schema; the partition column ``date`` is the last one."""
    columns = _columns()
    return pa.schema([pa.field(c["name"], _TYPES[c["type"]], c["nullable"]) for c in columns])


def columns_of_role(role: str) -> tuple[str, ...]:
    """Return the names of the columns that are meters of ``role``: ``counter`` or ``peak``."""
    return tuple(column["name"] for column in _columns() if column.get("role") == role)


@cache
def optional() -> frozenset[str]:
    """Return the meters that were added later: older rows have null or lack the column.

    Null says that nothing was counted. It is no fault, and as a maximum it is 0. Rows that are
    written now always have a number.
    """
    return frozenset(c["name"] for c in _columns() if c.get("role") and c["nullable"])


def not_negative(meter: str) -> str:
    """Return the SQL condition that ``meter`` is not negative."""
    # A constraint or condition that is null excludes the row.
    return f"({meter} IS NULL OR {meter} >= 0)" if meter in optional() else f"{meter} >= 0"


def meanings() -> dict[str, str]:
    """Return {name: meaning} of the columns, for the comments of the table."""
    return {c["name"]: c["meaning"] for c in _columns()}


def kinds() -> list[tuple[str, str]]:
    """Return (name, type) of every column in order; the type of counters and peaks is ``meter``."""
    return [(c["name"], "meter" if c.get("role") else c["type"]) for c in _columns()]


def audit_days() -> int:
    """Return for how many days every version of a Delta table is kept; invoices pin versions."""
    return int(_document()["audit_days"])


def _columns() -> Sequence[Mapping[str, Any]]:
    columns: Sequence[Mapping[str, Any]] = _document()["columns"]
    return columns


@cache
def _document() -> Mapping[str, Any]:
    # Located without an import: the workers may not import ``lakehouse``, which needs Spark.
    spec = importlib.util.find_spec("lakehouse")
    if spec is None or spec.origin is None:
        raise RuntimeError("the lakehouse folder is not installed beside the workers")
    text = Path(spec.origin).with_name("bronze_schema.json").read_text(encoding="utf-8")
    document: Mapping[str, Any] = json.loads(text)
    return document


def encode(batch_id: str, rows: Sequence[SampleRow]) -> bytes:
    """Return the bytes of one Parquet file with ``rows``, which must all have the same date.

    Equal arguments give a file with equal rows at any time. The partition column ``date`` is in the
    file's path, not in the file.
    """
    fields = [field for field in schema() if field.name != "date"]
    values = [{"batch_id": batch_id, **row.columns} for row in rows]
    columns = [[row[field.name] for row in values] for field in fields]
    arrays = [pa.array(c, field.type) for c, field in zip(columns, fields, strict=True)]
    buffer = io.BytesIO()
    table = pa.Table.from_arrays(arrays, schema=pa.schema(fields))
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def file_path(name: str, day: date) -> str:
    """Return the path of the file ``name`` in the partition ``day``, relative to the table."""
    return f"date={day.isoformat()}/{name}.parquet"


def statistics(file: Any) -> str:
    """Return Delta's statistics of an open Parquet file as JSON, from the file's footer.

    They are the number of rows, and the smallest and largest ``taken_at`` and ``bucket_at``.
    Source: Delta transaction log protocol, "Per-file Statistics".
    """
    footer = pq.read_metadata(file)
    low, high = _extremes(footer, min), _extremes(footer, max)
    # A maximum is rounded up, or readers would skip a file that has the value.
    nearly = timedelta(microseconds=999)
    return json.dumps(
        {
            "numRecords": footer.num_rows,
            "minValues": {name: _floor(value) for name, value in low.items()},
            "maxValues": {name: _floor(value + nearly) for name, value in high.items()},
            "nullCount": dict.fromkeys(low, 0),
        }
    )


def _extremes(footer: Any, extreme: Any) -> dict[str, datetime]:
    found: dict[str, datetime] = {}
    for group in range(footer.num_row_groups):
        for index in range(footer.num_columns):
            column = footer.row_group(group).column(index)
            if column.path_in_schema in _STATISTICS:
                value = column.statistics.min if extreme is min else column.statistics.max
                name = column.path_in_schema
                found[name] = extreme(found.get(name, value), value)
    return found


def _floor(value: datetime) -> str:
    """Return ``value`` as Delta's statistics have it: in UTC, rounded down to milliseconds."""
    whole = value.astimezone(UTC)
    return f"{whole:%Y-%m-%dT%H:%M:%S}.{whole.microsecond // 1000:03d}Z"
