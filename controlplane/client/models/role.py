from typing import Literal, cast

Role = Literal["admin", "billing", "developer", "owner", "viewer"]


def check_role(value: str) -> Role:
    """Return ``value``; a newer server may know others than these."""
    return cast(Role, value)
