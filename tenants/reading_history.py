"""Store and read the history of addresses: 24 hours by minute, 30 days by quarter of an hour.

A step is one minute or one quarter of an hour. ``workers.metering.live_rows`` stores steps that
have ended; API and portal call ``read``. The tables have a partition for each day, so old rows are
dropped with their partition. Nothing here is billed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import connection, transaction
from django.db.models import Model

from controlplane.core.errors import Invalid
from tenants.live_readings import Gauges, add_up
from tenants.models import Address, AddressMinutes, AddressQuarters, AddressReading

_GAUGES = ("depth", "stored_bytes", "consumers")  # values of a moment; the others are counts
_VALUES = ("messages_in", "messages_out", *_GAUGES)
_DAY = timedelta(days=1)
_DAYS_AHEAD = 2  # partitions are made this long before their first row


@dataclass(frozen=True)
class History:
    """Describes one of the two tables of history; it holds no values.

    A row of the table holds ``steps`` steps of length ``step`` of one address, and is kept for
    ``kept`` at least. The names of the columns of ``AddressReading`` for the step that has not
    ended yet begin with ``prefix``.
    """

    model: type[Model]
    prefix: str
    step: timedelta
    steps: int
    kept: timedelta

    @property
    def table(self) -> str:
        """The name of the database table."""
        return str(self.model._meta.db_table)


# 60 values in a row of one hour, kept for 24 hours.
MINUTES = History(AddressMinutes, "minute", timedelta(minutes=1), 60, timedelta(hours=24))
# 96 values in a row of one day, kept for 30 days.
QUARTERS = History(AddressQuarters, "quarter", timedelta(minutes=15), 96, timedelta(days=30))
# The spans of ``read``: name -> the table that it reads, and the length of the answer.
SPANS = {
    "1h": (MINUTES, timedelta(hours=1)),
    "24h": (MINUTES, timedelta(hours=24)),
    "7d": (QUARTERS, timedelta(days=7)),
    "30d": (QUARTERS, timedelta(days=30)),
}


@dataclass(frozen=True)
class Step:
    """A step of one address that has ended, to be stored.

    ``at`` is the start of the step. ``messages_in`` and ``messages_out`` came during the step;
    ``gauges`` are the values at its end.
    """

    address_id: str
    at: datetime
    messages_in: int
    messages_out: int
    gauges: Gauges


@dataclass(frozen=True)
class Point:
    """One step of the history that ``read`` returns; ``at`` is the start of the step.

    ``messages_in`` and ``messages_out`` came during the step, 0 if none is known. The other values
    are those at the end of the step. None: not known, or no instance reports the value.
    """

    at: datetime
    messages_in: int
    messages_out: int
    depth: int | None
    stored_bytes: int | None
    consumers: int | None


@dataclass(frozen=True)
class Series:
    """The history of one address: one point for each ``step``, oldest first, without gaps.

    The last point is the step that contains now and has not ended.
    """

    step: timedelta
    points: Sequence[Point]

    @property
    def is_empty(self) -> bool:
        """Whether no point has messages, a depth or a number of consumers."""
        return not any(
            point.messages_in
            or point.messages_out
            or point.depth is not None
            or point.consumers is not None
            for point in self.points
        )


def floor(instant: datetime, step: timedelta) -> datetime:
    """Return the start, in UTC, of the step that contains ``instant``."""
    zero = datetime(1970, 1, 1, tzinfo=UTC)
    return zero + (instant - zero) // step * step


def differ(was: Gauges, now: Gauges) -> bool:
    """Return whether depth, stored bytes or consumers differ: the history has no other gauges."""
    return any(getattr(was, name) != getattr(now, name) for name in _GAUGES)


def store(history: History, steps: Sequence[Step]) -> None:
    """Write steps that have ended into the table of ``history``, by one statement. Idempotent.

    Pass at most one step of each address: PostgreSQL refuses two that belong into the same row.
    """
    if not steps:
        return
    # Each array of a new row begins with a null for every step before this one. In an existing row
    # the database fills the positions between the array's end and this step with nulls.
    arrays = ", ".join(
        f"array_fill(NULL::bigint, ARRAY[s.position - 1]) || s.{name}" for name in _VALUES
    )
    sets = ", ".join(
        f"{name}[EXCLUDED.last_step] = EXCLUDED.{name}[EXCLUDED.last_step]" for name in _VALUES
    )
    types = ", ".join(["%s::varchar[]", "%s::timestamptz[]", "%s::int[]", *["%s::bigint[]"] * 5])
    period = history.step * history.steps
    rows = []
    for step in steps:
        starts_at = floor(step.at, period)
        position = (step.at - starts_at) // history.step + 1
        gauges = [getattr(step.gauges, name) for name in _GAUGES]
        rows.append(
            (step.address_id, starts_at, position, step.messages_in, step.messages_out, *gauges)
        )
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {history.table} AS t"
            f" (address_id, starts_at, last_step, {', '.join(_VALUES)})"
            f" SELECT s.address_id, s.starts_at, s.position, {arrays}"
            f" FROM unnest({types}) AS s (address_id, starts_at, position, {', '.join(_VALUES)})"
            f" ON CONFLICT (address_id, starts_at) DO UPDATE"
            f" SET last_step = EXCLUDED.last_step, {sets}",
            [list(column) for column in zip(*rows, strict=True)],
        )


def read(address: Address, span: str, now: datetime) -> Series:
    """Return the history of ``address`` over ``span`` up to ``now``, by three queries at most.

    A step in which nothing changed repeats the depth, stored bytes and consumers of the step before
    it, with no messages. If ``address.space`` is not loaded, it takes one query more.

    Raises:
        Invalid: ``history.span_unknown``: ``span`` is none of ``SPANS``.
    """
    if span not in SPANS:
        raise Invalid(
            f"There is no span {span!r}: ask for one of {', '.join(SPANS)}.",
            code="history.span_unknown",
        )
    history, length = SPANS[span]
    last = floor(now, history.step)
    first = last - length + history.step
    known = _stored(history, address, first)
    reading = AddressReading.objects.filter(address=address).first()
    if reading is not None and (at := getattr(reading, f"{history.prefix}_at")) is not None:
        # The running step, which is not in the table yet.
        counts = (getattr(reading, f"{history.prefix}_{name}") for name in ("in", "out"))
        known[at] = (*counts, *_now(address, reading))
    before = [at for at in known if at < first]
    values: Sequence[int | None] = known[max(before)][2:] if before else (None, None, None)
    if not known and reading is not None:
        values = _now(address, reading)  # it has not changed for longer than history is kept
    points = []
    for position in range(length // history.step):
        at = first + position * history.step
        here = known.get(at)
        values = here[2:] if here else values  # else they are those of the step before
        came, went = here[:2] if here else (0, 0)
        points.append(Point(at, came or 0, went or 0, *values))
    return Series(history.step, points)


def make_partitions(now: datetime) -> int:
    """Drop the partitions of days that are too old, and make those of the next two days.

    Old rows in the default partition are deleted, too. Returns the number of partitions made, of
    partitions dropped and of rows deleted, added up. Idempotent.
    """
    changed = 0
    for history in (MINUTES, QUARTERS):
        today = floor(now, _DAY)
        for ahead in range(1, _DAYS_AHEAD + 1):
            changed += _make(history, today + ahead * _DAY)
        changed += _drop(history, floor(now - history.kept, _DAY) - _DAY)
    return changed


def _make(history: History, day: datetime) -> int:
    name = f"{history.table}_{day:%Y%m%d}"
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [name])
        # Rows of a day whose partition was not there in time stay in the default partition.
        rows = f"SELECT FROM {history.table}_default WHERE starts_at >= %s AND starts_at < %s"
        exists = cursor.fetchone()[0]
        cursor.execute(f"SELECT EXISTS ({rows})", [day, day + _DAY])
        if exists or cursor.fetchone()[0]:
            return 0
        cursor.execute(
            f"CREATE TABLE {name} PARTITION OF {history.table}"
            f" FOR VALUES FROM ('{day.isoformat()}') TO ('{(day + _DAY).isoformat()}')"
        )
    return 1


def _drop(history: History, before: datetime) -> int:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {history.table}_default WHERE starts_at < %s", [before])
        deleted = int(cursor.rowcount)
        cursor.execute(
            "SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid"
            " WHERE inhparent = %s::regclass",
            [history.table],
        )
        # Names end with the day, so they sort as the days do.
        oldest = f"{history.table}_{before:%Y%m%d}"
        days = [name for (name,) in cursor.fetchall() if not name.endswith("_default")]
        for name in days:
            if name < oldest:
                cursor.execute(f"DROP TABLE {name}")
                deleted += 1
    return deleted


_Known = dict[datetime, tuple[int | None, ...]]  # step -> its values, in the order of ``_VALUES``


def _stored(history: History, address: Address, first: datetime) -> _Known:
    """Return {start of a step: values} of the stored steps around and after ``first``.

    The result begins with the last row that begins at or before ``first``, so it also holds the
    values that were in force at ``first``. Without such a row it begins with the oldest row that
    the kept time allows. Steps in which nothing changed are missing.
    """
    rows = history.model._default_manager.filter(address=address)
    begin = rows.filter(starts_at__lte=floor(first, history.step * history.steps))
    last = begin.order_by("-starts_at").values_list("starts_at", flat=True).first()
    known: _Known = {}
    for row in rows.filter(starts_at__gte=last or first - history.kept).values():
        columns = [row[name] for name in _VALUES]
        for position, values in enumerate(zip(*columns, strict=True)):
            if values[0] is not None:
                known[row["starts_at"] + position * history.step] = values
    return known


def _now(address: Address, reading: AddressReading) -> tuple[int | None, ...]:
    routed = address.space.type == "standard"
    gauges = add_up(address.type, reading.parts, routed=routed)
    return tuple(getattr(gauges, name) for name in _GAUGES)
