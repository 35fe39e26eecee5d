"""Reads and fills the tables of incarnations: ``state.openings`` and ``state.heads``.

The job ``pipeline`` calls this module. The rules are in ``transforms.incarnations``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse import schemas, tables
from lakehouse.schemas import LIFE
from lakehouse.tables import Commit, Lake
from lakehouse.transforms import bucket_maxima, incarnations

# Resting heads are read for incarnations that have no other head. Up to this many sources, only
# files that may hold one of them are read.
_MOST_SOURCES = 500


@dataclass(frozen=True)
class Heads:
    """The heads of some incarnations; ``where`` is an SQL condition on ``t`` that selects them."""

    rows: DataFrame
    where: str


@dataclass(frozen=True)
class ChangedOpenings:
    """The openings to merge, and their days."""

    rows: DataFrame
    dates: frozenset[date]


def filled(lake: Lake, reached: Mapping[str, int], app: str) -> Mapping[str, int]:
    """Fill openings, heads and sources from the state if the heads were never written.

    ``reached`` is {table name: bronze version that the table includes}. Returns what the tables
    include afterwards.
    The heads were never written if an older version of Waypost filled the lake, or if the first run
    was stopped. They are written last, so the run after it fills all three tables again.
    """
    upto = reached[schemas.STATE.name]
    if upto < 0 or reached[schemas.HEADS.name] >= 0:
        return reached
    commit, state = Commit(app, upto), tables.read(lake, schemas.STATE)
    computed = (
        (schemas.OPENINGS, incarnations.openings(state)),
        (schemas.SOURCES, bucket_maxima.newest_samples(state)),
        (schemas.HEADS, incarnations.rested(incarnations.heads(state))),
    )
    for table, rows in computed:
        tables.replace_all(lake, table, rows, commit)
    return {**reached, **{table.name: upto for table, _ in computed}}


def heads_of(lake: Lake, samples: DataFrame) -> Heads:
    """Return the heads of the incarnations in ``samples``; new ones have none.

    Resting heads are read only if ``samples`` has an incarnation that has no other head.
    """
    heads = tables.read(lake, schemas.HEADS)
    if tables.is_new(lake, schemas.HEADS):
        return Heads(heads, "t.resting = false")
    lives = samples.select(*LIFE).distinct().persist()
    active = heads.where(~F.col("resting"))
    found = active.join(lives, on=list(LIFE), how="left_semi").persist()
    unknown = lives.join(found, on=list(LIFE), how="left_anti").select("source").distinct()
    sources = [row["source"] for row in unknown.limit(_MOST_SOURCES + 1).collect()]
    if not sources:
        return Heads(found, "t.resting = false")
    # Literal sources let Delta skip files. Beyond some hundred, planning would cost more.
    literals = ", ".join(f"'{schemas.quoted(source)}'" for source in sources)
    named = f"source IN ({literals})"
    some = len(sources) <= _MOST_SOURCES
    resting = heads.where(F.col("resting")).where(named if some else "true")
    old = resting.join(lives, on=list(LIFE), how="left_semi").persist()
    if not old.take(1):
        return Heads(found, "t.resting = false")
    where = f"(t.resting = false OR t.{named})" if some else "true"
    return Heads(found.unionByName(old), where)


def changed_openings(lake: Lake, days: DataFrame, heads: DataFrame) -> ChangedOpenings | None:
    """Return the openings that new rows add or raise; None if there are none.

    ``days`` is ``incarnations.by_day`` of the new rows, ``heads`` the heads of their incarnations.
    The caller unpersists the rows.
    """
    moved = incarnations.moved(days, heads).persist()
    earliest = moved.agg(F.min("earliest")).collect()[0][0]
    if earliest is None:
        return None
    known = tables.read(lake, schemas.OPENINGS).where(f"date >= date'{earliest}'")
    rows = incarnations.changed_openings(days, heads, known, moved).persist()
    dates = frozenset(row["date"] for row in rows.select("date").distinct().collect())
    return ChangedOpenings(rows, dates) if dates else None
