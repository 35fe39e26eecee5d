"""Limits and the refusals they lead to. Pure: callers bring limits, use and the wish.

Who calls it: the admitting actions of ``tenants``, inside their transaction, and the period
quotas of ``plans.enforcement``. Nothing here reads a row or a clock.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Protocol

from controlplane.core.errors import QuotaExceeded
from plans.resources import WORDS, Resource


class HasQuotas(Protocol):
    """A commercial plan; a resource that it does not name is not limited."""

    @property
    def quotas(self) -> Mapping[str, int]: ...


class Override(Protocol):
    """A limit set by staff instead of the plan's."""

    @property
    def resource(self) -> str: ...

    @property
    def amount(self) -> int: ...

    @property
    def expires_at(self) -> datetime | None: ...


Limits = Mapping[str, int]
_OPERATOR = "the operator, or a bigger plan"
_SPACE_PLAN = "a bigger space plan"


def effective(plan: HasQuotas, overrides: Iterable[Override], now: datetime) -> dict[str, int]:
    """Return {resource: limit}: the plan's, replaced by overrides not expired at ``now``.

    A resource without an entry is not limited.
    """
    limits = dict(plan.quotas)
    limits.update({each.resource: each.amount for each in overrides if is_in_force(each, now)})
    return limits


def is_in_force(override: Override, now: datetime) -> bool:
    """Return whether the override still counts; it ends at the instant it names."""
    return override.expires_at is None or override.expires_at > now


def require(limits: Limits, resource: Resource, *, used: int, asked: int) -> None:
    """Return when ``asked`` more fits beside ``used``; asking for nothing always does.

    Raises:
        QuotaExceeded: it does not fit; names resource, limit, used and asked.
    """
    limit = limits.get(resource)
    if limit is None or asked <= 0 or used + asked <= limit:
        return
    raised_by = _SPACE_PLAN if "." in resource else _OPERATOR
    raise QuotaExceeded(
        f"{limit:,} {WORDS[resource]} are allowed, {used:,} are used, {asked:,} more asked for. "
        f"Delete what you do not need, or ask for more: {raised_by} can raise this limit.",
        resource=resource.value,
        limit=limit,
        used=used,
        asked=asked,
        raised_by=raised_by,
    )


def exceeded(limits: Limits, used: Mapping[Resource, int]) -> dict[Resource, tuple[int, int]]:
    """Return {resource: (limit, used)} of everything over its limit, in the order of ``used``."""
    return {
        resource: (limits[resource], amount)
        for resource, amount in used.items()
        if resource in limits and amount > limits[resource]
    }
