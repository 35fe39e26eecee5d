from typing import Literal, cast

GetUsageOverTimeStep = Literal["day", "hour"]


def check_get_usage_over_time_step(value: str) -> GetUsageOverTimeStep:
    """Return ``value``; a newer server may know others than these."""
    return cast(GetUsageOverTimeStep, value)
