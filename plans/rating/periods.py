"""Computes billing periods: half-open spans of instants. Pure.

Only the results of ``day_of``, ``day_end_of`` and ``month_of`` depend on a time zone: the billing
time zone of a tenant decides when a day and a month begin.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from controlplane.core.errors import Invalid

# Entries of the time zone database that are no zones: two depend on the machine, and "Factory"
# means that no zone is set.
_NOT_ZONES = {"localtime", "posixrules", "Factory"}


@dataclass(frozen=True, order=True)
class Period:
    """The instants t with ``starts_at <= t < ends_at``. Both bounds must have a time zone.

    Raises:
        Invalid: a bound has no time zone, or the period does not end after it begins.
    """

    starts_at: datetime
    ends_at: datetime

    def __post_init__(self) -> None:
        if self.starts_at.tzinfo is None or self.ends_at.tzinfo is None:
            raise Invalid("A period needs instants with a time zone.", code="period.naive")
        if self.ends_at <= self.starts_at:
            raise Invalid("A period must end after it begins.", code="period.backward")

    @property
    def seconds(self) -> int:
        """The length in whole seconds.

        Both bounds are truncated to seconds first, so that adjacent periods add up exactly.
        """
        return int(self.ends_at.timestamp()) - int(self.starts_at.timestamp())

    def contains(self, instant: datetime) -> bool:
        return self.starts_at <= instant < self.ends_at

    def clip(self, starts_at: datetime | None, ends_at: datetime | None) -> "Period | None":
        """Return the part of the period inside [starts_at, ends_at); None if it is empty.

        A bound that is None does not limit the period.
        """
        start = max(self.starts_at, starts_at or self.starts_at)
        end = min(self.ends_at, ends_at or self.ends_at)
        return Period(start, end) if start < end else None

    def plain(self) -> list[str]:
        """Return [start, end] as ISO 8601 texts, for documents; ``from_plain`` reads them."""
        return [self.starts_at.isoformat(), self.ends_at.isoformat()]

    @classmethod
    def from_plain(cls, ends: Sequence[str]) -> "Period":
        """Return the period from the result of ``plain``."""
        return cls(*map(datetime.fromisoformat, ends))

    def __str__(self) -> str:
        return f"{self.starts_at.isoformat()}/{self.ends_at.isoformat()}"


def zone_names() -> list[str]:
    """Return the sorted IANA zone names, without the entries that are no zones."""
    return sorted(available_timezones() - _NOT_ZONES)


def zone(name: str) -> ZoneInfo:
    """Return the IANA time zone ``name``.

    Raises:
        Invalid: there is no such zone.
    """
    try:
        return ZoneInfo(name)
    # ValueError: an unsafe path. OSError: a folder such as "Europe", on some Python versions.
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Invalid(
            f"{name!r} is not a time zone: use an IANA name such as Europe/Berlin.",
            code="period.time_zone",
        ) from None


def day_of(instant: datetime, zone_name: str) -> date:
    """Return the day of ``zone_name`` that contains ``instant``.

    Raises:
        Invalid: there is no such zone.
    """
    return instant.astimezone(zone(zone_name)).date()


def day_end_of(instant: datetime, zone_name: str) -> datetime:
    """Return when the day of ``zone_name`` that contains ``instant`` is over, in UTC.

    Raises:
        Invalid: there is no such zone.
    """
    next_day = day_of(instant, zone_name) + timedelta(days=1)
    midnight = datetime(next_day.year, next_day.month, next_day.day, tzinfo=zone(zone_name))
    return midnight.astimezone(UTC)


def month_of(instant: datetime, zone_name: str) -> Period:
    """Return the calendar month of ``zone_name`` that contains ``instant``.

    Months begin at local midnight, so a month with a clock change is an hour longer or shorter. The
    bounds of the result are in UTC.

    Raises:
        Invalid: there is no such zone.
    """
    local = instant.astimezone(zone(zone_name))
    # In December the division and the remainder lead to January of the next year.
    next_year, next_month = local.year + local.month // 12, local.month % 12 + 1
    # Each midnight has the zone's offset of its own day: the two may differ (clock change).
    begins = [
        datetime(year, month, 1, tzinfo=zone(zone_name)).astimezone(UTC)
        for year, month in ((local.year, local.month), (next_year, next_month))
    ]
    return Period(*begins)
