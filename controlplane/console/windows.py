"""Time windows of usage pages: a calendar month by days, or a day by hours. Pure.

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

_MONTH = re.compile(r"\d{4}-\d{2}")


@dataclass(frozen=True)
class Window:
    """One month or one day, which begins at midnight of ``first`` in the time zone ``zone``.

    ``key`` is its text in URLs (``2026-11``, ``2026-11-21``), ``title`` its heading.
    """

    kind: Literal["month", "day"]
    first: date
    zone: str

    @property
    def key(self) -> str:
        return self.first.isoformat() if self.kind == "day" else self.first.strftime("%Y-%m")

    @property
    def title(self) -> str:
        return self.first.strftime("%A, %-d %B %Y" if self.kind == "day" else "%B %Y")

    @property
    def short_title(self) -> str:
        """A shorter title, for a link to this window."""
        return self.first.strftime("%a %-d %b" if self.kind == "day" else "%B %Y")

    @property
    def step(self) -> str:
        """The length of one column: ``hour`` in a day, ``day`` in a month (see ``SeriesQuery``)."""
        return "hour" if self.kind == "day" else "day"

    @property
    def starts_at(self) -> datetime:
        return _midnight(self.first, self.zone)

    @property
    def ends_at(self) -> datetime:
        return _midnight(self._moved(1), self.zone)

    @property
    def previous(self) -> "Window":
        return Window(self.kind, self._moved(-1), self.zone)

    @property
    def next(self) -> "Window":
        return Window(self.kind, self._moved(1), self.zone)

    @property
    def month(self) -> "Window":
        """The month that this window is or lies in."""
        return Window("month", self.first.replace(day=1), self.zone)

    def steps(self) -> list[datetime]:
        """Return the start of each column of the chart, in the window's time zone.

        A month has a column for each day. A day has a column for each hour, so a day on which the
        clocks change has 23 or 25.
        """
        if self.kind == "month":
            days = (self._moved(1) - self.first).days
            dates = [self.first + timedelta(days=n) for n in range(days)]
            return [_midnight(day, self.zone).astimezone(periods.zone(self.zone)) for day in dates]
        # Add hours in UTC: local arithmetic would skip or repeat the hour of a clock change.
        hours = round((self.ends_at - self.starts_at) / timedelta(hours=1))
        starts = [self.starts_at + timedelta(hours=n) for n in range(hours)]
        return [start.astimezone(periods.zone(self.zone)) for start in starts]

    def _moved(self, by: int) -> date:
        if self.kind == "day":
            return self.first + timedelta(days=by)
        # Months counted from year 0, so that December carries over into the next year.
        months = self.first.year * 12 + self.first.month - 1 + by
        return date(months // 12, months % 12 + 1, 1)


def parse(text: str, zone: str, now: datetime) -> Window:
    """Return the window that ``text`` names, such as ``2026-11`` or ``2026-11-21``.

    An empty ``text`` means the month of ``now``. Months and days begin in the time zone ``zone``,
    an IANA name.

    Raises:
        Invalid: ``text`` is no month and no day of the years 2000 to 2999.
    """
    local = now.astimezone(periods.zone(zone)).date()
    try:
        month = date.fromisoformat(f"{text}-01") if _MONTH.fullmatch(text) else None
        first = month or (date.fromisoformat(text) if text else local.replace(day=1))
    except ValueError:
        first = date.min  # fails the check of the year below
    if not 2000 <= first.year <= 2999:
        raise Invalid(
            f"{text!r} is neither a month such as 2026-11 nor a day such as 2026-11-21.",
            code="usage.window",
        )
    return Window("month" if month or not text else "day", first, zone)


def _midnight(day: date, zone: str) -> datetime:
    return datetime.combine(day, time(), periods.zone(zone)).astimezone(UTC)
