from typing import Literal, cast

ActionEnum = Literal["notify", "refuse_connections", "throttle", "withdraw_send"]


def check_action_enum(value: str) -> ActionEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(ActionEnum, value)
