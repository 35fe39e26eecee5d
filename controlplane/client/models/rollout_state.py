from typing import Literal, cast

RolloutState = Literal["Done", "Paused", "Running", "Stopped", "Superseded"]


def check_rollout_state(value: str) -> RolloutState:
    """Return ``value``; a newer server may know others than these."""
    return cast(RolloutState, value)
