"""Time windows of usage pages: a calendar month or some days by days, or a day by hours. Pure.

A window is parsed from the query string. It contains its start, but not its end; both are instants
in UTC. Months and days begin at midnight in the tenant's billing time zone, so a page's month is
the month of the invoice.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal

from controlplane.core.errors import Invalid
from plans.rating import periods

MOST_DAYS = 92  # the bars of a longer range would be too narrow
_RANGE = re.compile(r"(\d{4}-\d{2}-\d{2})\.\.(\d{4}-\d{2}-\d{2})")  # such as 2026-11-01..2026-11-15
_MONTH = re.compile(r"\d{4}-\d{2}")  # such as 2026-11


@dataclass(frozen=True)
class Window:
    """A month, a day or a range of days, which begins at midnight of ``first`` in ``zone``.

    ``key`` is its text in URLs (``2026-11``, ``2026-11-21``, ``2026-11-03..2026-11-09``), ``title``
    its heading. ``last`` is the last day of a range, and None for the other kinds.
    """

    kind: Literal["month", "day", "range"]
    first: date
    zone: str
    last: date | None = None

    @property
    def last_day(self) -> date:
        """The last day of the window."""
        return self._moved(1) - timedelta(days=1)

    @property
    def key(self) -> str:
        if self.kind == "range":
            return f"{self.first.isoformat()}..{self.last_day.isoformat()}"
        return self.first.isoformat() if self.kind == "day" else self.first.strftime("%Y-%m")

    @property
    def title(self) -> str:
        if self.kind == "range":
            return f"{self.first:%-d %B %Y} to {self.last_day:%-d %B %Y}"
        return self.first.strftime("%A, %-d %B %Y" if self.kind == "day" else "%B %Y")

    @property
    def short_title(self) -> str:
        """A shorter title, for a link to this window."""
        if self.kind == "range":
            return f"{self.first:%-d %b} to {self.last_day:%-d %b}"
        return self.first.strftime("%a %-d %b" if self.kind == "day" else "%B %Y")

    @property
    def step(self) -> str:
        """The length of one column: ``hour`` in a day, else ``day`` (see ``SeriesQuery``)."""
        return "hour" if self.kind == "day" else "day"

    @property
    def starts_at(self) -> datetime:
        return _midnight(self.first, self.zone)

    @property
    def ends_at(self) -> datetime:
        return _midnight(self._moved(1), self.zone)

    @property
    def previous(self) -> "Window":
        return self._neighbor(-1)

    @property
    def next(self) -> "Window":
        return self._neighbor(1)

    @property
    def month(self) -> "Window":
        """The month in which this window begins."""
        return Window("month", self.first.replace(day=1), self.zone)

    def steps(self) -> list[datetime]:
        """Return the start of each column of the chart, in the window's time zone.

        A month or a range has a column for each day. A day has a column for each hour, so a day on
        which the clocks change has 23 or 25.
        """
        if self.kind != "day":
            days = (self._moved(1) - self.first).days
            dates = [self.first + timedelta(days=n) for n in range(days)]
            return [_midnight(day, self.zone).astimezone(periods.zone(self.zone)) for day in dates]
        # Add hours in UTC: local arithmetic would skip or repeat the hour of a clock change.
        hours = round((self.ends_at - self.starts_at) / timedelta(hours=1))
        starts = [self.starts_at + timedelta(hours=n) for n in range(hours)]
        return [start.astimezone(periods.zone(self.zone)) for start in starts]

    def _neighbor(self, by: int) -> "Window":
        last = self.last and self.last + by * (self.last - self.first + timedelta(days=1))
        return Window(self.kind, self._moved(by), self.zone, last)

    def _moved(self, by: int) -> date:
        if self.last is not None:
            return self.first + by * (self.last - self.first + timedelta(days=1))
        if self.kind == "day":
            return self.first + timedelta(days=by)
        # Months counted from year 0, so that December carries over into the next year.
        months = self.first.year * 12 + self.first.month - 1 + by
        return date(months // 12, months % 12 + 1, 1)


def of_days(first: date, last: date, zone: str) -> Window:
    """Return the window from ``first`` to ``last``, both included.

    One day and a whole calendar month are windows of these kinds.

    Raises:
        Invalid: the days are in the wrong order, more than ``MOST_DAYS``, or out of range.
    """
    found = Window("day", first, zone) if first == last else Window("range", first, zone, last)
    month = Window("month", first.replace(day=1), zone)
    if last < first:
        raise Invalid("The first day is after the last one.", code="usage.window")
    if not 2000 <= first.year <= last.year <= 2999:
        raise Invalid("Choose days of the years 2000 to 2999.", code="usage.window")
    if (first, last) == (month.first, month.last_day):
        return month
    if (last - first).days >= MOST_DAYS:
        raise Invalid(f"Choose at most {MOST_DAYS} days.", code="usage.window")
    return found


def parse(text: str, zone: str, now: datetime) -> Window:
    """Return the window that ``text`` names: ``2026-11``, ``2026-11-21`` or a range of days.

    A range is written as ``2026-11-03..2026-11-09``, and its last day is included. An empty
    ``text`` means the month of ``now``. Months and days begin in the time zone ``zone``, an IANA
    name.

    Raises:
        Invalid: ``text`` is no month, day or range of the years 2000 to 2999, or a range that
            ``of_days`` refuses.
    """
    if range_ := _RANGE.fullmatch(text):
        try:
            first, last = map(date.fromisoformat, range_.groups())
        except ValueError:
            raise _no_window(text) from None
        return of_days(first, last, zone)
    local = now.astimezone(periods.zone(zone)).date()
    try:
        month = date.fromisoformat(f"{text}-01") if _MONTH.fullmatch(text) else None
        first = month or (date.fromisoformat(text) if text else local.replace(day=1))
    except ValueError:
        first = date.min  # fails the check of the year below
    if not 2000 <= first.year <= 2999:
        raise _no_window(text)
    return Window("month" if month or not text else "day", first, zone)


def _no_window(text: str) -> Invalid:
    return Invalid(
        f"{text[:80]!r} is neither a month such as 2026-11 nor a day such as 2026-11-21.",
        code="usage.window",
    )


def _midnight(day: date, zone: str) -> datetime:
    return datetime.combine(day, time(), periods.zone(zone)).astimezone(UTC)
