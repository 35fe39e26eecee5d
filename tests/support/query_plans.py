"""How many rows of a table a query reads, by PostgreSQL's own plan of it."""

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from django.db import connection


def rows_read(queries: Sequence[str], tables: Collection[str]) -> dict[str, float]:
    """Run ``queries`` again; return for each of ``tables`` the most rows that one of them read."""
    read: dict[str, float] = {}
    with connection.cursor() as cursor:
        # The few rows of a test fit in some pages, which PostgreSQL may read as a whole; those of
        # an installation do not. Where no index serves a query, it reads the whole table
        # nevertheless.
        cursor.execute("SET LOCAL enable_seqscan = off")
        # Also the tables that the queries join with: what earlier tests rolled back still fills
        # their pages, and PostgreSQL would plan for that many rows.
        cursor.execute("ANALYZE")
        for sql in queries:
            cursor.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + sql)
            (found,) = cursor.fetchall()[0]
            plan: Any = json.loads(found) if isinstance(found, str) else found
            for node in _nodes(plan[0]["Plan"]):
                name: str = node.get("Relation Name", "")
                if name in tables:
                    rows = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
                    read[name] = max(read.get(name, 0), rows * node["Actual Loops"])
    return read


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from _nodes(child)
