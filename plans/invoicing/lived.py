"""Which spaces and addresses lived in a period and for how long: read once, kept in the manifest.

A space that is being deleted gets its last instant after others read it; so what one statement saw
is what is billed, and ``verify`` takes it from the manifest instead of reading rows again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Q

from plans.invoicing import catalogue_prices
from plans.meters import ADDRESS_HOURS, SPACE_HOURS
from plans.periods import Period
from plans.pricing import Lifetime
from tenants.models import AddressSpace, Tenant

_FIELDS = ("id", "name", "type", "active_since", "deleted_at")
_SPACE = ("active_since", "deleted_at", "space_plan__key", "space_plan__version")
_ADDRESS = (
    "addresses__active_since",
    "addresses__deleted_at",
    "addresses__address_plan__key",
    "addresses__address_plan__version",
)


@dataclass(frozen=True)
class SpaceFact:
    """One space that existed in the period; ``alive`` is its Active span inside it."""

    id: str
    name: str
    type: str
    alive: Period | None = None


class _Plan(NamedTuple):
    """Whose seconds are added up: a meter, a plan version, a space."""

    meter: str
    plan: str
    plan_version: int
    space_id: str


@dataclass(frozen=True)
class Lived:
    """Spaces of a period, and {plan: (seconds, how many)} of what lived in it."""

    spaces: tuple[SpaceFact, ...]
    seconds: Mapping[_Plan, tuple[int, int]]

    def lifetimes(self) -> tuple[Lifetime, ...]:
        """Return what has an hourly price, with it."""
        plans = {plan[:3] for plan in self.seconds}
        prices = {plan: catalogue_prices.hours(*plan) for plan in plans}
        return tuple(
            Lifetime(*plan[:3], *prices[plan[:3]], plan.space_id, seconds, count)
            for plan, (seconds, count) in sorted(self.seconds.items())
            if prices[plan[:3]][1]
        )

    def plain(self) -> dict[str, Any]:
        """Return JSON values for the manifest; ``from_plain`` reads them."""
        return {
            "spaces": [{"id": s.id, "name": s.name, "type": s.type} for s in self.spaces],
            "seconds": [
                [*plan, seconds, count] for plan, (seconds, count) in sorted(self.seconds.items())
            ],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "Lived":
        """Return what ``plain`` gave, without the spans that only the gate looks at."""
        spaces = tuple(SpaceFact(**space) for space in plain["spaces"])
        seconds = {_Plan(*row[:4]): (row[4], row[5]) for row in plain["seconds"]}
        return cls(spaces, seconds)


def read(tenant: Tenant, period: Period, until: datetime | None = None) -> Lived:
    """Return what lived in the period, seen at one instant; seconds end at ``until`` at most."""
    existed = Q(deleted_at__isnull=True) | Q(deleted_at__gt=period.starts_at)
    # One statement, so that no deletion commits between a space and its addresses.
    joined = AddressSpace.objects.filter(existed, tenant=tenant, created_at__lt=period.ends_at)
    rows = list(joined.order_by("id").values(*_FIELDS, *_SPACE[2:], *_ADDRESS))
    spaces = {row["id"]: row for row in rows}
    lived = period.clip(None, until)
    seconds = _added_up(_lives(spaces.values(), rows), lived) if lived else {}
    return Lived(tuple(_fact(row, period) for row in spaces.values()), seconds)


_Life = tuple[_Plan, datetime | None, datetime | None]


def _lives(spaces: Iterable[dict[str, Any]], joined: Iterable[dict[str, Any]]) -> Iterable[_Life]:
    for rows, meter, fields in ((spaces, SPACE_HOURS, _SPACE), (joined, ADDRESS_HOURS, _ADDRESS)):
        for row in rows:
            since, deleted_at, key, version = (row[field] for field in fields)
            yield _Plan(meter, key, version, row["id"]), since, deleted_at


def _added_up(lives: Iterable[_Life], lived: Period) -> dict[_Plan, tuple[int, int]]:
    found: dict[_Plan, tuple[int, int]] = {}
    for plan, since, deleted_at in lives:
        span = lived.clip(since, deleted_at) if since else None
        if span is not None:
            seconds, count = found.get(plan, (0, 0))
            found[plan] = (seconds + span.seconds, count + 1)
    return found


def _fact(row: Mapping[str, Any], period: Period) -> SpaceFact:
    since = row["active_since"]
    alive = period.clip(since, row["deleted_at"]) if since else None
    return SpaceFact(row["id"], row["name"], row["type"], alive)
