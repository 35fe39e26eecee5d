"""A sampling cycle of 1,000 spaces by one worker process, and the landing of samples."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from django.utils import timezone

from controlplane.demo.bench_results import Result
from tenants.models import AddressSpace
from tests.support import domain
from tests.support.lakehouse.bench.figures import figure
from tests.support.live import stored
from tests.support.metering.readings import TYPES, snapshot
from workers.messaging.observed import InstanceSnapshot
from workers.metering import committer, landing, sampling
from workers.metering.readers import Instance, Readable, Readers
from workers.metering.source_states import SampleRow, floor_bucket

_SPACES, _ADDRESSES, _CYCLES = 1_000, 10, 3
_SAMPLES, _BATCH = 100_000, 5_000
_RATE = 20_000  # samples per second of processor time, at least


class _InMemory(Readers):
    """Readers of a broker and a router of each space, whose counters ``show`` sets."""

    def __init__(self) -> None:
        self._shown: dict[str, InstanceSnapshot] = {}

    @property
    def clock(self) -> Callable[[], datetime]:
        return timezone.now

    def show(self, n: int) -> None:
        """Let all counters of the queues and of the router have grown ``n`` times."""
        queues: dict[str, Any] = {f"queue-{at:04}": (7 * n, 5 * n) for at in range(_ADDRESSES)}
        self._shown = {
            "broker-0": snapshot(**queues),
            "router-0": snapshot("boot-r", rpc=(n, n)),
        }

    def find(self, space: AddressSpace) -> Readable:
        instances = [Instance(name, self._reader(name)) for name in self._shown]
        return Readable(instances, TYPES)

    def _reader(self, name: str) -> Callable[[], InstanceSnapshot]:
        return lambda: self._shown[name]


def measure() -> Iterator[Result]:
    """Sample 1,000 spaces with 2 instances and 10 addresses."""
    stored.spaces(domain.cast("business").tenant, _SPACES, _ADDRESSES, timezone.now())
    AddressSpace.objects.update(active_since=timezone.now())
    readers = _InMemory()
    readers.show(0)
    sampling.sample_all(readers)  # makes the rows of the sources
    load, costs = os.getloadavg()[0], []
    for cycle in range(1, _CYCLES + 1):
        readers.show(cycle)
        costs.append(_cost(lambda: sampling.sample_all(readers)))
    cpu, clock = min(costs)
    yield figure(
        "sampling cycle of 1,000 spaces with 2 instances and 10 addresses, readers in memory",
        cpu, "CPU s", load=load, limit=10,
        more=f"one worker process, without the database; best of {_CYCLES}; {clock:.1f} s",
    )  # fmt: skip


def land(folder: Path) -> Iterator[Result]:
    """Land 100,000 samples."""
    root = folder / "lake"
    root.mkdir()
    at, load = timezone.now(), os.getloadavg()[0]
    rows = [
        SampleRow("ten_a", "spc_1", "spc_1/broker-0", "boot-1", seq, at, floor_bucket(at), "orders")
        for seq in range(1, _SAMPLES + 1)
    ]

    def bring(samples: Sequence[SampleRow]) -> None:
        for first in range(0, len(samples), _BATCH):
            landing.reserve(samples[first : first + _BATCH])
        landing.write_reserved(root)
        committer.commit_landed(root)

    bring(rows[:1])  # a process loads pyarrow and delta-rs once
    cpu, _ = _cost(lambda: bring(rows))
    yield figure(
        "landing: outbox, files, commit", _SAMPLES / cpu, "samples per CPU s", load=load,
        more=f"{_SAMPLES:,} samples in batches of {_BATCH:,}; at least {_RATE:,} are wanted",
    )  # fmt: skip


def _cost(act: Callable[[], object]) -> tuple[float, float]:
    """Call ``act``; return its processor time in this process, and the time of the clock."""
    began, clock = time.process_time(), time.monotonic()
    act()
    return time.process_time() - began, time.monotonic() - clock
