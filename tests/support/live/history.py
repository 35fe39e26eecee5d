"""What the history of 100,000 addresses costs, 5 % of them active.

An hour of minutes and a day of quarters are written in full, so the tables have their rows and
whatever the updates left behind. The rest of the 24 hours and 30 days is extrapolated from that.
"""

import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.db import connection, transaction
from django.utils import timezone

from controlplane.demo.bench_results import Result
from tenants import reading_history
from tenants.live_readings import Gauges
from tenants.models import Address, AddressSpace, SpaceReading
from tenants.reading_history import MINUTES, QUARTERS, History, Step
from tests.support import domain
from tests.support.live import stored
from tests.support.live.figures import RUNS, best, figure
from workers.messaging.observed import AddressGauges, InstanceSnapshot
from workers.metering import live_rows
from workers.metering.live_rows import Cycle

_SPACES, _ADDRESSES = 50, 2_000
_ACTIVE = _SPACES * _ADDRESSES // 20
_BEGIN = datetime(2026, 1, 5, tzinfo=UTC)
_GIB = 2**30
Pick = Callable[[int], Sequence[str]]


@dataclass(frozen=True)
class _Written:
    """What one period of a table took: rows written, the seconds for them, and its bytes."""

    rows: int
    seconds: float
    bytes: int


def measure(_folder: Path) -> Iterator[Result]:
    """Write the newest readings of a cycle, then an hour of minutes and a day of quarters."""
    now = timezone.now()
    made = stored.spaces(domain.cast("business").tenant, _SPACES, _ADDRESSES, now)
    yield _cycle(made, now)
    all_ids = list(Address.objects.filter(space__in=made).values_list("id", flat=True))
    same = all_ids[::20]
    ways: dict[str, Pick] = {
        "always the same 5 %": lambda _: same,
        "any 5 %, others in each step": lambda _: random.sample(all_ids, _ACTIVE),
    }
    for way, pick in ways.items():
        load = os.getloadavg()[0]
        minutes = best(lambda: _period(MINUTES, pick), lambda one: one.seconds)  # noqa: B023
        quarters = _period(QUARTERS, pick)
        needed = _ACTIVE / 60 + _ACTIVE / 900
        more = f"{needed:.0f} /s are needed; quarters {quarters.rows / quarters.seconds:,.0f} /s"
        yield figure(
            f"history, {way}: rows of minutes written",
            minutes.rows / minutes.seconds,
            "/s",
            load=load,
            more=more,
        )
        of_day, of_month = minutes.bytes * 25 / _GIB, quarters.bytes * 31 / _GIB
        more = (
            f"minutes {of_day:.2f} GiB (25 times the hour of {minutes.bytes / 2**20:.0f} MiB that "
            f"was written), quarters {of_month:.2f} GiB (31 times the day of "
            f"{quarters.bytes / 2**20:.0f} MiB)"
        )
        yield figure(f"history, {way}: its size", of_day + of_month, "GiB", load=load, more=more)


def _cycle(made: Sequence[AddressSpace], now: datetime) -> Result:
    """Time one cycle of ``live_rows`` over all spaces: what a cycle adds to the sampler's work."""
    load, seconds = os.getloadavg()[0], []
    for number in range(1, RUNS + 1):
        began = time.monotonic()
        for space in made:
            active = set(random.sample(range(_ADDRESSES), _ADDRESSES // 20))
            gauges = {
                f"queue-{n:04}": AddressGauges(
                    90 + 20 * number * (n in active),
                    20 + 20 * number * (n in active),
                    depth=70,
                    stored_bytes=7000,
                    delivering=3,
                    consumers=2,
                    producers=1,
                    oldest_ms=int(timedelta(seconds=10 * number).total_seconds() * 1000),
                    expired=0,
                    dead_lettered=0,
                )
                for n in range(_ADDRESSES)
            }
            at = now + timedelta(seconds=10 * number)
            with transaction.atomic():
                live_rows.write(
                    [Cycle(space.id, at, {"broker-0": InstanceSnapshot("b", [], [], 0, gauges)})]
                )
        seconds.append(time.monotonic() - began)
    assert SpaceReading.objects.filter(space__in=made).count() == len(made)
    what = f"newest readings of {_SPACES * _ADDRESSES:,} addresses, 5 % changed, stored"
    more = f"{_SPACES} spaces one after the other; there is a cycle each 10 s"
    return figure(what, min(seconds), "s", load=load, more=more)


def _period(history: History, pick: Pick) -> _Written:
    """Write each step of the period that one row holds, and return what that took."""
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {history.table}")
    rows, seconds = 0, 0.0
    for position in range(history.steps):
        at = _BEGIN + position * history.step
        steps = [
            Step(address, at, 40 + position, 39, Gauges(position, 700 * position, consumers=2))
            for address in pick(position)
        ]
        began = time.monotonic()
        # The sampler writes the steps of one space at a time.
        for first in range(0, len(steps), _ADDRESSES // 20):
            reading_history.store(history, steps[first : first + _ADDRESSES // 20])
        seconds += time.monotonic() - began
        rows += len(steps)
        if position % 2:
            _clean(history)
    return _Written(rows, seconds, _bytes(history))


def _clean(history: History) -> None:
    """Do what the server does by itself once a minute, which has no time for it here."""
    with connection.cursor() as cursor:
        cursor.execute(f"VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) {history.table}")


def _bytes(history: History) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits"
            " WHERE inhparent = %s::regclass",
            [history.table],
        )
        return int(cursor.fetchone()[0])
