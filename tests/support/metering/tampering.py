"""Changes of what an invoice stands on, as somebody with all rights could make them.

Files are rewritten under their names; the database is changed with its triggers off.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from django.db import connection

Rows = list[dict[str, Any]]


def files(root: Path, table: str) -> list[Path]:
    """Return the data files of a table, in the order of their names."""
    return sorted((root / table).glob("date=*/*.parquet"))


def rewrite(root: Path, table: str, change: Callable[[Rows], Rows], *, log: bool = True) -> int:
    """Rewrite each file of ``table`` whose rows ``change`` changes; return how many.

    ``log``: the sizes in the table's log are made to fit, too.
    """
    changed = 0
    for path in files(root, table):
        read = pq.ParquetFile(path).read()
        rows = change([dict(row) for row in read.to_pylist()])
        if rows == read.to_pylist():
            continue
        pq.write_table(pa.Table.from_pylist(rows, schema=read.schema), path, compression="zstd")
        changed += 1
        if log:
            _fit_log(root / table, path)
    return changed


def every(where: Mapping[str, Any], change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """Return a change of all rows that have the values ``where``."""
    return lambda rows: [
        {**row, **change(row)} if where.items() <= row.items() else row for row in rows
    ]


def flip(path: Path, bit: int) -> None:
    """Flip one bit of a file, counted from its beginning."""
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


def sql(statement: str, *values: Any) -> None:
    """Change the database with all triggers off, until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(statement, values)
        assert cursor.rowcount > 0, statement
        cursor.execute("SET LOCAL session_replication_role = DEFAULT")


def _fit_log(table: Path, path: Path) -> None:
    size = path.stat().st_size
    for entry in (table / "_delta_log").glob("*.json"):
        lines = [json.loads(line) for line in entry.read_text().splitlines() if line]
        for line in lines:
            if line.get("add", {}).get("path", "").endswith(path.name):
                line["add"]["size"] = size
        entry.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
