"""Days of a tenant, as templates write them."""

from datetime import UTC, date, datetime

import pytest

from controlplane.console.templatetags import console


@pytest.mark.parametrize(
    ("zone", "day"),
    [
        ("Europe/Berlin", date(2027, 1, 1)),
        ("America/New_York", date(2026, 12, 31)),
        ("Mars/Base", date(2026, 12, 31)),  # a zone that the system has no longer: UTC
    ],
)
def test_a_day_is_that_of_the_time_zone(zone: str, day: date) -> None:
    assert console.day_in(datetime(2026, 12, 31, 23, tzinfo=UTC), zone) == day
