"""Reads what an invoice bills besides usage: catalog rows, and lifetimes of spaces and addresses.

Returns the plain values that ``plans.rating`` takes. Plan versions never change, so they are read
again whenever an invoice is recomputed. Rows of spaces and addresses do change: a space in deletion
gets its ``deleted_at`` later. So one statement reads all lifetimes at the close, the manifest
stores them, and a verification takes them from the manifest.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import (
    BigIntegerField,
    Count,
    DateTimeField,
    F,
    Func,
    OuterRef,
    Q,
    Sum,
    Value,
)
from django.db.models.functions import Coalesce, Greatest, JSONObject, Least

from plans.catalog import definitions, publishing
from plans.catalog.definitions import PlanDefinition
from plans.invoicing.read_once import read_once
from plans.models import AddressPlan, Plan, SpacePlan
from plans.rating.billable import Lifetime, Segment
from plans.rating.month_so_far import MonthSoFar
from plans.rating.periods import Period
from plans.rating.price_rules import PriceRule
from plans.usage import meters
from plans.usage.meters import ADDRESS_HOURS, LIFETIMES, SPACE_HOURS, Model
from tenants.models import Address, AddressSpace, FormerSpacePlan, Tenant

TITLES = {meter.slug: meter.line_title for meter in meters.REGISTRY if meter.line_title}
# Takes what ``hour_price`` takes.
PriceOf = Callable[[str, str, int, str], tuple[str, Decimal]]
_SPACE_COLUMNS = ("id", "name", "type", "active_since", "deleted_at")
_PLAN_COLUMNS = ("space_plan__key", "space_plan__version")
# The former plans of a space, oldest first. Empty if the space never changed its plan.
_FORMER = ArraySubquery(
    FormerSpacePlan.objects.filter(space=OuterRef("pk"))
    .order_by("ended_at")
    .values(
        plan=JSONObject(key="space_plan__key", version="space_plan__version", ended_at="ended_at")
    )
)


def _addresses(billed: Period) -> ArraySubquery:
    """Return how long the addresses of a space were Active inside ``billed``, by plan version.

    The database adds up, because a tenant may have 100,000 addresses. Like ``Period.seconds``, it
    truncates both bounds to seconds first.
    """
    until = Value(billed.ends_at, DateTimeField())
    spans = Address.objects.filter(space=OuterRef("pk"), active_since__isnull=False).annotate(
        begins=Greatest("active_since", Value(billed.starts_at, DateTimeField())),
        ends=Least(Coalesce("deleted_at", until), until),
    )
    rows = spans.filter(begins__lt=F("ends")).order_by()
    summed = rows.values("address_plan__key", "address_plan__version").annotate(
        seconds=Sum(_epoch("ends") - _epoch("begins")), count=Count("id")
    )
    return ArraySubquery(
        summed.values(
            plan=JSONObject(
                key="address_plan__key",
                version="address_plan__version",
                seconds="seconds",
                count="count",
            )
        )
    )


def _epoch(column: str) -> Func:
    template = "floor(extract(epoch FROM %(expressions)s))::bigint"
    return Func(column, template=template, output_field=BigIntegerField())


def segment(plan: Plan, span: Period, currency: str, *, runs_on: bool) -> Segment:
    """Return the segment of a plan version over ``span``: fee and price rules, without usage.

    ``runs_on``: the plan is still in force at the end of the invoice's period.

    Raises:
        NotPriced: the plan version has no prices in ``currency``.
    """
    found, rules = _definition(plan, currency)
    return Segment(
        span,
        plan.key,
        plan.version,
        plan.title,
        found.monthly_fee_minor,
        rules,
        included_hours={
            meter: found.included[meter] for meter in LIFETIMES if meter in found.included
        },
        runs_on=runs_on,
    )


@read_once
def _definition(plan: Plan, currency: str) -> tuple[PlanDefinition, tuple[PriceRule, ...]]:
    """Return the definition of a plan version in a currency, and its price rules."""
    found = publishing.plan_in(plan, currency)
    # Sorted, because the rules decide the order of invoice lines, and jsonb keeps no order of keys.
    return found, tuple(
        PriceRule(
            meter,
            TITLES.get(meter, meter),
            Model(price.model),
            price.unit,
            price.base_per_unit,
            price.tiers,
            found.included.get(meter, 0),
            is_peak=meters.BY_SLUG[meter].kind is meters.Kind.PEAK,
        )
        for meter, price in sorted(found.prices.items())
    )


def month_so_far(plain: Mapping[str, Any], currency: str) -> MonthSoFar:
    """Return the state of a month that a document or a manifest stores (``MonthSoFar.plain``).

    ``currency`` is the one of the document.

    The stored form names plans by key and version. Their fees and prices are read from the rows.
    """

    def segment_of(key: str, version: int, span: Period) -> Segment:
        # Only ended segments are stored. If the plan goes on, a later segment of it says so.
        return segment(_plan_row(key, version), span, currency, runs_on=False)

    return MonthSoFar.from_plain(plain, segment_of)


@read_once
def _plan_row(key: str, version: int) -> Plan:
    return Plan.objects.get(key=key, version=version)


@read_once
def hour_price(meter: str, key: str, version: int, currency: str) -> tuple[str, Decimal]:
    """Return (invoice line title, hourly price) of one version of a space or address plan.

    With the meter SPACE_HOURS, ``key`` names a space plan, with any other an address plan. The
    price zero means free.

    Raises:
        NotPriced: the plan version has no price in ``currency``.
    """
    if meter == SPACE_HOURS:
        space_plan = SpacePlan.objects.get(key=key, version=version)
        sold = publishing.space_plan_definition(space_plan)
        return f"Space hours, {space_plan.title}", definitions.hour_price_in(sold, currency)
    address_plan = AddressPlan.objects.get(key=key, version=version)
    offered = publishing.address_plan_definition(address_plan)
    price = definitions.hour_price_in(offered, currency)
    return f"Address hours, {address_plan.title}", price


@dataclass(frozen=True)
class SpaceFact:
    """One space that existed in the period.

    ``alive`` is the part of the period between the space's first time Active and its deletion. It
    is None if the space was not Active in the period, or if this value comes from a manifest.
    """

    id: str
    name: str
    type: str
    alive: Period | None = None


class _Plan(NamedTuple):
    """The key by which active seconds are summed: lifetime meter, plan version and space."""

    meter: str
    plan: str
    plan_version: int
    space_id: str


class Span(NamedTuple):
    """The time that one space was Active on one plan version.

    ``id`` is the id of the space. ``since`` None: it was never Active. ``until`` None: it still is
    on the plan. If ``until`` is not after ``since``, the span is empty.
    """

    plan: _Plan
    id: str
    since: datetime | None
    until: datetime | None

    @classmethod
    def of_space(cls, row: Mapping[str, Any]) -> "Iterator[Span]":
        """Yield the span of a space on each of its former plans, oldest first, then on its plan.

        ``row`` has the columns that ``KnownLifetimes.read`` selects.
        """
        id, since = row["id"], row["active_since"]
        for former in row["former"]:
            ended_at = datetime.fromisoformat(former["ended_at"])
            yield cls(_Plan(SPACE_HOURS, former["key"], former["version"], id), id, since, ended_at)
            # ``max``, because a plan may have ended before the space first became Active. Then this
            # plan's span is empty, and the next one begins when the space became Active.
            since = max(since, ended_at) if since else None
        key, version = (row[column] for column in _PLAN_COLUMNS)
        yield cls(_Plan(SPACE_HOURS, key, version, id), id, since, row["deleted_at"])


@dataclass(frozen=True)
class KnownLifetimes:
    """The spaces that existed in a period, and how long they and their addresses were Active.

    ``seconds`` is {key: (active seconds, number of spaces or addresses)}; a key is a lifetime meter
    with a plan version and a space.
    """

    spaces: tuple[SpaceFact, ...]
    seconds: Mapping[_Plan, tuple[int, int]]

    @classmethod
    def read(
        cls, tenant: Tenant, period: Period, until: datetime | None = None
    ) -> "KnownLifetimes":
        """Read the tenant's lifetimes in the period, as ``read_each`` does."""
        return cls.read_each([tenant], period, until)[tenant.id]

    @classmethod
    def read_each(
        cls, tenants: Sequence[Tenant], period: Period, until: datetime | None = None
    ) -> "dict[str, KnownLifetimes]":
        """Read the lifetimes of each tenant in the period, in one statement; by the tenant's id.

        Includes the time in which a space is being deleted. Time after ``until`` does not count
        (None: all time in the period counts).
        """
        return cls._read(tenants, period, [until])[0]

    @classmethod
    def read_until_each(
        cls, tenant: Tenant, period: Period, instants: Sequence[datetime]
    ) -> "list[KnownLifetimes]":
        """Read the tenant's lifetimes until each of ``instants``, as ``read`` does, at once."""
        return [found[tenant.id] for found in cls._read([tenant], period, instants)]

    @classmethod
    def _read(
        cls, tenants: Sequence[Tenant], period: Period, instants: Sequence[datetime | None]
    ) -> "list[dict[str, KnownLifetimes]]":
        existed = Q(deleted_at__isnull=True) | Q(deleted_at__gt=period.starts_at)
        billed = [period.clip(None, until) for until in instants]
        used = {f"used_{n}": _addresses(span or period) for n, span in enumerate(billed)}
        # One statement sees one snapshot: no deletion can commit between reading a space and its
        # addresses, and no change of plan between reading the current and the former plans.
        rows = (
            AddressSpace.objects.filter(existed, tenant__in=tenants, created_at__lt=period.ends_at)
            .order_by("id")
            .values("tenant_id", *_SPACE_COLUMNS, *_PLAN_COLUMNS, former=_FORMER, **used)
        )
        of_tenants: dict[str, list[dict[str, Any]]] = {tenant.id: [] for tenant in tenants}
        for row in rows:
            of_tenants[row["tenant_id"]].append(row)
        return [
            {id: cls._of_rows(mine, period, span, name) for id, mine in of_tenants.items()}
            for name, span in zip(used, billed, strict=True)
        ]

    @classmethod
    def _of_rows(
        cls, rows: Iterable[Mapping[str, Any]], period: Period, billed: Period | None, used: str
    ) -> "KnownLifetimes":
        """Return the lifetimes of ``rows``; those of addresses are in their column ``used``."""
        facts: list[SpaceFact] = []
        spans: list[Span] = []
        of_addresses: dict[_Plan, tuple[int, int]] = {}
        for row in rows:
            since = row["active_since"]
            alive = period.clip(since, row["deleted_at"]) if since else None
            facts.append(SpaceFact(row["id"], row["name"], row["type"], alive))
            spans += Span.of_space(row)
            for hours in row[used]:
                plan = _Plan(ADDRESS_HOURS, hours["key"], hours["version"], row["id"])
                of_addresses[plan] = (hours["seconds"], hours["count"])
        seconds = {**cls.seconds_of(spans, billed), **of_addresses} if billed else {}
        return cls(tuple(facts), seconds)

    @staticmethod
    def seconds_of(spans: Iterable[Span], billed: Period) -> dict[_Plan, tuple[int, int]]:
        """Return {key: (seconds inside ``billed``, number of spaces)} for ``spans``.

        Leaves out keys without any time inside ``billed``.
        """
        seconds: dict[_Plan, int] = {}
        ids: dict[_Plan, set[str]] = {}
        for plan, id, since, until in spans:
            span = billed.clip(since, until) if since else None
            if span is not None:
                seconds[plan] = seconds.get(plan, 0) + span.seconds
                # A set: a space that left a plan and came back has two spans, but counts once.
                ids.setdefault(plan, set()).add(id)
        return {plan: (total, len(ids[plan])) for plan, total in seconds.items()}

    def lifetimes(
        self,
        currency: str,
        price_of: PriceOf | None = None,
    ) -> tuple[Lifetime, ...]:
        """Return the lifetimes with titles and hourly prices.

        ``price_of`` takes what ``hour_price`` takes, which it replaces; None: prices are read from
        the rows of plans. Lifetimes on plans that cost nothing are left out.
        """
        plans = {plan[:3] for plan in self.seconds}
        prices = {plan: (price_of or hour_price)(*plan, currency) for plan in plans}
        return tuple(
            Lifetime(*plan[:3], *prices[plan[:3]], plan.space_id, seconds, count)
            for plan, (seconds, count) in sorted(self.seconds.items())
            if prices[plan[:3]][1]
        )

    def plain(self) -> dict[str, Any]:
        """Return JSON values for the manifest, without the ``alive`` spans of spaces."""
        return {
            "spaces": [{"id": s.id, "name": s.name, "type": s.type} for s in self.spaces],
            "seconds": [
                [*plan, seconds, count] for plan, (seconds, count) in sorted(self.seconds.items())
            ],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "KnownLifetimes":
        """Return the lifetimes from the result of ``plain``; ``alive`` is None in each space."""
        spaces = tuple(SpaceFact(**space) for space in plain["spaces"])
        seconds = {_Plan(*row[:4]): (row[4], row[5]) for row in plain["seconds"]}
        return cls(spaces, seconds)
