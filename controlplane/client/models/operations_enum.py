from typing import Literal, cast

OperationsEnum = Literal["recv", "send"]


def check_operations_enum(value: str) -> OperationsEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(OperationsEnum, value)
