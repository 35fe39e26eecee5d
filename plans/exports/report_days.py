"""Reads the days and months of reports from what people write, and finds what is in a month.

Days and months of reports are those of UTC, unless a function names another time zone.
"""

from datetime import UTC, date, datetime, time, timedelta

from controlplane.core.errors import Invalid
from plans.rating.periods import Period, day_of

MOST_MONTHS = 36  # of one report
_YEARS = 2000, 2200


def day_named(text: str | None, now: datetime) -> date:
    """Return the day such as 2026-11-30, or that of ``now`` without ``text``.

    Raises:
        Invalid: the text is no day, or the day has not begun.
    """
    today = now.astimezone(UTC).date()
    try:
        day = date.fromisoformat(text) if text else today
    except ValueError:
        raise Invalid(f"{text!r} is no day: write 2026-11-30.", code="report.day") from None
    if day > today:
        raise Invalid(f"{day} has not begun: today is {today} (UTC).", code="report.day")
    return day


def ended_month(text: str | None, now: datetime) -> date:
    """Return the first day of the month such as 2026-11; without ``text``, of the last ended month.

    Raises:
        Invalid: the text is no month, or the month has not ended at ``now``.
    """
    running = now.astimezone(UTC).date().replace(day=1)
    month = month_named(text) if text else (running - timedelta(days=1)).replace(day=1)
    if month >= running:
        raise Invalid(
            f"{month:%Y-%m} has not ended (UTC): name an earlier month.", code="report.months"
        )
    return month


def months_of(first: str | None, last: str | None, today: date) -> tuple[date, date]:
    """Return the first days of two months such as 2026-11.

    Without ``last``, it is the month of ``today``; without ``first``, there are twelve months.

    Raises:
        Invalid: a text is no month.
    """
    end = month_named(last) if last else today.replace(day=1)
    return (month_named(first) if first else next_month(end.replace(year=end.year - 1))), end


def month_named(text: str) -> date:
    """Return the first day of the month such as 2026-11.

    Raises:
        Invalid: the text is no month from 2000 to 2200.
    """
    try:
        month = date.fromisoformat(f"{text}-01")
    except ValueError:
        raise Invalid(f"{text!r} is no month: write 2026-11.", code="report.months") from None
    # The year before the first one of Python's calendar, and the one after the last, do not exist.
    if not _YEARS[0] <= month.year <= _YEARS[1]:
        raise Invalid(
            f"Name months from {_YEARS[0]} to {_YEARS[1]}, as in 2026-11.", code="report.months"
        )
    return month


def each_month(first: date, last: date) -> list[date]:
    """Return the first days of the months from ``first`` to ``last``, which are such days, too.

    Raises:
        Invalid: ``last`` is before ``first``, or there are more than ``MOST_MONTHS``.
    """
    months: list[date] = []
    month = first
    while month <= last and len(months) <= MOST_MONTHS:
        months.append(month)
        month = next_month(month)
    if not 0 < len(months) <= MOST_MONTHS:
        raise Invalid(f"Name 1 to {MOST_MONTHS} months, the first one first.", code="report.months")
    return months


def next_month(month: date) -> date:
    """Return the first day of the next month; ``month`` is a first day."""
    return (month.replace(day=28) + timedelta(days=4)).replace(day=1)


def around(month: date) -> Period:
    """Return a span that contains the month of every time zone; ``month`` is a first day."""
    day = timedelta(days=1)  # no time zone differs more from UTC
    first, after = (datetime.combine(one, time(), UTC) for one in (month, next_month(month)))
    return Period(first - day, after + day)


def is_in(month: date, instant: datetime, zone_name: str) -> bool:
    """Return whether the instant is in the month, in a time zone; ``month`` is a first day.

    Raises:
        Invalid: there is no such zone.
    """
    return day_of(instant, zone_name).replace(day=1) == month
