"""Drills down from an invoice line: to the days of its usage, and to the hours of a day.

Days and hours come from the copy of gold usage in PostgreSQL. If the copy has changed since the
invoice was made, because usage arrived late, they come from a reading of the pinned version of gold
(``sample_readings``) instead. The shares of all days add up to the line exactly, and those of all
hours to their day: ``DrillDown.is_exact`` says so.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from controlplane.core.errors import Conflict, Missing
from plans.invoicing import document, sample_readings, true_ups
from plans.invoicing.document import Document
from plans.invoicing.sample_readings import Hour
from plans.models import Invoice
from plans.rating.attribution import Counting, Share, shares
from plans.rating.money import EXACT
from plans.rating.periods import Period, zone
from plans.usage import reading
from plans.usage.meters import BY_SLUG, DERIVED, Kind, Model
from plans.usage.reading import SeriesQuery

COPY, PINNED = "copy", "pinned"  # where days and hours come from
DAY, HOUR = "day", "hour"


class NoUsageBehind(Conflict):
    """The line was not computed from metered usage, so it has no days."""

    code = "invoice.line_without_usage"


# Why a line of this kind has no days, and where its figures come from.
_WHY = {
    "fee": "It is the fee of a plan: its quantity is the plan's seconds of the month's seconds.",
    "lifetime": "It is the time in which spaces or addresses were Active, which comes from the "
    "rows of your spaces and not from samples: the line names the time of each space.",
    "repriced": "It prices usage of earlier invoices of this month again: drill down there.",
    "discount": "It is a discount on the other lines.",
    "commitment": "It is the rest up to an agreed minimum.",
    "correction": "It is usage that arrived after the invoice that it names was issued: "
    "quality.late in the document has the quantities before and after.",
}


@dataclass(frozen=True)
class UsageLine:
    """A line of kind ``usage`` of an invoice document, and how its quantity counts.

    ``window`` has the buckets that the line pays for. The line's usage is the sum of the sampled
    ``meters``.
    """

    line: Document
    window: Period
    time_zone: str
    meters: tuple[str, ...]
    counting: Counting

    @property
    def is_peak(self) -> bool:
        return self.counting.is_peak

    @property
    def used(self) -> int:
        """The used base units by the document; of a peak the largest value."""
        used: int = self.line["detail"]["used_base"]
        return used

    def hour_of(self, instant: datetime) -> datetime:
        """Return the start of the full hour, in the invoice's time zone, that has ``instant``."""
        local = instant.astimezone(zone(self.time_zone))
        return local.replace(minute=0, second=0, microsecond=0)

    def day_of(self, instant: datetime) -> date:
        return instant.astimezone(zone(self.time_zone)).date()

    def midnight(self, day: date) -> datetime:
        """Return when ``day`` begins in the invoice's time zone, in UTC."""
        return datetime(day.year, day.month, day.day, tzinfo=zone(self.time_zone)).astimezone(UTC)

    def units(self, base: int) -> Decimal:
        """Return a number of base units in the meter's unit, which may differ from the price's."""
        return EXACT.divide(Decimal(base), Decimal(BY_SLUG[self.line["meter"]].base_per_unit))

    @property
    def unit(self) -> str:
        return BY_SLUG[self.line["meter"]].unit

    def billed_units(self, billed: int) -> Decimal:
        """Return what is billed in the meter's unit; packages and months are not divided."""
        if self.counting.model in (Model.FLAT, Model.PACKAGE):
            return Decimal(billed)
        return self.units(billed)


@dataclass(frozen=True)
class DrillDown:
    """The days of a line, or the hours of one of its days; only those with usage, in order.

    ``step`` is ``DAY`` or ``HOUR``. ``is_exact``: all days together have exactly the used and the
    billed quantity of the line. ``source`` is ``COPY`` or ``PINNED``.
    """

    usage: UsageLine
    step: str
    steps: tuple[Share, ...]
    source: str
    is_exact: bool

    def part(self, share: Share) -> Period:
        """Return the part of the line's window that belongs to the step ``share``."""
        usage = self.usage
        if self.step == DAY:
            ends_at = usage.midnight(usage.day_of(share.starts_at) + timedelta(days=1))
        else:
            # In UTC, where each hour has the same length.
            ends_at = usage.hour_of(share.starts_at).astimezone(UTC) + timedelta(hours=1)
        return Period(share.starts_at, min(ends_at, usage.window.ends_at))


def line_of(made: Document, position: int) -> Document:
    """Return the line of a document by its position, from 1.

    Raises:
        Missing: there is no such line.
    """
    for line in made["lines"]:
        if line["position"] == position:
            found: Document = line
            return found
    raise Missing(f"The invoice has no line {position}: it has {len(made['lines'])}.")


