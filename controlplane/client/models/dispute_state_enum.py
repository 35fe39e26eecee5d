from typing import Literal, cast

DisputeStateEnum = Literal["lost", "open", "won"]


def check_dispute_state_enum(value: str) -> DisputeStateEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(DisputeStateEnum, value)
