"""The seconds of a segment for which its fee is charged."""

from datetime import UTC, datetime, timedelta

import pytest

from plans.rating.billable import Segment
from plans.rating.periods import Period

STARTS_AT = datetime(2026, 4, 1, tzinfo=UTC)


@pytest.mark.parametrize(("trial", "seconds"), [(0, 60), (59, 1), (60, 0), (61, 0)])
def test_no_fee_is_charged_for_the_seconds_of_a_trial(trial: int, seconds: int) -> None:
    period = Period(STARTS_AT, STARTS_AT + timedelta(minutes=1))

    assert Segment(period, "p", 1, "P", 100, (), trial_seconds=trial).fee_seconds == seconds
