"""The default of an alarm's lower value, for the API and for `waypost apply`, which compares."""

_CLEAR_PERCENT = 80


def default_clear_below(threshold: int) -> int:
    """Return the lower value of the hysteresis of an alarm that names none: 80 %, at least 1."""
    # At least 1: no value is below 0, so the alarm would never be cleared.
    return max(1, threshold * _CLEAR_PERCENT // 100)
