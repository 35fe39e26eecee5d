"""Reads the copy of gold usage for billing, quotas, pages and the API.

``recording`` writes the copy, and triggers of the database keep sums of it by hour and by day, so
that a page reads few rows. Quantities are in base units. They are added up, except those of
``peak_connections``, of which the largest one counts. A window [starts_at, ends_at) selects buckets
by their start.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from django.db import connection
from django.db.models import Max, Q, QuerySet, Sum
from django.db.models.functions import TruncDay, TruncHour

from controlplane.core.errors import Invalid
from plans.models import (
    UsageCopy,
    UsageDay,
    UsageHour,
    UsageRecord,
    UsageSpaceDay,
    UsageSum,
    UsageTail,
)
from plans.usage.meters import BY_SLUG, DERIVED, METERS, Kind


class UsageCell(NamedTuple):
    """One row of gold usage as a value: the usage of one meter in one bucket.

    ``bucket_at`` is the start of the bucket. ``quantity`` is in the meter's base unit. ``address``
    is empty for meters of the space. (A tuple, because a month of a tenant has 100,000 of them.)
    """

    tenant_id: str
    space_id: str
    address: str
    meter: str
    bucket_at: datetime
    quantity: int


class Figure(NamedTuple):
    """The usage of one space, address and meter over some time; of a peak meter the largest value.

    ``address`` is empty for meters of the space, and for figures over all addresses.
    """

    space_id: str
    address: str
    meter: str
    quantity: int


# ``values_list()`` and annotations change the row type, so it is Any.
_Rows = QuerySet[Any, Any]
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Level(NamedTuple):
    """A table of sums, the column with the start of a step in it, and the length of a step."""

    sums: type[UsageSum]
    column: str
    step: timedelta


_SPACE_DAYS = Level(UsageSpaceDay, "day_at", _DAY)
_HOURS = Level(UsageHour, "hour_at", _HOUR)
# The tables of sums for figures of spaces, and those for figures of addresses.
OF_SPACES = (_SPACE_DAYS, _HOURS)
OF_ADDRESSES = (Level(UsageDay, "day_at", _DAY),)
Range = tuple[datetime, datetime]


# The name of an advisory lock: a copy takes it exclusively, ``keep_still`` shared. Never rename it,
# because workers of an older version use this name during an upgrade.
COPY_LOCK = "plans.metering.copy_in"


def keep_still() -> None:
    """Block copies of gold until the transaction ends, so that all its reads see the same copy.

    Call it inside a transaction, before the first read of usage. Waits for a copy that is running.
    """
    # ``hashtext``, because the key of an advisory lock is a number.
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock_shared(hashtext(%s))", [COPY_LOCK])


def as_of() -> datetime | None:
    """Return the time up to which copied usage is complete; None before the first copy."""
    newest = UsageCopy.objects.order_by("-copied_at", "-id").first()
    return newest.as_of if newest else None


def cells(tenant_id: str, starts_at: datetime, ends_at: datetime) -> Iterator[UsageCell]:
    """Yield the tenant's cells in the window, ordered by bucket, space, address and meter."""
    rows = UsageRecord.objects.filter(
        _within("bucket_at", [(starts_at, ends_at)]), tenant_id=tenant_id
    ).order_by("bucket_at", "space_id", "address", "meter")
    columns = ("tenant_id", "space_id", "address", "meter", "bucket_at", "quantity")
    return (UsageCell(*row) for row in rows.values_list(*columns).iterator())


def totals(
    tenant_id: str, starts_at: datetime, ends_at: datetime, *, space_id: str | None = None
) -> dict[str, int]:
    """Return {meter: quantity} in the window for every sampled meter, zero for unused ones.

    Adds up all of the tenant's spaces, or takes ``space_id`` alone. Of the peak meter the result is
    the largest value of any one space, not a sum.
    """
    figures = by_space(tenant_id, starts_at, ends_at)
    return combine(row for row in figures if space_id is None or row.space_id == space_id)


@dataclass(frozen=True)
class Tail:
    """What a tenant used in a month and the copy of gold lacks: {meter: quantity}, never negative.

    ``sampled_at`` is when the tail was counted last; None if nothing is counted, as for tenants
    without a monthly quota. Of the peak meter the quantity is how far the newest peak exceeds the
    copied one.
    """

    quantities: Mapping[str, int]
    sampled_at: datetime | None

    def figures(self) -> list[Figure]:
        """Return the tail as figures of no space. Peaks are left out: they do not add up."""
        return [
            Figure("", "", meter, n)
            for meter, n in self.quantities.items()
            if n and not is_peak(meter)
        ]


