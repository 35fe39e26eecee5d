"""Copies of rows by INSERT … SELECT: the actions, or a row at a time, would take hours."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from django.db import connection
from django.db.models import Model


@contextmanager
def without_triggers() -> Iterator[None]:
    """Run no triggers on this connection: neither those of ours nor the checks of foreign keys."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        try:
            yield
        finally:
            cursor.execute("SET session_replication_role = DEFAULT")


def numbered(count: int) -> str:
    """Return a source of ``count`` rows ``s`` with the numbers ``s.n`` from 1."""
    return f"(SELECT generate_series(1, {count}) AS n) s"


def each_numbered(table: str, count: int, where: str = "true") -> str:
    """Return a source of ``count`` rows ``s`` for each row of ``table``: its columns and ``n``."""
    return f"(SELECT r.*, g.n FROM {table} r, generate_series(1, {count}) g(n) WHERE {where}) s"


def insert(pattern: Model, source: str, columns: Mapping[str, str]) -> None:
    """Insert one copy of the stored row ``pattern`` for each row ``s`` of ``source``.

    ``columns`` maps names of columns to SQL expressions over ``s``; ``p`` is the pattern. Columns
    that it does not name have the pattern's values, and automatic keys are new.
    """
    meta = pattern._meta
    own = [
        field.column
        for field in meta.concrete_fields
        if field.column is not None
        and not (field.primary_key and field.get_internal_type() in _AUTOMATIC)
    ]
    assert set(columns) <= {*own, "id"}, set(columns) - set(own)
    values = [columns.get(name, f'p."{name}"') for name in own]
    names = ", ".join(f'"{name}"' for name in own)
    key = meta.pk.column
    statement = (
        f"INSERT INTO {meta.db_table} ({names}) SELECT {', '.join(values)}"
        f' FROM {meta.db_table} p, {source} WHERE p."{key}" = %s'
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [pattern.pk])


_AUTOMATIC = ("AutoField", "BigAutoField", "SmallAutoField")
