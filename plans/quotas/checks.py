"""Compares requested amounts with limits. Pure: callers pass limits, usage and amount.

Nothing here reads a row or a clock. A caller that admits a change must hold a lock on the rows that
it counted, or two requests together may exceed a limit.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Protocol

from controlplane.core.errors import QuotaExceeded
from plans.quotas.resources import WORDS, Resource


class HasQuotas(Protocol):
    """The type of a commercial plan: ``quotas`` are its limits by resource (no entry: no limit)."""

    @property
    def quotas(self) -> Mapping[str, int]: ...


class Override(Protocol):
    """The type of a limit that staff set in place of the plan's.

    It counts until ``expires_at``; None: for ever.
    """

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
    """Return {resource: limit}: the plan's limits, replaced by overrides in force at ``now``.

    An override may also limit a resource that the plan does not. A resource without an entry is
    not limited.
    """
    limits = dict(plan.quotas)
    limits.update({row.resource: row.amount for row in overrides if is_in_force(row, now)})
    return limits


def is_in_force(override: Override, now: datetime) -> bool:
    """Return whether the override counts at ``now``; at ``expires_at`` itself it does not."""
    return override.expires_at is None or override.expires_at > now


def require(limits: Limits, resource: Resource, *, used: int, asked: int) -> None:
    """Raise if ``used`` plus ``asked`` units exceed the limit of ``resource``.

    Never raises for a resource without a limit or if ``asked`` is 0, even if ``used`` is above the
    limit.

    Raises:
        QuotaExceeded: names resource, limit, used, asked, and who can raise the limit.
    """
    limit = limits.get(resource)
    if limit is None or asked <= 0 or used + asked <= limit:
        return
    # Only resources of a space or of a broker have a dot: their limit comes from the space plan.
    raised_by = _SPACE_PLAN if "." in resource else _OPERATOR
    raise QuotaExceeded(
        f"{limit:,} {WORDS[resource]} are allowed, {used:,} are used, {asked:,} more requested. "
        f"Delete what you do not need, or get a higher limit from {raised_by}.",
        resource=resource.value,
        limit=limit,
        used=used,
        asked=asked,
        raised_by=raised_by,
    )


def exceeded(limits: Limits, used: Mapping[Resource, int]) -> dict[Resource, tuple[int, int]]:
    """Return {resource: (limit, used)} of the resources whose usage is above their limit.

    The order is that of ``used``. Resources without a limit are left out.
    """
    return {
        resource: (limits[resource], amount)
        for resource, amount in used.items()
        if resource in limits and amount > limits[resource]
    }