def tail(tenant_id: str, starts_at: datetime, ends_at: datetime) -> Tail:
    """Return the tail of the billing month [starts_at, ends_at).

    It is empty if the stored counts begin outside this month, such as in an earlier one.
    """
    row = UsageTail.objects.filter(tenant_id=tenant_id).first()
    if row is None or not starts_at <= row.since < ends_at:
        return Tail({}, None)
    copied = totals(tenant_id, row.since, ends_at)
    # Peaks are maxima, so the copied one of the whole month counts.
    peaks = {meter for meter in row.counted if meter in METERS and is_peak(meter)}
    whole = totals(tenant_id, starts_at, ends_at) if peaks else {}
    found = {
        meter: max(0, n - (whole if meter in peaks else copied)[meter])
        for meter, n in row.counted.items()
        if meter in METERS  # a newer version may count another one
    }
    return Tail(found, row.sampled_at)


def by_space(tenant_id: str, starts_at: datetime, ends_at: datetime) -> list[Figure]:
    """Return one figure per space and meter with usage in the window, ordered by both.

    A figure covers all addresses of the space; its ``address`` is empty.
    """
    found = _added(_parts(OF_SPACES, tenant_id, starts_at, ends_at), "space_id", "meter")
    return [Figure(space, "", meter, n) for (space, meter), n in sorted(found.items())]


def by_address(
    tenant_id: str, starts_at: datetime, ends_at: datetime, *, space_id: str | None = None
) -> list[Figure]:
    """Return one figure per space, address and meter with usage in the window, ordered by these.

    Covers all of the tenant's spaces, or ``space_id`` alone. Meters of the space, such as
    connections, have figures with an empty ``address``.
    """
    parts = _parts(OF_ADDRESSES, tenant_id, starts_at, ends_at)
    if space_id is not None:
        parts = [(column, part.filter(space_id=space_id)) for column, part in parts]
    found = _added(parts, "space_id", "address", "meter")
    return [
        Figure(space, address, meter, n) for (space, address, meter), n in sorted(found.items())
    ]


@dataclass(frozen=True)
class SeriesQuery:
    """The query of a chart: one meter over a window in steps of an ``hour`` or a ``day``.

    Steps begin at full hours or at midnight in ``zone`` (an IANA name). An empty ``space_id`` means
    all of the tenant's spaces, an empty ``address`` all addresses. ``every_series`` ignores
    ``meter``.
    """

    meter: str
    starts_at: datetime
    ends_at: datetime
    step: str = "hour"
    zone: str = "UTC"
    space_id: str = ""
    address: str = ""


def series(tenant_id: str, query: SeriesQuery) -> list[tuple[datetime, int]]:
    """Return (start of step, quantity) for each step that has usage, oldest first.

    Starts of steps have the time zone of the query. Quantities are sums, of the peak meter maxima.

    Raises:
        Invalid: the meter is not a sampled one, or the step is neither ``hour`` nor ``day``.
    """
    if query.meter not in METERS:
        raise _no_series()
    found = _stepped(tenant_id, query, {"meter": query.meter})
    return sorted((start, quantity) for (start, _), quantity in found.items())


def every_series(tenant_id: str, query: SeriesQuery) -> dict[str, dict[datetime, int]]:
    """Return {meter: {start of step: quantity}} for all sampled meters, as ``series`` does for one.

    Takes as many queries as for one meter. Meters without usage have an empty mapping.

    Raises:
        Invalid: the step is neither ``hour`` nor ``day``.
    """
    found: dict[str, dict[datetime, int]] = {meter: {} for meter in METERS}
    for (start, meter), quantity in sorted(_stepped(tenant_id, query, {}).items()):
        found.setdefault(meter, {})[start] = quantity
    return found


def _stepped(
    tenant_id: str, query: SeriesQuery, selected: Mapping[str, str]
) -> dict[tuple[Any, ...], int]:
    """Return {(start of step, meter): quantity} of the rows that also match ``selected``."""
    truncate = {"hour": TruncHour, "day": TruncDay}.get(query.step)
    if truncate is None:
        raise _no_series()
    named = {"space_id": query.space_id, "address": query.address}
    wanted = {**{name: value for name, value in named.items() if value}, **selected}
    zone, stepped = ZoneInfo(query.zone), list[tuple[str, _Rows]]()
    for column, part in _parts(_levels(query), tenant_id, query.starts_at, query.ends_at):
        # Truncate in the chart's zone, so that a day is a local day even when the clock changes.
        rows = part.filter(**wanted).annotate(start=truncate(column, tzinfo=zone))
        stepped.append((column, rows))
    return _added(stepped, "start", "meter")


def _no_series() -> Invalid:
    return Invalid(
        f"A usage series is by hour or day, of one of the meters {', '.join(METERS)}.",
        code="usage.series",
    )


