"""The lower value of an alarm that names none."""

import pytest

from controlplane.core.alarm_limits import default_clear_below


@pytest.mark.parametrize(
    ("threshold", "lower"), [(1, 1), (2, 2), (4, 4), (5, 4), (6, 5), (10, 8), (11, 9), (1000, 800)]
)
def test_every_value_below_80_percent_clears_the_alarm_and_no_other(
    threshold: int, lower: int
) -> None:
    assert default_clear_below(threshold) == lower
    assert [value < lower for value in range(threshold + 1)] == [
        value * 100 < 80 * threshold for value in range(threshold + 1)
    ]
