"""Which spaces and addresses lived in a period and for how long: read once, kept in the manifest.

A space that is being deleted gets its last instant after others read it; so what one statement saw
is what is billed, and ``verify`` takes it from the manifest instead of reading rows again.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, Q
from django.db.models.functions import JSONObject

from plans.invoicing import catalogue_prices
from plans.meters import ADDRESS_HOURS, SPACE_HOURS
from plans.periods import Period
from plans.pricing import Lifetime
from tenants.models import AddressSpace, FormerSpacePlan, Tenant

_FIELDS = ("id", "name", "type", "active_since", "deleted_at")
_SPACE = ("active_since", "deleted_at", "space_plan__key", "space_plan__version")
# The plans that a space had before, the first one first: none but those who changed have any.
_FORMER = ArraySubquery(
    FormerSpacePlan.objects.filter(space=OuterRef("pk"))
    .order_by("ended_at")
    .values(
        plan=JSONObject(key="space_plan__key", version="space_plan__version", ended_at="ended_at")
    )
)
_ADDRESS = (
    "addresses__id",
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
    # One statement, so that no deletion commits between a space and its addresses, and no change
    # of plan between a plan and the one before.
    joined = AddressSpace.objects.filter(existed, tenant=tenant, created_at__lt=period.ends_at)
    rows = list(joined.order_by("id").values(*_FIELDS, *_SPACE[2:], *_ADDRESS, former=_FORMER))
    spaces = {row["id"]: row for row in rows}
    lived = period.clip(None, until)
    seconds = _added_up(_lives(spaces.values(), rows), lived) if lived else {}
    return Lived(tuple(_fact(row, period) for row in spaces.values()), seconds)


class _Life(NamedTuple):
    """One span of a space or address under one plan."""

    plan: _Plan
    id: str
    since: datetime | None
    until: datetime | None


def _lives(spaces: Iterable[dict[str, Any]], joined: Iterable[dict[str, Any]]) -> Iterator[_Life]:
    for row in spaces:
        yield from _space_lives(row)
    for row in joined:
        id, since, deleted_at, key, version = (row[field] for field in _ADDRESS)
        yield _Life(_Plan(ADDRESS_HOURS, key, version, row["id"]), id, since, deleted_at)


def _space_lives(row: Mapping[str, Any]) -> Iterator[_Life]:
    """Yield what the space was under each of its plans, one after the other."""
    since, deleted_at, key, version = (row[field] for field in _SPACE)
    for each in row["former"]:
        ended_at = datetime.fromisoformat(each["ended_at"])
        plan = _Plan(SPACE_HOURS, each["key"], each["version"], row["id"])
        yield _Life(plan, row["id"], since, ended_at)
        since = max(since, ended_at) if since else None
    yield _Life(_Plan(SPACE_HOURS, key, version, row["id"]), row["id"], since, deleted_at)


def _added_up(lives: Iterable[_Life], lived: Period) -> dict[_Plan, tuple[int, int]]:
    """Return the seconds of each plan and how many had it; who had it twice is one."""
    seconds: dict[_Plan, int] = {}
    who: dict[_Plan, set[str]] = {}
    for plan, id, since, until in lives:
        span = lived.clip(since, until) if since else None
        if span is not None:
            seconds[plan] = seconds.get(plan, 0) + span.seconds
            who.setdefault(plan, set()).add(id)
    return {plan: (each, len(who[plan])) for plan, each in seconds.items()}


def _fact(row: Mapping[str, Any], period: Period) -> SpaceFact:
    since = row["active_since"]
    alive = period.clip(since, row["deleted_at"]) if since else None
    return SpaceFact(row["id"], row["name"], row["type"], alive)
