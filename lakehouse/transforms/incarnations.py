"""Computes openings and heads: the maxima that incarnations of counters had reached before a day.

An opening has the maxima of one incarnation before one of its days. With it, usage of the day is
computed from the buckets of that day alone. A head has the maxima of an incarnation until now, like
an opening of the next day. Everything is a maximum, so repeated and late rows do no harm.
"""

import uuid
from collections.abc import Iterable
from typing import Any

from pyspark.sql import DataFrame

from lakehouse.schemas import COUNTERS, HEADS, LIFE, OPENINGS

# An incarnation rests if its last day is more than this many days older than the newest day of all.
RESTS_AFTER_DAYS = 30
_REACHED = ("seq", *COUNTERS)
_LIFE = ", ".join(LIFE)
_MAXIMA = ", ".join(f"max({c}) AS {c}" for c in _REACHED)
_EARLIER = "ORDER BY date ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING"
# The day of a head among openings: later than any other.
_FUTURE = "date'9999-12-31'"


def by_day(state: DataFrame) -> DataFrame:
    """Return the largest ``seq``, counters and ``last_taken_at`` per incarnation and day.

    ``state`` has the columns of ``STATE``. Output: LIFE, ``date``, and these columns.
    """
    return _ask(
        f"SELECT {_LIFE}, date, {_MAXIMA}, max(last_taken_at) AS last_taken_at "
        f"FROM {{state}} GROUP BY {_LIFE}, date",
        state=state,
    )


def openings(state: DataFrame) -> DataFrame:
    """Return all openings, with the columns of ``OPENINGS``. ``state`` has all dates."""
    before = ", ".join(f"max({c}) OVER (PARTITION BY {_LIFE} {_EARLIER}) AS {c}" for c in _REACHED)
    return _ask(
        f"SELECT {_columns(OPENINGS.schema.fieldNames())} FROM "
        f"(SELECT {_LIFE}, date, {before} FROM {{days}}) WHERE seq IS NOT NULL",
        days=by_day(state),
    )


def heads(state: DataFrame) -> DataFrame:
    """Return the heads of the incarnations in ``state``, none of them resting, as ``HEADS``.

    ``state`` has ``date``, ``seq``, the counters and LIFE, and any number of rows per incarnation.
    """
    return _ask(
        f"SELECT {_columns(HEADS.schema.fieldNames())} FROM (SELECT {_LIFE}, "
        f"min(date) AS first_date, max(date) AS date, {_MAXIMA}, false AS resting "
        f"FROM {{state}} GROUP BY {_LIFE})",
        state=state,
    )


def rested(heads: DataFrame) -> DataFrame:
    """Return ``heads`` with ``resting`` set for the incarnations that have been silent for long."""
    others = _columns(c for c in HEADS.schema.fieldNames() if c != "resting")
    return _ask(
        f"SELECT {others}, date_add(date, {RESTS_AFTER_DAYS}) < newest AS resting "
        "FROM {heads} CROSS JOIN (SELECT max(date) AS newest FROM {heads})",
        heads=heads,
    )


def moved(days: DataFrame, heads: DataFrame) -> DataFrame:
    """Return the incarnations whose openings new rows may change: LIFE and ``earliest``.

    ``days`` is what ``by_day`` returns of the new rows, ``heads`` the heads before them. Rows of
    the last day of an incarnation change no opening, nor does the first day of a new one.
    ``earliest`` is the first day of the incarnation in ``days``.
    """
    # Without a head its ``date`` is null, and then only the days of the new rows are compared.
    return _ask(
        f"SELECT {_LIFE}, earliest FROM (SELECT {_LIFE}, min(date) AS earliest, max(date) AS last "
        f"FROM {{days}} GROUP BY {_LIFE}) LEFT JOIN "
        f"(SELECT {_LIFE}, date FROM {{heads}}) USING ({_LIFE}) "
        "WHERE earliest <> coalesce(date, last) OR last <> coalesce(date, last)",
        days=days,
        heads=heads,
    )


