"""Decides which credit pays an invoice: the order of grants, and their expiry. Pure.

Promotional credit goes before prepaid credit, then what expires first, then what was granted first.
What is used pays the total with tax, so it changes neither lines nor tax.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

PROMOTIONAL = "promotional"
PREPAID = "prepaid"
_NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Grant:
    """Credit of a tenant: ``left_minor`` of it is not used yet.

    From ``expires_at`` on (None: never) it pays nothing. ``granted`` orders grants that are
    otherwise equal: the lower one was granted first.
    """

    id: str
    kind: str  # PROMOTIONAL | PREPAID
    left_minor: int
    expires_at: datetime | None
    granted: int


@dataclass(frozen=True)
class Use:
    """What one grant pays of an invoice, in minor units."""

    grant: Grant
    used_minor: int


def burn(due_minor: int, grants: Iterable[Grant], at: datetime) -> tuple[Use, ...]:
    """Return which grants pay ``due_minor`` at the instant ``at``, in the order of their use.

    Together they pay at most ``due_minor``; if that is not positive, nothing is used.
    """
    uses, left = [], due_minor
    for grant in sorted(grants, key=_order):
        used = min(left, grant.left_minor)
        if used > 0 and (grant.expires_at is None or at < grant.expires_at):
            uses.append(Use(grant, used))
            left -= used
    return tuple(uses)


def _order(grant: Grant) -> tuple[bool, datetime, int]:
    return (grant.kind != PROMOTIONAL, grant.expires_at or _NEVER, grant.granted)
