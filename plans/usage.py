"""Reads of the copied gold usage. Billing, quotas, pages and the API all read here.

Writing is ``plans.metering``. Sums add cells up; ``peak_connections`` is a maximum and is never
added. Windows are half-open instants [starts_at, ends_at) against the start of a bucket.
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
from plans.meters import CONNECTION_MS as CONNECTION_MS
from plans.meters import CONNECTIONS_OPENED as CONNECTIONS_OPENED
from plans.meters import DERIVED, METERS
from plans.meters import MESSAGES_IN as MESSAGES_IN
from plans.meters import MESSAGES_OUT as MESSAGES_OUT
from plans.meters import PEAK_CONNECTIONS as PEAK_CONNECTIONS
from plans.meters import STORED_BYTE_MS as STORED_BYTE_MS
from plans.models import UsageCopy, UsageRecord


@dataclass(frozen=True)
class UsageCell:
    """One cell of gold usage; ``quantity`` in the meter's base unit, ``address`` may be empty."""

    tenant_id: str
    space_id: str
    address: str
    meter: str
    bucket_at: datetime
    quantity: int


class Figure(NamedTuple):
    """A summed (or, for a peak, largest) quantity of one space, address and meter."""

    space_id: str
    address: str
    meter: str
    quantity: int


COPY_LOCK = "plans.metering.copy_in"  # advisory; a copy takes it alone, readers share it


def keep_still() -> None:
    """Hold off copies of gold until the transaction ends, so that all its reads see one copy."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock_shared(hashtext(%s))", [COPY_LOCK])


def as_of() -> datetime | None:
    """Return up to when the newest copy is complete, or None before the first copy."""
    newest = UsageCopy.objects.order_by("-copied_at", "-id").first()
    return newest.as_of if newest else None


def cells(tenant_id: str, starts_at: datetime, ends_at: datetime) -> list[UsageCell]:
    """Return every copied cell of the window, in a stable order."""
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
    """Return {meter: quantity} of every meter, zero where nothing was used."""
    figures = by_space(tenant_id, starts_at, ends_at)
    return combine(f for f in figures if space_id is None or f.space_id == space_id)


def by_space(tenant_id: str, starts_at: datetime, ends_at: datetime) -> list[Figure]:
    """Return one figure per space and meter (``address`` empty), ordered."""
    rows = _window(tenant_id, starts_at, ends_at).values("space_id", "meter")
    return [
        Figure(row["space_id"], "", row["meter"], _quantity(row))
        for row in _aggregated(rows).order_by("space_id", "meter")
    ]


def by_address(
    tenant_id: str, starts_at: datetime, ends_at: datetime, *, space_id: str | None = None
) -> list[Figure]:
    """Return one figure per space, address and meter (of one space if named), ordered."""
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
    """A chart's question: one meter over a window in steps of an ``hour`` or a ``day``.

    Steps begin at full hours or midnights of ``zone`` (an IANA name).
    """

    meter: str
    starts_at: datetime
    ends_at: datetime
    step: str = "hour"
    zone: str = "UTC"
    space_id: str = ""


def series(tenant_id: str, query: SeriesQuery) -> list[tuple[datetime, int]]:
    """Return (start of step, quantity) for each step that has usage, oldest first.

    Raises:
        Invalid: the meter or the step is unknown.
    """
    truncate = {"hour": TruncHour, "day": TruncDay}.get(query.step)
    if truncate is None or query.meter not in METERS:
        raise Invalid(
            f"Usage is charted by hour or day, and of {', '.join(METERS)}.", code="usage.series"
        )
    rows: Rows = _window(tenant_id, query.starts_at, query.ends_at).filter(meter=query.meter)
    if query.space_id:
        rows = rows.filter(space_id=query.space_id)
    stepped = rows.annotate(step=truncate("bucket_at", tzinfo=ZoneInfo(query.zone)))
    grouped = _aggregated(stepped.values("step", "meter"))
    return sorted((row["step"], _quantity(row)) for row in grouped)


def combine(figures: Iterable[Figure]) -> dict[str, int]:
    """Return {meter: quantity} of ``figures``: added up, the largest of each peak."""
    found = dict.fromkeys(METERS, 0)
    for figure in figures:
        found[figure.meter] = merged(figure.meter, found.get(figure.meter, 0), figure.quantity)
    return found


def summed_by_space(used: Iterable[UsageCell]) -> list[Figure]:
    """Return what ``by_space`` would for these cells: one figure per space and meter, ordered."""
    found: dict[tuple[str, str], int] = {}
    for cell in used:
        key = (cell.space_id, cell.meter)
        found[key] = merged(cell.meter, found.get(key, 0), cell.quantity)
    return [
        Figure(space, "", meter, quantity) for (space, meter), quantity in sorted(found.items())
    ]


def quantity_of(meter: str, figures: Iterable[Figure]) -> int:
    """Return the quantity of a priced meter; ``messages`` is messages in plus messages out."""
    used = combine(figures)
    return sum(used.get(part, 0) for part in DERIVED.get(meter, (meter,)))


def merged(meter: str, left: int, right: int) -> int:
    """Return two quantities of one meter as one: the larger of peaks, the sum of all others."""
    return max(left, right) if meter == PEAK_CONNECTIONS else left + right


# Rows of ``values()`` change their type with each annotation: Any, and read by ``_quantity``.
Rows = QuerySet[UsageRecord, Any]


def _window(
    tenant_id: str, starts_at: datetime, ends_at: datetime
) -> QuerySet[UsageRecord, UsageRecord]:
    return UsageRecord.objects.filter(
        tenant_id=tenant_id, bucket_at__gte=starts_at, bucket_at__lt=ends_at
    )


def _aggregated(rows: Rows) -> Rows:
    return rows.annotate(summed=Sum("quantity"), largest=Max("quantity"))


def _quantity(row: dict[str, Any]) -> int:
    quantity: int = row["largest"] if row["meter"] == PEAK_CONNECTIONS else row["summed"]
    return quantity
