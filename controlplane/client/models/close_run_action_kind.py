from typing import Literal, cast

CloseRunActionKind = Literal["approve", "issue"]


def check_close_run_action_kind(value: str) -> CloseRunActionKind:
    """Return ``value``; a newer server may know others than these."""
    return cast(CloseRunActionKind, value)
