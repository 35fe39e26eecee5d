"""Random histories of metered spaces, and the wild ways in which their samples may arrive.

Who uses it: the billing-law tests, in plain Python (tests/unit/plans_billing) and through Spark and
Delta (tests/lakehouse). A history is made once from a seed: rows in exactly the columns of
``lakehouse/bronze_schema.json`` and the true usage per cell, which is booked event by event while
the history happens and never derived from counters. A delivery is the same rows as a lakehouse may
meet them: in other batches, twice, late, in any order, with harmless losses.

Rules simulated (design of the lakehouse, section 2): cumulative snapshots; ``boot_id`` one life of
a source; ``epoch`` one life of an address in it; a row only where a counter moved plus a heartbeat
row (address ''); a full snapshot at each bucket's end and before a teardown; buckets of 15 minutes,
cut short at the period's end; a crash hides what was not yet sampled.
"""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

TENANT = "ten_history"
BUCKET = timedelta(minutes=15)
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
class Crash:
    """A life that ended without a last sample."""

    source: str
    boot_id: str
    last_sample_at: datetime | None


@dataclass(frozen=True)
class History:
    """What happened: each row once, in true order, and what the bill must say.

    ``cells`` is the exact gold usage (before, inside and after the period [starts_at, ends_at));
    ``hidden`` is what clients did and no sample ever saw, by (space, address, meter).
    """

    seed: int
    starts_at: datetime
    ends_at: datetime
    rows: tuple[Row, ...]
    cells: Mapping[CellKey, int]
    hidden: Mapping[tuple[str, str, str], int]
    crashes: tuple[Crash, ...]
    full: frozenset[SnapshotKey]

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
class _AddressLife:
    """Counters of one address on one instance inside one epoch, and what no sample saw yet."""

    type: str
    epoch: int = 0
    messages_in: int = 0
    messages_out: int = 0
    stored_bytes: int = 0
    seen_bytes: int = 0
    stored_byte_ms: int = 0
    moved: bool = False
    unseen: Counter[str] = field(default_factory=Counter)


@dataclass
class _Instance:
    """One router or broker in one life."""

    space_id: str
    name: str
    boot: int = 0
    seq: int = 0
    connections: int = 0
    seen_connections: int = 0
    opened: int = 0
    connection_ms: int = 0
    sampled_at: datetime | None = None
    alive: bool = True
    unseen_opened: int = 0
    addresses: dict[str, _AddressLife] = field(default_factory=dict)

    @property
    def source(self) -> str:
        return f"{self.space_id}/{self.name}"

    @property
    def boot_id(self) -> str:
        return f"{self.name}-boot-{self.boot}"


def history(seed: int, *, n_buckets: int = 10, tenant_id: str = TENANT) -> History:
    """Return the history of ``seed``: equal seeds and arguments give equal histories."""
    return _Simulation(seed, n_buckets, tenant_id).run()


def in_order(past: History) -> Delivery:
    """Return the undisturbed delivery: one batch a round, in order, nothing twice."""
    rounds: dict[datetime, list[Row]] = {}
    for row in past.rows:
        rounds.setdefault(row["taken_at"], []).append(row)
    batches = [_batch(f"b{n:05d}", rows) for n, rows in enumerate(rounds.values())]
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


def without_end_of_life(past: History, source: str, boot_id: str) -> list[Row]:
    """Return the rows without the last snapshot of a life: a harmful hole at its end.

    Provable only against the collector's own count of seq; the gate must hold on it.
    """
    seqs = [r["seq"] for r in past.rows if (r["source"], r["boot_id"]) == (source, boot_id)]
    last = SnapshotKey(source, boot_id, max(seqs))
    return [row for row in past.rows if snapshot_of(row) != last]


def with_fall(past: History) -> tuple[list[Row], Row]:
    """Return the rows with one counter falling inside a life, and the row that falls."""
    rows = [dict(row) for row in past.rows]
    grown: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        key = (row["source"], row["boot_id"], row["address"], row["epoch"])
        if row["address"] and row["messages_in"] > 0 and key in grown:
            row["messages_in"] = grown[key]["messages_in"] - 1
            return rows, row
        if row["address"] and row["messages_in"] > 0:
            grown[key] = row
    raise ValueError("this history has no address with two samples: take another seed")


def _batch(batch_id: str, rows: Sequence[Row]) -> Batch:
    return Batch(batch_id, tuple({**row, "batch_id": batch_id} for row in rows))


def _split(rows: list[Row], rng: random.Random) -> Iterator[Batch]:
    number = 0
    while rows:
        size = rng.choice([1, 2, 5, 17, 60, 400])
        yield _batch(f"d{number:05d}", rows[:size])
        rows, number = rows[size:], number + 1


