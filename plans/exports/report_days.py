"""Reads the days and months of reports from what people write. Days and months are those of UTC."""

from datetime import UTC, date, datetime, timedelta

from controlplane.core.errors import Invalid


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
        Invalid: the text is no month.
    """
    try:
        return date.fromisoformat(f"{text}-01")
    except ValueError:
        raise Invalid(f"{text!r} is no month: write 2026-11.", code="report.months") from None


def next_month(month: date) -> date:
    """Return the first day of the next month; ``month`` is a first day."""
    return (month.replace(day=28) + timedelta(days=4)).replace(day=1)
