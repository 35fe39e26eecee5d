"""Tries a spend cap on last month, before a tenant saves it. Writes nothing."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from plans.invoicing import facts, open_periods, rated_period, read_once
from plans.invoicing.billing_inputs import KnownLifetimes
from plans.invoicing.facts import Facts
from plans.quotas.resources import AtQuota
from plans.rating.month_so_far import MonthSoFar
from plans.rating.periods import Period, month_of
from plans.usage import reading
from plans.usage.meters import CONNECTIONS_OPENED, MESSAGES_IN, MESSAGES_OUT
from plans.usage.reading import Figure, SeriesQuery
from tenants.models import Tenant

# What each action refuses, or with a throttle delays, from the moment that it acts.
AFFECTED: Mapping[AtQuota, Sequence[str]] = {
    AtQuota.NOTIFY: (),
    AtQuota.THROTTLE: (MESSAGES_IN, CONNECTIONS_OPENED),
    AtQuota.WITHDRAW_SEND: (MESSAGES_IN,),
    AtQuota.REFUSE_CONNECTIONS: (MESSAGES_IN, MESSAGES_OUT, CONNECTIONS_OPENED),
}
_HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Simulation:
    """What a cap would have done in ``month``, on the present plan and at the usage of that month.

    * ``fee_minor``: what a month without spaces and usage costs, with tax.
    * ``days``: (local day, what the month had cost at its end, with tax), the first day first.
    * ``acted_at``: the end of the hour in which the cap was reached; None: it never was.
    * ``affected``: {meter: quantity} counted in the hours after ``acted_at`` that the action would
      have refused, or with a throttle delayed.
    """

    month: Period
    currency: str
    cap_minor: int
    action: AtQuota
    fee_minor: int
    days: tuple[tuple[date, int], ...]
    acted_at: datetime | None
    affected: Mapping[str, int]

    @property
    def is_below_fee(self) -> bool:
        """Whether the fee alone reaches the cap, on the first day of each month."""
        return self.fee_minor >= self.cap_minor

    @property
    def spent_minor(self) -> int:
        """What the whole month had cost, with tax."""
        return self.days[-1][1]


def of_last_month(tenant: Tenant, cap_minor: int, action: str, now: datetime) -> Simulation:
    """Return what the cap would have done in the billing month before the one of ``now``.

    The month is priced at the end of each day. On the day in which the cap acts, it is also priced
    at the end of each hour until then. One query reads the lifetimes for all days, one those for
    all hours, and one each version of a space plan or address plan in use.

    Raises:
        NoSubscription: the tenant has no plan.
        Unavailable: no catalog is published.
    """
    with read_once.kept():
        return _Month.read(tenant, now).simulate(cap_minor, AtQuota(action))


@dataclass(frozen=True)
class _Month:
    """Last month of a tenant. ``hours`` is the usage of each hour that has any: {meter: n}."""

    tenant: Tenant
    facts: Facts
    zone: ZoneInfo
    hours: Mapping[datetime, Mapping[str, int]]

    @classmethod
    def read(cls, tenant: Tenant, now: datetime) -> "_Month":
        found = facts.gather(tenant, open_periods.running(tenant, now), until=now)
        # Any instant of the month before. A month begins at the end of the one before it.
        month = month_of(found.month.starts_at - timedelta(seconds=1), found.time_zone)
        segment = replace(found.segments[-1], period=month, runs_on=False)
        whole = replace(
            found,
            period=month,
            month=month,
            so_far=MonthSoFar(),
            segments=(segment,),
            corrections=(),
        )
        query = SeriesQuery("", month.starts_at, month.ends_at, "hour")
        hours: dict[datetime, dict[str, int]] = {}
        for meter, steps in reading.every_series(tenant.id, query).items():
            for at, quantity in steps.items():
                hours.setdefault(at, {})[meter] = quantity
        return cls(tenant, whole, ZoneInfo(found.time_zone), hours)

    def simulate(self, cap_minor: int, action: AtQuota) -> Simulation:
        month = self.facts.month
        ends = list(self._day_ends())
        spent = list(self._spent(ends))
        reached = next((n for n, amount in enumerate(spent) if amount >= cap_minor), None)
        acted_at = None
        # Only this day by the hour, because each price takes time.
        if reached is not None:
            start = ends[reached - 1] if reached else month.starts_at
            acted_at = self._hour_that_reaches(cap_minor, start, ends[reached])
        # A day ends when the next one begins, so an hour earlier is still inside it.
        local = [(end - _HOUR).astimezone(self.zone).date() for end in ends]
        return Simulation(
            month,
            self.facts.seller_rule.currency,
            cap_minor,
            action,
            self._fee(),
            tuple(zip(local, spent, strict=True)),
            acted_at,
            self._after(acted_at, AFFECTED[action]),
        )

    def _day_ends(self) -> Iterable[datetime]:
        month = self.facts.month
        day = month.starts_at.astimezone(self.zone).date()
        while True:
            day += timedelta(days=1)
            # Local midnight: a day on which the clock changes has 23 or 25 hours.
            end = datetime(day.year, day.month, day.day, tzinfo=self.zone)
            yield min(end, month.ends_at).astimezone(month.ends_at.tzinfo)
            if end >= month.ends_at:
                return

    def _hour_that_reaches(self, cap_minor: int, start: datetime, end: datetime) -> datetime:
        hours = [start]
        while hours[-1] < end:
            hours.append(min(hours[-1] + _HOUR, end))
        spent = zip(hours[1:], self._spent(hours[1:]), strict=True)
        return next((hour for hour, amount in spent if amount >= cap_minor), end)

    def _spent(self, instants: Sequence[datetime]) -> Iterator[int]:
        """Return what the month had cost at each instant, with the fee of the whole month and tax.

        One query reads the lifetimes of all of them.
        """
        known = KnownLifetimes.read_until_each(self.tenant, self.facts.month, instants)
        return map(self._price, instants, known)

    def _fee(self) -> int:
        return self._price(self.facts.month.starts_at, KnownLifetimes((), {}))

    def _price(self, until: datetime, known: KnownLifetimes) -> int:
        used: dict[str, int] = {}
        for at, quantities in self.hours.items():
            if at < until:
                for meter, n in quantities.items():
                    used[meter] = reading.merged(meter, used.get(meter, 0), n)
        figures = [Figure("", "", meter, n) for meter, n in sorted(used.items())]
        lifetimes = known.lifetimes(self.facts.seller_rule.currency)
        priced = replace(self.facts, known_lifetimes=known, lifetimes=lifetimes)
        rating = rated_period.rate(priced, lambda window: figures).rating
        return rating.net_minor + rating.tax_minor

    def _after(self, acted_at: datetime | None, meters: Sequence[str]) -> dict[str, int]:
        if acted_at is None:
            return dict.fromkeys(meters, 0)
        found: Counter[str] = Counter(dict.fromkeys(meters, 0))
        for at, quantities in self.hours.items():
            if at >= acted_at:
                found.update({meter: quantities.get(meter, 0) for meter in meters})
        return dict(found)
