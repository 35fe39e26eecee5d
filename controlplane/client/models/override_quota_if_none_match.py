from typing import Literal, cast

OverrideQuotaIfNoneMatch = Literal["*"]


def check_override_quota_if_none_match(value: str) -> OverrideQuotaIfNoneMatch:
    """Return ``value``; a newer server may know others than these."""
    return cast(OverrideQuotaIfNoneMatch, value)
