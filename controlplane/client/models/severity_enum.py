from typing import Literal, cast

SeverityEnum = Literal["critical", "info", "warning"]


def check_severity_enum(value: str) -> SeverityEnum:
    """Return ``value``; a newer server may know others than these."""
    return cast(SeverityEnum, value)