def usage_line(made: Document, position: int) -> UsageLine:
    """Return the line of usage of a document by its position, from 1.

    Raises:
        Missing: there is no such line.
        NoUsageBehind: the line is of another kind; the message says where its figures come from.
    """
    line = line_of(made, position)
    detail = line["detail"]
    states = made.get("month_so_far", {}).get("segments", [])
    mine = [
        n
        for n, row in enumerate(states)
        if row["plan"] == detail.get("plan") and row["span"][0] == detail.get("starts_at")
    ]
    if line["kind"] != "usage" or not mine or not states[mine[0]]["counted"]:
        why = _WHY.get(line["kind"], "It was made by an earlier version of Waypost.")
        if found := true_ups.of_line(made, line):
            why = f"{why} {found.words}"
        raise NoUsageBehind(f"This line has no days. {why}")
    meter = line["meter"]
    # A usage in the state of a month is [space, meter, quantity].
    before = [use[2] for row in states[: mine[0]] for use in row["usage"] if use[1] == meter]
    is_peak = BY_SLUG[meter].kind is Kind.PEAK
    counting = Counting(
        Model(detail["model"]),
        detail["included_base"],
        detail["billed_before_base"],
        detail["base_per_unit"],
        detail["billed_base"],
        skipped=_skipped(made, line),
        is_peak=is_peak,
        reached=max(before, default=0) if is_peak else 0,
    )
    window = Period.from_plain(states[mine[0]]["counted"])
    zone_name = made["period"]["time_zone"]
    return UsageLine(line, window, zone_name, DERIVED.get(meter, (meter,)), counting)


def days(invoice: Invoice, position: int) -> DrillDown:
    """Return the days of a line of the invoice, by the calendar of its billing time zone.

    Raises:
        NothingPinned: the invoice has no document yet.
        Missing, NoUsageBehind: as ``usage_line`` does.
    """
    found = _by_hours(invoice, position)
    by_day: dict[date, Share] = {}
    for share in found.steps:
        day = found.usage.day_of(share.starts_at)
        # The first day may begin before the window, as when a plan began at noon.
        begins = max(found.usage.midnight(day), found.usage.window.starts_at)
        by_day[day] = (
            _joined(by_day[day], share, found.usage)
            if day in by_day
            else replace(share, starts_at=begins)
        )
    return replace(found, step=DAY, steps=tuple(by_day.values()))


def hours(invoice: Invoice, position: int, day: date) -> DrillDown:
    """Return the hours of one day of a line of the invoice. Raises as ``days`` does."""
    found = _by_hours(invoice, position)
    steps = tuple(step for step in found.steps if found.usage.day_of(step.starts_at) == day)
    return replace(found, steps=steps)


def _by_hours(invoice: Invoice, position: int) -> DrillDown:
    sample_readings.pinned_version(invoice)  # raises without a document
    usage = usage_line(document.loaded(invoice.document), position)
    found = _drilled(usage, _copied(invoice.tenant_id, usage), COPY)
    if found.is_exact:
        return found
    pinned = sample_readings.find(invoice, usage.window)
    if pinned is None or pinned.finished_at is None:
        return found  # nothing better was read yet, and ``is_exact`` says that this is not exact
    return _drilled(usage, _used(usage, map(Hour.from_plain, pinned.hours)), PINNED)


def _drilled(usage: UsageLine, steps: Sequence[tuple[datetime, int]], source: str) -> DrillDown:
    found = tuple(
        replace(share, starts_at=max(share.starts_at, usage.window.starts_at))
        for share in shares(usage.counting, steps)
    )
    used = [share.used for share in found]
    total = max(used, default=0) if usage.is_peak else sum(used)
    billed = sum(share.billed for share in found)
    is_exact = (total, billed) == (usage.used, usage.counting.billed)
    return DrillDown(usage, HOUR, found, source, is_exact)


def _copied(tenant_id: str, usage: UsageLine) -> list[tuple[datetime, int]]:
    """Return (hour, used) of the line's window from the copy of gold, in order."""
    window, found = usage.window, dict[datetime, int]()
    for meter in usage.meters:
        query = SeriesQuery(
            meter, window.starts_at, window.ends_at, step="hour", zone=usage.time_zone
        )
        for starts_at, quantity in reading.series(tenant_id, query):
            found[starts_at] = found.get(starts_at, 0) + quantity
    return sorted(found.items())


def _used(usage: UsageLine, read: Iterable[Hour]) -> list[tuple[datetime, int]]:
    found = [
        (hour.starts_at, sum(hour.used.get(meter, 0) for meter in usage.meters)) for hour in read
    ]
    return sorted((starts_at, used) for starts_at, used in found if used)


def _joined(left: Share, right: Share, usage: UsageLine) -> Share:
    used = max(left.used, right.used) if usage.is_peak else left.used + right.used
    return Share(left.starts_at, used, left.included + right.included, left.billed + right.billed)


def _skipped(made: Document, line: Document) -> int:
    """Return what the lines before ``line`` bill of the same meter and segment: lower tiers."""
    begins = line["detail"]["starts_at"]
    return sum(
        other["detail"]["billed_base"]
        for other in made["lines"]
        if other["kind"] == "usage"
        and other["meter"] == line["meter"]
        and other["detail"]["starts_at"] == begins
        and other["position"] < line["position"]
    )
