"""Reads how long spaces and addresses were active in a period; the manifest stores the result.

Rows change after they are read: a space in deletion gets its ``deleted_at`` later. So an invoice
bills what one statement read, and ``verify`` takes that from the manifest instead of the rows.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, Q
from django.db.models.functions import JSONObject

from plans.invoicing import catalog_prices
from plans.rating.periods import Period
from plans.rating.pricing import Lifetime
from plans.usage.meters import ADDRESS_HOURS, SPACE_HOURS
from tenants.models import AddressSpace, FormerSpacePlan, Tenant

_FIELDS = ("id", "name", "type", "active_since", "deleted_at")
_SPACE = ("active_since", "deleted_at", "space_plan__key", "space_plan__version")
# The former plans of a space, oldest first; empty unless the space changed its plan.
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
    """One space that existed in the period; ``alive`` is the part in which it was Active."""

    id: str
    name: str
    type: str
    alive: Period | None = None


class _Plan(NamedTuple):
    """The key by which seconds are summed: a meter, a plan version, a space."""

    meter: str
    plan: str
    plan_version: int
    space_id: str


@dataclass(frozen=True)
class KnownLifetimes:
    """The spaces of a period, and {key: (active seconds, number of spaces or addresses)}."""

    spaces: tuple[SpaceFact, ...]
    seconds: Mapping[_Plan, tuple[int, int]]

    def lifetimes(self) -> tuple[Lifetime, ...]:
        """Return the priced lifetimes; those of free plans are left out."""
        plans = {plan[:3] for plan in self.seconds}
        prices = {plan: catalog_prices.hours(*plan) for plan in plans}
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
    def from_plain(cls, plain: Mapping[str, Any]) -> "KnownLifetimes":
        """Return the lifetimes from the result of ``plain``; it has no ``alive`` spans."""
        spaces = tuple(SpaceFact(**space) for space in plain["spaces"])
        seconds = {_Plan(*row[:4]): (row[4], row[5]) for row in plain["seconds"]}
        return cls(spaces, seconds)


def read(tenant: Tenant, period: Period, until: datetime | None = None) -> KnownLifetimes:
    """Read the lifetimes of the period in one statement; seconds end at ``until`` at the latest."""
    existed = Q(deleted_at__isnull=True) | Q(deleted_at__gt=period.starts_at)
    # One statement sees one snapshot: no deletion can commit between reading a space and its
    # addresses, and no change of plan between reading the current and the former plans.
    joined = AddressSpace.objects.filter(existed, tenant=tenant, created_at__lt=period.ends_at)
    rows = list(joined.order_by("id").values(*_FIELDS, *_SPACE[2:], *_ADDRESS, former=_FORMER))
    spaces = {row["id"]: row for row in rows}  # the join repeats a space for each address
    billed = period.clip(None, until)
    seconds = _added_up(_lifetimes(spaces.values(), rows), billed) if billed else {}
    return KnownLifetimes(tuple(_fact(row, period) for row in spaces.values()), seconds)


class _Lifetime(NamedTuple):
    """One span of a space or address under one plan."""

    plan: _Plan
    id: str
    since: datetime | None
    until: datetime | None


def _lifetimes(
    spaces: Iterable[dict[str, Any]], joined: Iterable[dict[str, Any]]
) -> Iterator[_Lifetime]:
    for row in spaces:
        yield from _space_lifetimes(row)
    for row in joined:
        id, since, deleted_at, key, version = (row[field] for field in _ADDRESS)
        yield _Lifetime(_Plan(ADDRESS_HOURS, key, version, row["id"]), id, since, deleted_at)


def _space_lifetimes(row: Mapping[str, Any]) -> Iterator[_Lifetime]:
    """Yield the span of the space under each of its plans, oldest first."""
    since, deleted_at, key, version = (row[field] for field in _SPACE)
    for former in row["former"]:
        ended_at = datetime.fromisoformat(former["ended_at"])
        plan = _Plan(SPACE_HOURS, former["key"], former["version"], row["id"])
        yield _Lifetime(plan, row["id"], since, ended_at)
        # ``max``: a plan may have ended before the space first became Active.
        since = max(since, ended_at) if since else None
    yield _Lifetime(_Plan(SPACE_HOURS, key, version, row["id"]), row["id"], since, deleted_at)


def _added_up(spans: Iterable[_Lifetime], billed: Period) -> dict[_Plan, tuple[int, int]]:
    """Return the seconds of each key and how many different spaces or addresses they are from."""
    seconds: dict[_Plan, int] = {}
    ids: dict[_Plan, set[str]] = {}
    for plan, id, since, until in spans:
        span = billed.clip(since, until) if since else None
        if span is not None:
            seconds[plan] = seconds.get(plan, 0) + span.seconds
            ids.setdefault(plan, set()).add(id)
    return {plan: (total, len(ids[plan])) for plan, total in seconds.items()}


def _fact(row: Mapping[str, Any], period: Period) -> SpaceFact:
    since = row["active_since"]
    alive = period.clip(since, row["deleted_at"]) if since else None
    return SpaceFact(row["id"], row["name"], row["type"], alive)
