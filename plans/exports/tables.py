"""Writes rows as CSV or Parquet files; the memory that it takes does not grow with their number.

Equal rows give equal bytes.
"""

import csv
import io
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from itertools import islice
from typing import IO, Any

from controlplane.core import spreadsheets
from controlplane.core.errors import Invalid, Unavailable
from plans.export_kinds import FileFormat

MAX_ROWS = 1_000_000  # of one file
_BATCH = 10_000
Row = Mapping[str, Any]


class Type(StrEnum):
    """The type of a column. Texts may be chosen by tenants; codes are Waypost's own."""

    TEXT = "text"
    CODE = "code"
    INTEGER = "integer"
    DECIMAL = "decimal"  # up to 12 places
    INSTANT = "instant"


@dataclass(frozen=True)
class Column:
    """One column of a table; every cell may be None."""

    name: str
    type: Type


class TooManyRows(Invalid):
    """The window has more rows than one file takes."""

    code = "export.too_large"


def write(columns: Sequence[Column], rows: Iterable[Row], format: FileFormat) -> IO[bytes]:
    """Return a temporary file, at its beginning, with ``rows``; closing it deletes it.

    Raises:
        TooManyRows: there are more than ``MAX_ROWS``.
        Unavailable: Parquet needs pyarrow, which is not installed.
    """
    file = tempfile.TemporaryFile()
    try:
        _WRITERS[format](columns, _bounded(rows), file)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


def _bounded(rows: Iterable[Row]) -> Iterator[Row]:
    for n, row in enumerate(rows, start=1):
        if n > MAX_ROWS:
            raise TooManyRows(
                f"The window has more than {MAX_ROWS:,} rows, which is the most that one file "
                "takes: export a shorter window."
            )
        yield row


def _write_csv(columns: Sequence[Column], rows: Iterable[Row], file: IO[bytes]) -> None:
    # RFC 4180: lines end with CR LF.
    text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
    writer = csv.writer(text)
    writer.writerow(column.name for column in columns)
    for row in rows:
        writer.writerow(_cell(row[column.name], column.type) for column in columns)
    text.detach()  # without it, the wrapper would close the file


def _cell(value: Any, type: Type) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if isinstance(value, Decimal):
        return f"{value:f}"
    return spreadsheets.harmless(str(value)) if type is Type.TEXT else str(value)


def _write_parquet(columns: Sequence[Column], rows: Iterable[Row], file: IO[bytes]) -> None:
    try:
        # Imported here because CSV works without it.
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise Unavailable(
            "Parquet needs the package pyarrow (`waypost[exports]`); CSV works without it.",
            code="export.parquet_unavailable",
        ) from None
    types = {
        Type.TEXT: pa.string(),
        Type.CODE: pa.string(),
        Type.INTEGER: pa.int64(),
        Type.DECIMAL: pa.decimal128(38, 12),
        Type.INSTANT: pa.timestamp("us", tz="UTC"),
    }
    schema = pa.schema([(column.name, types[column.type]) for column in columns])
    left = iter(rows)
    with pq.ParquetWriter(file, schema) as writer:
        while batch := list(islice(left, _BATCH)):
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))


_WRITERS = {FileFormat.CSV: _write_csv, FileFormat.PARQUET: _write_parquet}
