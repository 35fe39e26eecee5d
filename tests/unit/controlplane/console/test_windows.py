"""The months and days that usage pages show."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.console import windows
from controlplane.core.errors import Invalid

NOW = datetime(2026, 11, 21, 23, 30, tzinfo=UTC)
ZONES = st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu"])


def test_no_text_is_this_month_of_the_zone() -> None:
    assert windows.parse("", "UTC", NOW).key == "2026-11"
    last_evening = datetime(2026, 11, 30, 23, 30, tzinfo=UTC)
    assert windows.parse("", "Europe/Berlin", last_evening).key == "2026-12"


def test_a_month_begins_at_local_midnight() -> None:
    window = windows.parse("2026-11", "Europe/Berlin", NOW)

    assert window.starts_at == datetime(2026, 10, 31, 23, tzinfo=UTC)
    assert window.ends_at == datetime(2026, 11, 30, 23, tzinfo=UTC)
    assert (window.step, len(window.steps()), window.title) == ("day", 30, "November 2026")


def test_a_day_has_its_hours() -> None:
    window = windows.parse("2026-11-21", "UTC", NOW)

    assert (window.step, len(window.steps()), window.kind) == ("hour", 24, "day")
    assert window.month.key == "2026-11"


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25)])
def test_a_day_of_a_clock_change_has_one_hour_less_or_more(day: str, hours: int) -> None:
    assert len(windows.parse(day, "Europe/Berlin", NOW).steps()) == hours


@pytest.mark.parametrize(
    "text",
    [
        "yesterday",
        "2026-13",
        "2026-02-30",
        "20260101x",
        "1999-12",
        "0001-01",
        "2026-1",
        "9999-12",
        "2026-11-09..2026-11-03",
        "2026-01-01..2026-04-03",
        "2026-02-30..2026-03-01",
    ],
)
def test_what_is_neither_month_nor_day_is_refused(text: str) -> None:
    with pytest.raises(Invalid) as refusal:
        windows.parse(text, "UTC", NOW)

    assert refusal.value.error_code == "usage.window"


def test_a_range_has_its_days_and_neighbors_of_its_length() -> None:
    window = windows.parse("2026-11-03..2026-11-09", "Europe/Berlin", NOW)

    assert (window.kind, window.step, len(window.steps())) == ("range", "day", 7)
    assert windows.parse(window.key, "Europe/Berlin", NOW) == window
    assert window.next.key == "2026-11-10..2026-11-16"
    assert window.previous.ends_at == window.starts_at
    assert window.next.previous == window
    assert window.month.key == "2026-11"


@pytest.mark.parametrize(
    ("first", "last", "kind"),
    [("2026-11-03", "2026-11-03", "day"), ("2026-02-01", "2026-02-28", "month"),
     ("2026-02-01", "2026-02-27", "range"), ("2026-01-01", "2026-04-02", "range")],
)  # fmt: skip
def test_days_are_the_simplest_window(first: str, last: str, kind: str) -> None:
    found = windows.of_days(date.fromisoformat(first), date.fromisoformat(last), "UTC")

    assert found.kind == kind
    assert (found.first, found.last_day) == (date.fromisoformat(first), date.fromisoformat(last))


@given(st.dates(date(2001, 1, 1), date(2900, 1, 1)), ZONES, st.booleans())
def test_windows_meet_without_gap_and_their_steps_fill_them(
    first: date, zone: str, by_month: bool
) -> None:
    text = first.strftime("%Y-%m") if by_month else first.isoformat()
    window = windows.parse(text, zone, NOW)

    assert window.previous.ends_at == window.starts_at
    assert window.next.starts_at == window.ends_at
    assert window.next.previous == window
    steps = window.steps()
    assert steps[0] == window.starts_at
    assert steps == sorted(steps)
    assert window.ends_at - steps[-1] <= timedelta(hours=25)
