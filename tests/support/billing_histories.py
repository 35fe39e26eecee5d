"""Random histories of metered spaces, and how their samples may arrive in disorder.

Who uses it: the billing-law tests, in plain Python (tests/unit) and through Spark and Delta
(tests/suites/lakehouse). A history is made once from a seed: clients, crashes and deletions move
the true counters of brokers and routers; rounds show them to the product's collector, whose rows
are what lands. The true usage per cell is booked event by event while the history happens and
never derived from counters. A delivery is the same rows as a lakehouse may meet them: in other
batches, twice, late, in any order, with harmless losses.

Rules simulated (design of the lakehouse, section 2): what a round sees belongs to the bucket that
runs, at the round just after its end to the one that ended; a life that such a round sees for the
first time belongs to the one that begins; a close cuts the bucket; a gauge counts for two minutes
without a sample at most; a crash hides what was not yet sampled.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from workers.messaging.observed import AddressCounters, ConnectionSeen, InstanceSnapshot
from workers.metering import collector
from workers.metering.collector import Advance, Reading
from workers.metering.source_states import SampleRow, SourceState

TENANT = "ten_history"
BUCKET = timedelta(minutes=15)
TYPES = {"orders": "queue", "events": "topic", "rpc/a": "anycast", "é": "queue"}
_LONGEST_STEP_MS = 120_000
Row = dict[str, Any]


class CellKey(NamedTuple):
    """Key of one cell of gold usage."""

    tenant_id: str
    space_id: str
    address: str
    meter: str
    bucket_at: datetime


class SnapshotKey(NamedTuple):
    """Key of one snapshot: all its rows share it."""

    source: str
    boot_id: str
    seq: int


@dataclass(frozen=True)
class History:
    """What happened: each row once, in true order, and what the bill must say.

    ``cells`` is the exact gold usage (before, inside and after the period [starts_at, ends_at));
    ``hidden`` is what clients did and no sample ever saw, by (space, address, meter). ``rounds``
    are the rows as they landed; those of the snapshots in ``full`` are whole. ``states`` is what
    the collector remembers at the end, ended lives included.
    """

    seed: int
    tenant_id: str
    starts_at: datetime
    ends_at: datetime
    cells: Mapping[CellKey, int]
    hidden: Mapping[tuple[str, str, str], int]
    crashes: int
    rounds: tuple[tuple[Row, ...], ...]
    states: tuple[SourceState, ...]
    full: frozenset[SnapshotKey]

    @property
    def rows(self) -> list[Row]:
        return [row for rows in self.rounds for row in rows]

    def period_cells(self) -> dict[CellKey, int]:
        """Return the cells of the billed period alone."""
        return {
            key: quantity
            for key, quantity in self.cells.items()
            if self.starts_at <= key.bucket_at < self.ends_at
        }


@dataclass(frozen=True)
class Batch:
    """One landing file: an id and rows that carry it. The same batch may come twice."""

    id: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Delivery:
    """How a history arrived; ``lost`` snapshots never did, and a later full one covers each."""

    batches: tuple[Batch, ...]
    lost: frozenset[SnapshotKey]


@dataclass
class _Address:
    """One life of one address on one instance: its counters, and what no sample saw yet.

    ``life`` is the broker's id for it, empty where there is none. A topic's messages leave through
    the subscription ``queue``, which comes and goes with its own id.
    """

    type: str
    life: str
    messages_in: int = 0
    messages_out: int = 0
    queue: int = 1
    stored_bytes: int = 0
    seen_bytes: int = 0
    unseen: Counter[str] = field(default_factory=Counter)

    def counters(self, name: str) -> AddressCounters:
        queues = {f"s#{self.queue}": self.messages_out} if self.type == "topic" else {}
        return AddressCounters(
            name, self.messages_in, self.messages_out, self.stored_bytes, queues, self.life
        )


@dataclass
class _Instance:
    """One router or broker in one life; ``sampled_at`` None: nobody saw this life yet."""

    name: str
    boot: int = 0
    made: int = 0  # addresses made on it so far
    connections: int = 0
    seen_connections: int = 0
    opened: int = 0
    unseen_opened: int = 0
    sampled_at: datetime | None = None
    alive: bool = True
    addresses: dict[str, _Address] = field(default_factory=dict)

    def make(self, address: str) -> None:
        """Make the address, or recreate it; a router has no id for it."""
        self.made += 1
        kind = TYPES[address]
        life = "" if kind == "anycast" else str(self.made)
        self.addresses[address] = _Address(kind, life)

    def snapshot(self) -> InstanceSnapshot:
        counters = [counted.counters(name) for name, counted in self.addresses.items()]
        seen = [ConnectionSeen(str(n), "app", "c", "::1") for n in range(self.connections)]
        return InstanceSnapshot(f"{self.name}-boot-{self.boot}", counters, seen, self.opened)


@dataclass
class _Space:
    """One space: its instances, what the collector remembers of them, when it was read last."""

    id: str
    instances: list[_Instance]
    states: tuple[SourceState, ...] = ()
    ended: list[SourceState] = field(default_factory=list)
    is_sampled: bool = False


@dataclass(frozen=True)
class _Moment:
    """An instant in a bucket; ``next_at`` is where the bucket after it begins if it ends here."""

    now: datetime
    bucket_at: datetime
    next_at: datetime | None = None

    @property
    def is_cut(self) -> bool:
        return self.next_at is not None and self.next_at.minute % 15 + self.next_at.second > 0

    @property
    def bucket_of_new(self) -> datetime:
        """The bucket of a life that is seen for the first time."""
        return self.bucket_at if self.next_at is None or self.is_cut else self.next_at


def history(seed: int, *, n_buckets: int = 10, tenant_id: str = TENANT) -> History:
    """Return the history of ``seed``: equal seeds and arguments give equal histories."""
    return _Simulation(seed, n_buckets, tenant_id).run()


def in_order(past: History) -> Delivery:
    """Return the undisturbed delivery: the batches as they landed, in order, nothing twice."""
    batches = [_batch(f"b{n:05d}", rows) for n, rows in enumerate(past.rounds)]
    return Delivery(tuple(batches), frozenset())


def disturbed(past: History, seed: int, *, losses: bool = True) -> Delivery:
    """Return the same rows as a bad day delivers them.

    Other batch sizes, rows repeated under another batch id, whole batches repeated under the same
    id (a crash between file, outbox and commit), any order of batches and rows, hours of delay;
    with ``losses`` also snapshots that never arrive but have a later full one in their bucket.
    """
    rng = random.Random(f"delivery-{seed}")
    lost = _losses(past, rng) if losses else frozenset[SnapshotKey]()
    rows = [row for row in past.rows if snapshot_of(row) not in lost]
    rows += rng.choices(rows, k=rng.randint(0, len(rows) // 3))
    rng.shuffle(rows)
    batches = list(_split(rows, rng))
    batches += rng.choices(batches, k=rng.randint(1, 3))
    rng.shuffle(batches)
    return Delivery(tuple(batches), lost)


def snapshot_of(row: Row) -> SnapshotKey:
    """Return the snapshot that ``row`` belongs to."""
    return SnapshotKey(row["source"], row["boot_id"], row["seq"])


def _batch(batch_id: str, rows: Sequence[Row]) -> Batch:
    return Batch(batch_id, tuple({**row, "batch_id": batch_id} for row in rows))


def _split(rows: list[Row], rng: random.Random) -> Iterator[Batch]:
    number = 0
    while rows:
        size = rng.choice([1, 2, 5, 17, 60, 400])
        yield _batch(f"d{number:05d}", rows[:size])
        rows, number = rows[size:], number + 1


def _losses(past: History, rng: random.Random) -> frozenset[SnapshotKey]:
    """Pick snapshots that are not whole and have a whole one of their life after them."""
    whole: dict[tuple[str, str], int] = {}
    for key in past.full:
        whole[key.source, key.boot_id] = max(whole.get((key.source, key.boot_id), 0), key.seq)
    return frozenset(
        key
        for key in sorted({snapshot_of(row) for row in past.rows} - past.full)
        if key.seq < whole.get((key.source, key.boot_id), 0) and rng.random() < 0.3
    )


class _Simulation:
    """Plays one history. Every draw comes from one seeded generator, in a fixed order."""

    def __init__(self, seed: int, n_buckets: int, tenant_id: str) -> None:
        self.rng = random.Random(f"history-{seed}")
        self.seed = seed
        self.tenant_id = tenant_id
        # Two hours before midnight UTC: histories of 9 buckets and more cross a date partition.
        self.starts_at = datetime(2026, 7, 31, 22, tzinfo=UTC)
        self.ends_at = self.starts_at + n_buckets * BUCKET
        if self.rng.random() < 0.5:  # closed in the middle of a bucket
            self.ends_at -= timedelta(seconds=self.rng.randint(60, 840))
        self.rounds: list[tuple[Row, ...]] = []
        self.cells: Counter[CellKey] = Counter()
        self.hidden: Counter[tuple[str, str, str]] = Counter()
        self.crashes = 0
        self.full: set[SnapshotKey] = set()
        self.spaces = [self._space(number) for number in range(self.rng.randint(1, 2))]

    def run(self) -> History:
        for bucket_at, ends_at in self._buckets():
            self._play_bucket(bucket_at, ends_at)
        for space in self.spaces:
            self._land(space)
        return History(
            self.seed,
            self.tenant_id,
            self.starts_at,
            self.ends_at,
            {key: n for key, n in self.cells.items() if n},
            {key: n for key, n in self.hidden.items() if n},
            self.crashes,
            tuple(self.rounds),
            tuple(state for space in self.spaces for state in (*space.ended, *space.states)),
            frozenset(self.full),
        )

    def _space(self, number: int) -> _Space:
        names = ["router-0", "router-1", "broker-0"][: self.rng.randint(1, 3)]
        space = _Space(f"spc_{self.seed % 97:02d}{number}", [_Instance(name) for name in names])
        for instance in space.instances:
            for address in list(TYPES)[: self.rng.randint(1, len(TYPES))]:
                instance.make(address)
        return space

    def _buckets(self) -> Iterator[tuple[datetime, datetime]]:
        """Yield [start, end) of each bucket: one before the period, one after it."""
        start = self.starts_at - BUCKET
        while start < self.ends_at:
            end = min(start + BUCKET, self.ends_at)
            yield start, end
            start = end
        minutes_in = timedelta(minutes=start.minute % 15, seconds=start.second)
        yield start, start - minutes_in + BUCKET

    def _play_bucket(self, bucket_at: datetime, ends_at: datetime) -> None:
        # The round that ends the bucket before comes up to half a minute late.
        seconds = range(31, max(32, int((ends_at - bucket_at).total_seconds())))
        count = min(len(seconds), self.rng.randint(0, 3))
        for second in sorted(self.rng.sample(seconds, k=count)):
            self._happen(_Moment(bucket_at + timedelta(seconds=second), bucket_at))
        late = timedelta(seconds=self.rng.randint(0, 30))
        self._happen(_Moment(ends_at + late, bucket_at, ends_at))

    def _happen(self, moment: _Moment) -> None:
        """Let things happen in every space, then read it; the last round may end the bucket."""
        is_end = moment.next_at is not None
        now = moment.next_at - timedelta(seconds=1) if moment.next_at else moment.now
        before = _Moment(now, moment.bucket_at)
        for space in self.spaces:
            for instance in space.instances:
                for _ in range(self.rng.randint(0, 4)):
                    if instance.alive:
                        self._event(space, instance, before)
            # An instance that misses the end of a bucket has laws of its own (test_collector_laws).
            silent = {i.name for i in space.instances if not is_end and self._is(0.1)}
            self._round(space, moment, silent)
            if self._is(0.7):
                self._land(space)

    def _is(self, likely: float) -> bool:
        return self.rng.random() < likely

    def _event(self, space: _Space, instance: _Instance, moment: _Moment) -> None:
        draw = self.rng.random()
        if draw < 0.62:
            self._traffic(instance)
        elif draw < 0.79:
            self._connect(instance)
        elif draw < 0.82:
            self._resubscribe(space, instance)
        elif draw < 0.92:
            self._recreate(space, instance, moment)
        elif draw < 0.96:
            self._crash(space, instance)
        else:  # a planned restart, or scaled in: the last sample is taken
            self._round(space, moment)
            if draw < 0.99:
                self._reboot(instance)
            else:
                self._end(space, instance)

    def _traffic(self, instance: _Instance) -> None:
        counted = instance.addresses[self.rng.choice(sorted(instance.addresses))]
        came, went = self.rng.randint(0, 5000), self.rng.randint(0, 5000)
        counted.messages_in += came
        counted.messages_out += went
        counted.stored_bytes = self.rng.randint(0, 10**6) if counted.type == "queue" else 0
        counted.unseen.update(messages_in=came, messages_out=went)

    def _connect(self, instance: _Instance) -> None:
        opened = self.rng.randint(0, 6)
        instance.connections += opened - self.rng.randint(0, instance.connections)
        instance.opened += opened
        instance.unseen_opened += opened

    def _resubscribe(self, space: _Space, instance: _Instance) -> None:
        """The one subscription of a topic ends, and what it did unseen with it; another begins."""
        for name, counted in instance.addresses.items():
            if counted.type == "topic":
                self._hide(space, name, {"messages_out": counted.unseen.pop("messages_out", 0)})
                counted.messages_out, counted.queue = 0, counted.queue + 1

    def _recreate(self, space: _Space, instance: _Instance, moment: _Moment) -> None:
        """An address is deleted and made again: with a last sample or without, seen gone or not."""
        address = self.rng.choice(sorted(instance.addresses))
        if self._is(0.5):
            self._round(space, moment)
        counted = instance.addresses.pop(address)
        self._hide(space, address, counted.unseen)
        if counted.life == "" or self._is(0.3):
            self._round(space, moment)
        instance.make(address)

    def _crash(self, space: _Space, instance: _Instance) -> None:
        for address, counted in instance.addresses.items():
            self._hide(space, address, counted.unseen)
        self._hide(space, "", {"connections_opened": instance.unseen_opened})
        self.crashes += 1
        self._reboot(instance)

    def _hide(self, space: _Space, address: str, unseen: Mapping[str, int]) -> None:
        for meter, quantity in unseen.items():
            self.hidden[space.id, address, meter] += quantity

    def _reboot(self, instance: _Instance) -> None:
        instance.boot += 1
        instance.opened = instance.connections = 0
        instance.seen_connections = instance.unseen_opened = 0
        instance.sampled_at = None
        for address in list(instance.addresses):
            instance.make(address)

    def _end(self, space: _Space, instance: _Instance) -> None:
        instance.alive = False
        source = f"{space.id}/{instance.name}"
        [state] = [state for state in space.states if state.source == source]
        ended = collector.end(state)
        others = tuple(state for state in space.states if state.source != source)
        self._take(space, Advance((*others, *ended.states), ended.rows), is_full=True)

    def _round(self, space: _Space, moment: _Moment, silent: Iterable[str] = ()) -> None:
        """Show the counters to the collector, and book what it must have seen."""
        seen = [
            instance
            for instance in space.instances
            if instance.alive and instance.name not in silent
        ]
        snapshots = {instance.name: instance.snapshot() for instance in seen}
        reading = Reading(self.tenant_id, space.id, moment.now, snapshots, TYPES)
        cut_at = moment.next_at if moment.is_cut else None
        self._take(space, collector.advance(space.states, reading, cut_at=cut_at), is_full=True)
        for instance in seen:
            self._book_instance(space, instance, moment)
        if seen:
            bucket_at = moment.bucket_at if space.is_sampled else moment.bucket_of_new
            space.is_sampled = True
            key = CellKey(self.tenant_id, space.id, "", "peak_connections", bucket_at)
            self.cells[key] = max(self.cells[key], sum(instance.connections for instance in seen))

    def _land(self, space: _Space) -> None:
        steps = [collector.land(state) for state in space.states if state.unlanded]
        landed = tuple(state for step in steps for state in step.states)
        others = tuple(state for state in space.states if not state.unlanded)
        rows = tuple(row for step in steps for row in step.rows)
        self._take(space, Advance((*landed, *others), rows), is_full=False)

    def _take(self, space: _Space, step: Advance, *, is_full: bool) -> None:
        space.states = tuple(state for state in step.states if not state.ended)
        space.ended += [state for state in step.states if state.ended]
        rows = tuple(_row(row) for row in step.rows)
        if rows:
            self.rounds.append(rows)
        if is_full:
            self.full |= {snapshot_of(row) for row in rows}

    def _book_instance(self, space: _Space, instance: _Instance, moment: _Moment) -> None:
        is_new = instance.sampled_at is None
        elapsed = min(_ms(moment.now - (instance.sampled_at or moment.now)), _LONGEST_STEP_MS)
        bucket_at = moment.bucket_of_new if is_new else moment.bucket_at
        opened, connected = instance.unseen_opened, instance.seen_connections * elapsed
        used = {"connections_opened": opened, "connection_ms": connected}
        self._book(space, "", bucket_at, used)
        for name, counted in instance.addresses.items():
            stored = {"stored_byte_ms": counted.seen_bytes * elapsed}
            self._book(space, name, bucket_at, {**counted.unseen, **stored})
            counted.unseen, counted.seen_bytes = Counter(), counted.stored_bytes
        instance.unseen_opened, instance.seen_connections = 0, instance.connections
        instance.sampled_at = moment.now

    def _book(
        self, space: _Space, address: str, bucket_at: datetime, used: Mapping[str, int]
    ) -> None:
        for meter, quantity in used.items():
            self.cells[CellKey(self.tenant_id, space.id, address, meter, bucket_at)] += quantity


def _row(sample: SampleRow) -> Row:
    return {"batch_id": "", **sample.columns, "date": sample.date}


def _ms(span: timedelta) -> int:
    return span // timedelta(milliseconds=1)