def changed_openings(
    days: DataFrame, heads: DataFrame, openings: DataFrame, lives: DataFrame
) -> DataFrame:
    """Return the openings that are new or get larger with the new rows, as ``OPENINGS``.

    * ``days``: ``by_day`` of the new rows.
    * ``heads``: the heads, which include every row but the new ones.
    * ``openings``: the openings from the earliest day in ``days`` on.
    * ``lives``: the incarnations to look at, one row for each. Rows of others are ignored.

    The maximum before a day is the larger of two: what the new rows of earlier days reached, and
    what older rows reached. The latter is the day's own opening. A day that had no bucket yet has
    no opening. It takes the next later opening, because no bucket lies between, or else the head.
    """
    new, old = (", ".join(f"{c} AS {side}_{c}" for c in _REACHED) for side in ("new", "old"))
    no_new, no_old = (
        ", ".join(f"CAST(NULL AS bigint) AS {side}_{c}" for c in _REACHED)
        for side in ("new", "old")
    )
    largest = ", ".join(
        f"max({side}_{c}) AS {side}_{c}" for side in ("new", "old") for c in _REACHED
    )
    larger = " OR ".join(f"{c} > old_{c}" for c in _REACHED)
    return _ask(
        f"""
        WITH given AS (
            SELECT {_LIFE}, date, {new}, {no_old} FROM {{days}}
            UNION ALL SELECT {_LIFE}, date, {no_new}, {old} FROM {{openings}}
            UNION ALL SELECT {_LIFE}, {_FUTURE} AS date, {no_new}, {old} FROM {{heads}}
            -- The first day so far has no opening, and gets one if a new row is earlier.
            UNION ALL SELECT {_LIFE}, first_date AS date, {no_new}, {no_old} FROM {{heads}}
        ), per_day AS (
            SELECT {_LIFE}, date, {largest}
            FROM given LEFT SEMI JOIN {{lives}} USING ({_LIFE}) GROUP BY {_LIFE}, date
        ), opened AS (
            SELECT {_LIFE}, date, {_opened()}
            FROM per_day LEFT JOIN (SELECT {_LIFE}, first_date FROM {{heads}}) USING ({_LIFE})
        )
        SELECT {_columns(OPENINGS.schema.fieldNames())} FROM opened
        WHERE date < {_FUTURE} AND seq IS NOT NULL AND (old_seq IS NULL OR {larger})
        """,
        days=days,
        heads=heads,
        openings=openings,
        lives=lives,
    )


def _opened() -> str:
    """Return the SQL columns of an opening, and of the one that was known, for each maximum."""
    # Before the first day nothing was reached. Openings only grow from day to day, so the least of
    # the following ones is the next one. ``greatest`` and aggregates ignore nulls.
    return ", ".join(
        f"greatest(CASE WHEN date > first_date THEN min(old_{c}) OVER (PARTITION BY {_LIFE} "
        "ORDER BY date ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) END, "
        f"max(new_{c}) OVER (PARTITION BY {_LIFE} {_EARLIER})) AS {c}, old_{c}"
        for c in _REACHED
    )


def _columns(names: Iterable[str]) -> str:
    return ", ".join(names)


def _ask(sql: str, **tables: DataFrame) -> DataFrame:
    """Return the rows of ``sql``, in which ``{name}`` stands for a DataFrame.

    SQL text takes few calls to Java. Expressions of Python take several for each column, and on a
    busy machine each call waits for its turn.
    """
    session: Any = next(iter(tables.values())).sparkSession
    views = {name: f"asked_{uuid.uuid4().hex}" for name in tables}
    for name, view in views.items():
        tables[name].createTempView(view)
    try:
        answer: DataFrame = session.sql(sql.format(**views))
    finally:
        # Neither ``session.sql(sql, **tables)`` nor ``session.catalog``: they drop their views so
        # that Spark forgets what was persisted of the tables, and computes it again each time.
        for view in views.values():
            session._jsparkSession.sessionState().catalog().dropTempView(view)
    return answer
