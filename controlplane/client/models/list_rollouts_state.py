from typing import Literal, cast

ListRolloutsState = Literal["Done", "Paused", "Running", "Stopped", "Superseded"]


def check_list_rollouts_state(value: str) -> ListRolloutsState:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListRolloutsState, value)
