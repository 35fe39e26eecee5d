"""The days of reports."""

from datetime import UTC, date, datetime

import pytest

from controlplane.core.errors import Invalid
from plans.exports import report_days

NOW = datetime(2026, 7, 10, 23, 30, tzinfo=UTC)


def test_a_report_is_about_today_or_a_day_of_the_past() -> None:
    assert report_days.day_named(None, NOW) == date(2026, 7, 10)
    assert report_days.day_named("", NOW) == date(2026, 7, 10)
    assert report_days.day_named("2026-07-10", NOW) == date(2026, 7, 10)
    assert report_days.day_named("2024-02-29", NOW) == date(2024, 2, 29)


@pytest.mark.parametrize("text", ["2026-07-11", "2026-02-30", "yesterday"])
def test_a_day_that_has_not_begun_is_refused(text: str) -> None:
    with pytest.raises(Invalid) as refused:
        report_days.day_named(text, NOW)

    assert refused.value.error_code == "report.day"


@pytest.mark.parametrize("text", ["0001-01", "9999-12", "2026-13", "July"])
def test_what_is_no_month_is_refused(text: str) -> None:
    with pytest.raises(Invalid) as refused:
        report_days.month_named(text)

    assert refused.value.error_code == "report.months"


def test_months_follow_one_another() -> None:
    assert report_days.next_month(date(2026, 1, 1)) == date(2026, 2, 1)
    assert report_days.next_month(date(2026, 12, 1)) == date(2027, 1, 1)


def test_a_report_has_at_most_36_months() -> None:
    found = report_days.each_month(date(2025, 12, 1), date(2026, 2, 1))

    assert found == [date(2025, 12, 1), date(2026, 1, 1), date(2026, 2, 1)]
    assert len(report_days.each_month(date(2023, 7, 1), date(2026, 6, 1))) == 36
    for first in (date(2023, 6, 1), date(2026, 7, 1)):
        with pytest.raises(Invalid) as refused:
            report_days.each_month(first, date(2026, 6, 1))
        assert refused.value.error_code == "report.months"


@pytest.mark.parametrize("text", ["9999-12", "0001-01", "2201-01", "1999-12"])
def test_a_month_far_from_now_is_refused(text: str) -> None:
    with pytest.raises(Invalid) as refused:
        report_days.months_of(None, text, NOW.date())

    assert refused.value.error_code == "report.months"
