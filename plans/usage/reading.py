"""Reads the copy of gold usage for billing, quotas, pages and the API.

``recording`` writes the copy. Quantities are in base units. They are added up, except those of
``peak_connections``, of which the largest one counts. A window [starts_at, ends_at) selects buckets
by their start.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from django.db import connection
from django.db.models import Max, QuerySet, Sum
from django.db.models.functions import TruncDay, TruncHour

from controlplane.core.errors import Invalid
from plans.models import UsageCopy, UsageRecord
from plans.usage.meters import BY_SLUG, DERIVED, METERS, Kind


@dataclass(frozen=True)
class UsageCell:
    """One row of gold usage as a value: the usage of one meter in one bucket.

    ``bucket_at`` is the start of the bucket. ``quantity`` is in the meter's base unit. ``address``
    is empty for meters of the space.
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


def cells(tenant_id: str, starts_at: datetime, ends_at: datetime) -> list[UsageCell]:
    """Return the tenant's cells in the window, ordered by bucket, space, address and meter."""
    rows = _window(tenant_id, starts_at, ends_at).order_by(
        "bucket_at", "space_id", "address", "meter"
    )
    return [
        UsageCell(row.tenant_id, row.space_id, row.address, row.meter, row.bucket_at, row.quantity)
        for row in rows.iterator()
    ]


def totals(
    tenant_id: str, starts_at: datetime, ends_at: datetime, *, space_id: str | None = None
) -> dict[str, int]:
    """Return {meter: quantity} in the window for every sampled meter, zero for unused ones.

    Adds up all of the tenant's spaces, or takes ``space_id`` alone. Of the peak meter the result is
    the largest value of any one space, not a sum.
    """
    figures = by_space(tenant_id, starts_at, ends_at)
    return combine(row for row in figures if space_id is None or row.space_id == space_id)


def by_space(tenant_id: str, starts_at: datetime, ends_at: datetime) -> list[Figure]:
    """Return one figure per space and meter with usage in the window, ordered by both.

    A figure covers all addresses of the space; its ``address`` is empty.
    """
    rows = _window(tenant_id, starts_at, ends_at).values("space_id", "meter")
    return [
        Figure(row["space_id"], "", row["meter"], _quantity(row))
        for row in _aggregated(rows).order_by("space_id", "meter")
    ]


def by_address(
    tenant_id: str, starts_at: datetime, ends_at: datetime, *, space_id: str | None = None
) -> list[Figure]:
    """Return one figure per space, address and meter with usage in the window, ordered by these.

    Covers all of the tenant's spaces, or ``space_id`` alone. Meters of the space, such as
    connections, have figures with an empty ``address``.
    """
    rows = _window(tenant_id, starts_at, ends_at)
    if space_id is not None:
        rows = rows.filter(space_id=space_id)
    grouped = _aggregated(rows.values("space_id", "address", "meter"))
    return [
        Figure(row["space_id"], row["address"], row["meter"], _quantity(row))
        for row in grouped.order_by("space_id", "address", "meter")
    ]


@dataclass(frozen=True)
class SeriesQuery:
    """The query of a chart: one meter over a window in steps of an ``hour`` or a ``day``.

    Steps begin at full hours or at midnight in ``zone`` (an IANA name). An empty ``space_id`` means
    all of the tenant's spaces.
    """

    meter: str
    starts_at: datetime
    ends_at: datetime
    step: str = "hour"
    zone: str = "UTC"
    space_id: str = ""


def series(tenant_id: str, query: SeriesQuery) -> list[tuple[datetime, int]]:
    """Return (start of step, quantity) for each step that has usage, oldest first.

    Starts of steps have the time zone of the query. Quantities are sums, of the peak meter maxima.

    Raises:
        Invalid: the meter is not a sampled one, or the step is neither ``hour`` nor ``day``.
    """
    truncate = {"hour": TruncHour, "day": TruncDay}.get(query.step)
    if truncate is None or query.meter not in METERS:
        raise Invalid(
            f"A usage series is by hour or day, of one of the meters {', '.join(METERS)}.",
            code="usage.series",
        )
    rows: Rows = _window(tenant_id, query.starts_at, query.ends_at).filter(meter=query.meter)
    if query.space_id:
        rows = rows.filter(space_id=query.space_id)
    # Truncate in the chart's zone, so that a day is a local day even when the clock changes.
    stepped = rows.annotate(step=truncate("bucket_at", tzinfo=ZoneInfo(query.zone)))
    grouped = _aggregated(stepped.values("step", "meter"))
    return sorted((row["step"], _quantity(row)) for row in grouped)


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
    return max(left, right) if _is_peak(meter) else left + right


# Each annotation changes the row type of ``values()``, so the type is Any; ``_quantity`` reads it.
Rows = QuerySet[UsageRecord, Any]


def _window(
    tenant_id: str, starts_at: datetime, ends_at: datetime
) -> QuerySet[UsageRecord, UsageRecord]:
    return UsageRecord.objects.filter(
        tenant_id=tenant_id, bucket_at__gte=starts_at, bucket_at__lt=ends_at
    )


def _aggregated(rows: Rows) -> Rows:
    # Both aggregates for every meter, because one query covers several; ``_quantity`` takes one.
    return rows.annotate(summed=Sum("quantity"), largest=Max("quantity"))


def _is_peak(meter: str) -> bool:
    return BY_SLUG[meter].kind is Kind.PEAK


def _quantity(row: dict[str, Any]) -> int:
    quantity: int = row["largest"] if _is_peak(row["meter"]) else row["summed"]
    return quantity
