from typing import Literal, cast

StepEnum = Literal["day", "hour"]


def check_step_enum(value: str) -> StepEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(StepEnum, value)