def _levels(query: SeriesQuery) -> tuple[Level, ...]:
    """Return the tables of sums whose steps lie within the local steps of ``query``."""
    if query.address:  # these tables have none
        return ()
    zone, days = ZoneInfo(query.zone), (query.ends_at - query.starts_at) // _DAY + 1
    instants = [query.starts_at + n * _DAY for n in range(days)] + [query.ends_at]
    offsets = {instant.astimezone(zone).utcoffset() or timedelta() for instant in instants}
    if any(offset % _HOUR for offset in offsets):  # local hours begin within hours of UTC
        return ()
    is_utc = query.step == "day" and not any(offsets)
    return OF_SPACES if is_utc else (_HOURS,)


def combine(figures: Iterable[Figure]) -> dict[str, int]:
    """Return {meter: quantity} over all ``figures``; of the peak meter the largest quantity.

    Sampled meters without a figure are included with zero.
    """
    found = dict.fromkeys(METERS, 0)
    for figure in figures:
        found[figure.meter] = merged(figure.meter, found.get(figure.meter, 0), figure.quantity)
    return found


def summed_by_space(used: Iterable[UsageCell]) -> list[Figure]:
    """Return one figure per space and meter of ``used``, as ``by_space`` does for database rows."""
    found: dict[tuple[str, str], int] = {}
    for cell in used:
        key = (cell.space_id, cell.meter)
        found[key] = merged(cell.meter, found.get(key, 0), cell.quantity)
    return [
        Figure(space, "", meter, quantity) for (space, meter), quantity in sorted(found.items())
    ]


def quantity_of(meter: str, figures: Iterable[Figure]) -> int:
    """Return the quantity of ``meter`` over all ``figures``; zero without usage.

    The quantity of a meter of kind SUM is that of its parts: ``messages`` is messages in plus
    messages out.
    """
    used = combine(figures)
    return sum(used.get(part, 0) for part in DERIVED.get(meter, (meter,)))


def merged(meter: str, left: int, right: int) -> int:
    """Return one quantity for two of the same meter: of a peak the larger one, else their sum."""
    return max(left, right) if is_peak(meter) else left + right


def ranges(
    levels: Iterable[Level], starts_at: datetime, ends_at: datetime
) -> tuple[list[tuple[Level, list[Range]]], list[Range]]:
    """Divide a window among tables: the ranges of each of ``levels``, and those of ``UsageRecord``.

    Whole steps of the window are in the first of ``levels``, what is left in the next one, and in
    the end in ``UsageRecord``. So a query sums few rows.
    """
    left, found = [(starts_at, ends_at)], list[tuple[Level, list[Range]]]()
    for level in levels:
        whole, rest = [], []
        for begin, end in left:
            first = _EPOCH - (_EPOCH - begin) // level.step * level.step
            last = _EPOCH + (end - _EPOCH) // level.step * level.step
            if first < last:
                whole.append((first, last))
                rest += [(begin, first), (last, end)]
            else:
                rest.append((begin, end))
        left = [(begin, end) for begin, end in rest if begin < end]
        found.append((level, whole))
    return found, left


def _parts(
    levels: Iterable[Level], tenant_id: str, starts_at: datetime, ends_at: datetime
) -> list[tuple[str, _Rows]]:
    """Return queries that together have the usage in the window, each with its column of time."""
    whole, left = ranges(levels, starts_at, ends_at)
    found = list[tuple[str, _Rows]]()
    for (sums, column, _), spans in whole:
        if spans:
            # By meter too: it stands before the time in the index.
            rows: _Rows = sums._default_manager.filter(tenant_id=tenant_id, meter__in=METERS)
            found.append((column, rows.filter(_within(column, spans))))
    if left:
        records = UsageRecord.objects.filter(_within("bucket_at", left), tenant_id=tenant_id)
        found.append(("bucket_at", records))
    return found


def _within(column: str, spans: Iterable[Range]) -> Q:
    """Return the condition that ``column`` is in one of ``spans``, each [start, end)."""
    return reduce(or_, (Q(**{f"{column}__gte": a, f"{column}__lt": b}) for a, b in spans))


def _added(parts: Iterable[tuple[str, _Rows]], *columns: str) -> dict[tuple[Any, ...], int]:
    """Return {values of ``columns``: quantity} over the rows of all ``parts``.

    The last column is ``meter``.
    """
    found: dict[tuple[Any, ...], int] = {}
    for _, part in parts:
        summed, largest = ("quantity",) * 2 if part.model is UsageRecord else ("summed", "largest")
        # Both aggregates for every meter, because one query covers several.
        rows = part.values_list(*columns).annotate(total=Sum(summed), peak=Max(largest))
        for *values, total, peak in rows.order_by():
            key, meter = tuple(values), values[-1]
            quantity = peak if is_peak(meter) else total
            found[key] = merged(meter, found[key], quantity) if key in found else quantity
    return found


def is_peak(meter: str) -> bool:
    """Return whether the largest quantity of the meter counts, and not the sum."""
    return BY_SLUG[meter].kind is Kind.PEAK
