"""Writes columns of many rows by one UPDATE, with the values of all rows as one JSON parameter.

``QuerySet.bulk_update`` makes one CASE expression with a branch for each row and column, which
takes seconds for hundreds of rows with long values.
"""

import json
from collections.abc import Sequence
from typing import Any

from django.db import connection, models


def save(rows: Sequence[models.Model], columns: Sequence[str]) -> None:
    """Store the named columns of ``rows``, which are of one model and exist. Calls no signals.

    ``auto_now`` has no effect: name the column, and set its value.
    """
    if not rows:
        return
    options = rows[0]._meta
    wanted = {options.pk, *(options.get_field(name) for name in columns)}
    fields = [field for field in options.concrete_fields if field in wanted]
    named = {field: field.get_attname_column() for field in fields}
    assert options.pk is not None  # every model has one
    quoted = {field: connection.ops.quote_name(str(column)) for field, (_, column) in named.items()}
    types = [f"{quoted[field]} {field.db_type(connection)}" for field in fields]
    key, table = quoted[options.pk], connection.ops.quote_name(options.db_table)
    changed = ", ".join(f"{name} = v.{name}" for name in quoted.values() if name != key)
    sql = (
        f"UPDATE {table} AS t SET {changed} "
        f"FROM json_to_recordset(%s::json) AS v ({', '.join(types)}) WHERE t.{key} = v.{key}"
    )
    values = [
        {column: getattr(row, attribute) for attribute, column in named.values()} for row in rows
    ]
    with connection.cursor() as cursor:
        cursor.execute(sql, [json.dumps(values, default=_text, ensure_ascii=False)])


def _text(value: Any) -> str:
    """Return a value that JSON lacks, such as an instant, as PostgreSQL reads it."""
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
