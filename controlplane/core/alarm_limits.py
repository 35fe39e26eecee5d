"""The default of an alarm's lower value, for the API and for `waypost apply`, which compares."""

_CLEAR_PERCENT = 80


def default_clear_below(threshold: int) -> int:
    """Return the lower value of the hysteresis of an alarm that names none: 80 %, at least 1.

    Rounded up, so every whole number below 80 % of the threshold clears the alarm.
    """
    return -(-threshold * _CLEAR_PERCENT // 100)
