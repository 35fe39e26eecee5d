"""Billing periods: months of a time zone, and spans that add up."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.core.errors import Invalid
from plans.rating import periods
from plans.rating.periods import Period


def at(year: int, month: int, day: int, *time: int) -> datetime:
    hour, minute, second, microsecond = (*time, 0, 0, 0, 0)[:4]
    return datetime(year, month, day, hour, minute, second, microsecond, tzinfo=UTC)


@pytest.mark.parametrize(
    ("instant", "zone", "starts_at", "ends_at"),
    [
        (at(2026, 2, 15), "UTC", at(2026, 2, 1), at(2026, 3, 1)),
        (at(2026, 12, 31, 23), "UTC", at(2026, 12, 1), at(2027, 1, 1)),
        (at(2026, 7, 31, 22), "Europe/Berlin", at(2026, 7, 31, 22), at(2026, 8, 31, 22)),
        (at(2026, 7, 31, 21, 59), "Europe/Berlin", at(2026, 6, 30, 22), at(2026, 7, 31, 22)),
        (at(2026, 5, 10), "Asia/Kathmandu", at(2026, 4, 30, 18, 15), at(2026, 5, 31, 18, 15)),
    ],
)
def test_month_of_is_the_local_calendar_month(
    instant: datetime, zone: str, starts_at: datetime, ends_at: datetime
) -> None:
    assert periods.month_of(instant, zone) == Period(starts_at, ends_at)


@pytest.mark.parametrize(
    ("instant", "zone", "over"),
    [
        (at(2026, 12, 31), "UTC", at(2027, 1, 1)),
        (at(2026, 7, 18, 22), "Europe/Berlin", at(2026, 7, 19, 22)),
        (at(2026, 3, 28, 23), "Europe/Berlin", at(2026, 3, 29, 22)),  # the clock goes forward
        (at(2026, 10, 24, 22), "Europe/Berlin", at(2026, 10, 25, 23)),  # and back
    ],
)
def test_a_day_ends_at_the_next_local_midnight(
    instant: datetime, zone: str, over: datetime
) -> None:
    found = periods.day_end_of(instant, zone)

    assert found == over
    assert found.tzinfo is UTC


@pytest.mark.parametrize(
    ("instant", "hours"), [(at(2026, 3, 10), 31 * 24 - 1), (at(2026, 10, 10), 31 * 24 + 1)]
)
def test_a_month_with_a_clock_change_has_its_true_length(instant: datetime, hours: int) -> None:
    assert periods.month_of(instant, "Europe/Berlin").seconds == hours * 3600


@given(
    instant=st.integers(1_577_836_800, 2_208_988_800).map(lambda s: datetime.fromtimestamp(s, UTC)),
    zone=st.sampled_from(
        [
            "UTC",
            "Europe/Berlin",
            "America/Sao_Paulo",
            "Asia/Kathmandu",
            "Africa/Cairo",
            "Pacific/Apia",
            "America/Havana",
            "Australia/Lord_Howe",
        ]
    ),
)
def test_months_meet_without_gap_or_overlap(instant: datetime, zone: str) -> None:
    month = periods.month_of(instant, zone)

    assert month.contains(instant)
    assert periods.month_of(month.ends_at, zone).starts_at == month.ends_at
    assert periods.month_of(month.ends_at - timedelta(seconds=1), zone) == month


@given(st.lists(st.integers(0, 10**10), min_size=3, max_size=6, unique=True))
def test_seconds_of_adjoining_periods_add_up(microseconds: list[int]) -> None:
    edges = [at(2026, 1, 1) + timedelta(microseconds=m) for m in sorted(microseconds)]

    parts = sum(Period(a, b).seconds for a, b in pairwise(edges))

    assert parts == Period(edges[0], edges[-1]).seconds


@pytest.mark.parametrize(
    ("starts_at", "ends_at"),
    [
        (at(2026, 1, 2), at(2026, 1, 2)),
        (at(2026, 1, 3), at(2026, 1, 2)),
        (at(2026, 1, 1).replace(tzinfo=None), at(2026, 1, 2)),
    ],
)
def test_a_period_goes_forward_between_known_instants(
    starts_at: datetime, ends_at: datetime
) -> None:
    with pytest.raises(Invalid):
        Period(starts_at, ends_at)


def test_clip_keeps_only_what_lies_inside() -> None:
    day = Period(at(2026, 1, 1), at(2026, 1, 2))

    assert day.clip(None, None) == day
    assert day.clip(at(2026, 1, 1, 6), None) == Period(at(2026, 1, 1, 6), at(2026, 1, 2))
    assert day.clip(at(2025, 1, 1), at(2026, 1, 1, 6)) == Period(at(2026, 1, 1), at(2026, 1, 1, 6))
    assert day.clip(at(2026, 1, 2), None) is None


def test_only_zones_that_mean_the_same_everywhere_have_a_name() -> None:
    names = periods.zone_names()

    assert {"Europe/Berlin", "UTC", "Etc/GMT+3"} <= set(names)
    assert {"localtime", "posixrules", "Factory"}.isdisjoint(names)
    assert names == sorted(names)


def test_an_unknown_time_zone_is_refused_with_an_example() -> None:
    with pytest.raises(Invalid, match="Europe/Berlin"):
        periods.zone("Mars/Olympus")


@pytest.mark.parametrize(
    ("bounds", "code", "message"),
    [
        (
            (at(2026, 1, 1).replace(tzinfo=None), at(2026, 1, 2)),
            "period.naive",
            "A period needs instants with a time zone.",
        ),
        (
            (at(2026, 1, 1), at(2026, 1, 2).replace(tzinfo=None)),
            "period.naive",
            "A period needs instants with a time zone.",
        ),
        (
            (at(2026, 1, 2), at(2026, 1, 2)),
            "period.backward",
            "A period must end after it begins.",
        ),
    ],
)
def test_a_refused_period_says_why(
    bounds: tuple[datetime, datetime], code: str, message: str
) -> None:
    with pytest.raises(Invalid) as refused:
        Period(*bounds)

    assert (refused.value.error_code, refused.value.message) == (code, message)


def test_a_period_contains_its_begin_and_not_its_end() -> None:
    day = Period(at(2026, 1, 1), at(2026, 1, 2))
    microsecond = timedelta(microseconds=1)

    instants = [day.starts_at - microsecond, day.starts_at, day.ends_at - microsecond, day.ends_at]

    assert [day.contains(instant) for instant in instants] == [False, True, True, False]


@pytest.mark.parametrize(
    ("bounds", "clipped"),
    [
        ((None, at(2026, 1, 1, 6)), (at(2026, 1, 1), at(2026, 1, 1, 6))),
        ((at(2026, 1, 1, 6), at(2026, 1, 1, 7)), (at(2026, 1, 1, 6), at(2026, 1, 1, 7))),
        ((at(2025, 1, 1), at(2027, 1, 1)), (at(2026, 1, 1), at(2026, 1, 2))),
        ((None, at(2026, 1, 1)), None),
        ((None, at(2025, 1, 1)), None),
        ((at(2026, 1, 3), at(2026, 1, 4)), None),
    ],
)
def test_clip_takes_the_later_begin_and_the_earlier_end(
    bounds: tuple[datetime | None, datetime | None], clipped: tuple[datetime, datetime] | None
) -> None:
    day = Period(at(2026, 1, 1), at(2026, 1, 2))

    assert day.clip(*bounds) == (Period(*clipped) if clipped else None)


def test_a_period_is_stored_and_shown_in_iso_8601() -> None:
    day = Period(at(2026, 1, 1), at(2026, 1, 2))

    assert day.plain() == ["2026-01-01T00:00:00+00:00", "2026-01-02T00:00:00+00:00"]
    assert Period.from_plain(day.plain()) == day
    assert str(day) == "2026-01-01T00:00:00+00:00/2026-01-02T00:00:00+00:00"


@pytest.mark.parametrize("name", ["Mars/Olympus", "../etc/passwd", "/etc/localtime", "Europe", ""])
def test_a_refused_time_zone_is_named(name: str) -> None:
    with pytest.raises(Invalid) as refused:
        periods.zone(name)

    assert refused.value.error_code == "period.time_zone"
    assert refused.value.message == (
        f"{name!r} is not a time zone: use an IANA name such as Europe/Berlin."
    )


def test_a_month_has_its_bounds_in_utc() -> None:
    month = periods.month_of(at(2026, 5, 10), "Asia/Kathmandu")

    assert month.starts_at.tzinfo is UTC
    assert month.ends_at.tzinfo is UTC
