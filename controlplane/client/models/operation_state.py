from typing import Literal, cast

OperationState = Literal["Failed", "Running", "Succeeded"]


def check_operation_state(value: str) -> OperationState:
    """Return ``value``; a newer server may know others than these."""
    return cast(OperationState, value)
