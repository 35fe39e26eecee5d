from typing import Literal, cast

DefaultRoleEnum = Literal["admin", "billing", "developer", "viewer"]


def check_default_role_enum(value: str) -> DefaultRoleEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(DefaultRoleEnum, value)