def _losses(past: History, rng: random.Random) -> frozenset[SnapshotKey]:
    """Pick snapshots whose every row a later full snapshot of its bucket repeats or exceeds."""
    covered = {_life(row): row["seq"] for row in past.rows if snapshot_of(row) in past.full}
    needed: dict[SnapshotKey, bool] = {}
    for row in past.rows:
        key = snapshot_of(row)
        needed[key] = needed.get(key, False) or row["seq"] >= covered.get(_life(row), 0)
    return frozenset(s for s, is_needed in needed.items() if not is_needed and rng.random() < 0.15)


def _life(row: Row) -> tuple[Any, ...]:
    return tuple(row[c] for c in ("source", "boot_id", "address", "epoch", "bucket_at"))


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
        self.rows: list[Row] = []
        self.cells: Counter[CellKey] = Counter()
        self.hidden: Counter[tuple[str, str, str]] = Counter()
        self.crashes: list[Crash] = []
        self.full: set[SnapshotKey] = set()
        self.space_seq: Counter[str] = Counter()
        self.peaks: dict[tuple[str, datetime], int] = {}
        self.instances = self._instances()

    def run(self) -> History:
        for bucket_at, ends_at in self._buckets():
            self._play_bucket(bucket_at, ends_at)
        return History(
            self.seed,
            self.starts_at,
            self.ends_at,
            tuple(self.rows),
            {key: n for key, n in self.cells.items() if n},
            {key: n for key, n in self.hidden.items() if n},
            tuple(self.crashes),
            frozenset(self.full),
        )

    def _instances(self) -> list[_Instance]:
        made = []
        for number in range(self.rng.randint(1, 2)):
            space_id = f"spc_{self.seed % 97:02d}{number}"
            names = ["router-0", "router-1", "broker-0"][: self.rng.randint(1, 3)]
            made += [_Instance(space_id, name) for name in names]
            for instance in made[-len(names) :]:
                for address, kind in self._addresses():
                    instance.addresses[address] = _AddressLife(kind)
        return made

    def _addresses(self) -> list[tuple[str, str]]:
        offered = [("orders", "queue"), ("events", "topic"), ("rpc/a", "anycast"), ("é", "queue")]
        return offered[: self.rng.randint(1, len(offered))]

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
        span = int((ends_at - bucket_at).total_seconds())
        inside = sorted(self.rng.sample(range(1, span), k=self.rng.randint(0, 3)))
        for second in inside:
            self._happen(bucket_at + timedelta(seconds=second), bucket_at)
            self._round(bucket_at + timedelta(seconds=second), bucket_at, full=False)
        self._happen(ends_at, bucket_at)
        self._round(ends_at, bucket_at, full=True)

    def _happen(self, now: datetime, bucket_at: datetime) -> None:
        for instance in self.instances:
            for _ in range(self.rng.randint(0, 4)):
                self._event(instance, now, bucket_at)

    def _event(self, instance: _Instance, now: datetime, bucket_at: datetime) -> None:
        draw = self.rng.random()
        if not instance.alive:
            return
        if draw < 0.62:
            self._traffic(instance)
        elif draw < 0.82:
            self._connect(instance)
        elif draw < 0.92:
            self._recreate(instance, now, bucket_at)
        elif draw < 0.96:
            self._crash(instance)
        elif draw < 0.99:
            self._sample(instance, now, bucket_at, full=True)
            self._reboot(instance)
        else:  # scaled in: the finalizer takes the last sample and nothing follows
            self._sample(instance, now, bucket_at, full=True)
            instance.alive = False
            instance.connections = 0

    def _traffic(self, instance: _Instance) -> None:
        life = instance.addresses[self.rng.choice(sorted(instance.addresses))]
        came, went = self.rng.randint(0, 5000), self.rng.randint(0, 5000)
        life.messages_in += came
        life.messages_out += went
        life.stored_bytes = self.rng.randint(0, 10**6) if life.type == "queue" else 0
        life.moved = True
        life.unseen.update(messages_in=came, messages_out=went)

    def _connect(self, instance: _Instance) -> None:
        opened = self.rng.randint(0, 6)
        closed = self.rng.randint(0, instance.connections)
        instance.connections += opened - closed
        instance.opened += opened
        instance.unseen_opened += opened

    def _recreate(self, instance: _Instance, now: datetime, bucket_at: datetime) -> None:
        """An address is deleted and made again: with a last sample, or vanished by itself."""
        address = self.rng.choice(sorted(instance.addresses))
        if self.rng.random() < 0.5:
            self._sample(instance, now, bucket_at, full=True)
        life = instance.addresses[address]
        self._hide(instance.space_id, address, life.unseen)
        instance.addresses[address] = _AddressLife(life.type, epoch=life.epoch + 1)

    def _crash(self, instance: _Instance) -> None:
        for address, life in instance.addresses.items():
            self._hide(instance.space_id, address, life.unseen)
        self._hide(instance.space_id, "", {"connections_opened": instance.unseen_opened})
        self.crashes.append(Crash(instance.source, instance.boot_id, instance.sampled_at))
        self._reboot(instance)

    def _hide(self, space_id: str, address: str, unseen: Mapping[str, int]) -> None:
        for meter, quantity in unseen.items():
            self.hidden[space_id, address, meter] += quantity

    def _reboot(self, instance: _Instance) -> None:
        instance.boot += 1
        instance.seq = instance.opened = instance.connection_ms = instance.connections = 0
        instance.seen_connections = instance.unseen_opened = 0
        instance.sampled_at = None
        for address, life in instance.addresses.items():
            instance.addresses[address] = _AddressLife(life.type)

    def _round(self, now: datetime, bucket_at: datetime, *, full: bool) -> None:
        together: Counter[str] = Counter()
        for instance in self.instances:
            together[instance.space_id] += instance.connections
            if instance.alive:
                self._sample(instance, now, bucket_at, full=full)
        for space_id, connections in together.items():
            self._sample_peak(space_id, connections, now, bucket_at, full=full)

    def _sample(
        self, instance: _Instance, now: datetime, bucket_at: datetime, *, full: bool
    ) -> None:
        elapsed = _ms(now - instance.sampled_at) if instance.sampled_at else 0
        instance.seq += 1
        grown = instance.seen_connections * elapsed
        instance.connection_ms += grown
        self._book(
            instance.space_id,
            "",
            bucket_at,
            {
                "connections_opened": instance.unseen_opened,
                "connection_ms": grown,
            },
        )
        instance.unseen_opened = 0
        row = self._row(instance.source, instance.boot_id, instance.seq, now, bucket_at)
        self.rows.append(
            {
                **row,
                "connections_opened": instance.opened,
                "connection_ms": instance.connection_ms,
            }
        )
        if full:
            self.full.add(snapshot_of(row))
        for address, life in instance.addresses.items():
            self._sample_address(instance, (address, life), elapsed, row, full=full)
        instance.sampled_at, instance.seen_connections = now, instance.connections

    def _sample_address(
        self,
        instance: _Instance,
        named: tuple[str, _AddressLife],
        elapsed: int,
        row: Row,
        *,
        full: bool,
    ) -> None:
        address, life = named
        grown = life.seen_bytes * elapsed
        life.stored_byte_ms += grown
        self._book(
            instance.space_id, address, row["bucket_at"], {**life.unseen, "stored_byte_ms": grown}
        )
        if full or life.moved or grown:
            self.rows.append(
                {
                    **row,
                    "address": address,
                    "address_type": life.type,
                    "epoch": life.epoch,
                    "messages_in": life.messages_in,
                    "messages_out": life.messages_out,
                    "stored_byte_ms": life.stored_byte_ms,
                }
            )
        life.moved, life.unseen, life.seen_bytes = False, Counter(), life.stored_bytes

    def _sample_peak(
        self, space_id: str, connections: int, now: datetime, bucket_at: datetime, *, full: bool
    ) -> None:
        self.space_seq[space_id] += 1
        peak = max(self.peaks.get((space_id, bucket_at), 0), connections)
        self.peaks[space_id, bucket_at] = peak
        key = CellKey(self.tenant_id, space_id, "", "peak_connections", bucket_at)
        self.cells[key] = peak
        row = self._row(f"{space_id}/space", "space", self.space_seq[space_id], now, bucket_at)
        self.rows.append({**row, "peak_connections": peak})
        if full:
            self.full.add(snapshot_of(row))

    def _book(
        self, space_id: str, address: str, bucket_at: datetime, used: Mapping[str, int]
    ) -> None:
        for meter, quantity in used.items():
            self.cells[CellKey(self.tenant_id, space_id, address, meter, bucket_at)] += quantity

    def _row(self, source: str, boot_id: str, seq: int, now: datetime, bucket_at: datetime) -> Row:
        """Return a heartbeat row with every column of bronze; counters zero."""
        return {
            "batch_id": "",
            "tenant_id": self.tenant_id,
            "space_id": source.split("/")[0],
            "source": source,
            "boot_id": boot_id,
            "seq": seq,
            "taken_at": now,
            "bucket_at": bucket_at,
            "address": "",
            "address_type": "",
            "epoch": 0,
            "messages_in": 0,
            "messages_out": 0,
            "stored_byte_ms": 0,
            "connections_opened": 0,
            "connection_ms": 0,
            "peak_connections": 0,
            "date": bucket_at.date(),
        }


def _ms(span: timedelta) -> int:
    return int(span / timedelta(milliseconds=1))
