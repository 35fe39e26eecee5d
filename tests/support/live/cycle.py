"""How long a sampling cycle of a space with 2,000 addresses takes, on a real broker."""

import base64
import json
import os
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.utils import timezone

from controlplane.demo.bench_results import Result, seconds_of
from tenants.models import AddressSpace
from tests.support import domain
from tests.support.live import stored
from tests.support.live.figures import best, figure
from tests.support.messaging import public_broker
from workers.messaging import encoded_message, management
from workers.messaging.brokers import snapshot
from workers.messaging.brokers.snapshot import MeteredAddress
from workers.messaging.management import Request
from workers.messaging.observed import ManagementTarget
from workers.metering import readers, sampling
from workers.metering.readers import Instance, Readable

_ADDRESSES, _SENDERS, _CYCLES = 2_000, 20, 5


@dataclass(frozen=True)
class _OneBroker:
    """Readers of a space whose only instance is a broker outside any installation."""

    target: ManagementTarget

    @staticmethod
    def clock() -> datetime:
        return timezone.now()

    def find(self, space: AddressSpace) -> Readable:
        types = readers.address_types(space)
        metered = [MeteredAddress(address, type) for address, type in types.items()]

        def read() -> object:
            return snapshot.take(self.target, addresses=metered)

        return Readable([Instance("broker-0", read)], types)  # type: ignore[arg-type]


def measure(folder: Path) -> Iterator[Result]:
    """Sample a broker that has a message in each twentieth queue, and 20 clients with a link."""
    (space,) = stored.spaces(domain.cast("business").tenant, 1, _ADDRESSES, timezone.now())
    names = [f"queue-{number:04}" for number in range(_ADDRESSES)]
    alice = public_broker.user("alice", ("#", "send recv"))
    with public_broker.running(folder / "cycle", (), [alice], memory_mb=512) as broker:
        target = broker.rigged.target
        _make(target, names)
        _fill(target, names[::20])
        one = _OneBroker(target)
        sampling.sample([space], one)
        load = os.getloadavg()[0]

        def run() -> list[float]:
            return [seconds_of(lambda: _sample(space, one)) for _ in range(_CYCLES)]

        seconds = best(run, statistics.median)
        taken = best(
            lambda: seconds_of(lambda: one.find(space).instances[0].read()), lambda value: value
        )
    more = f"median of {_CYCLES}, max {max(seconds):.2f} s; the broker's answers {taken:.2f} s"
    what = f"sampling cycle of a space with {_ADDRESSES:,} addresses, real broker"
    yield figure(what, statistics.median(seconds), "s", load=load, more=more, limit=1)


def _sample(space: AddressSpace, one: _OneBroker) -> None:
    (sampled,) = sampling.sample([space], one)
    assert sampled.is_applied, sampled


def _make(target: ManagementTarget, names: list[str]) -> None:
    """Create the queues by management: a start from a file with so many takes over a minute."""
    asked = [
        json.dumps({"name": name, "routing-type": "ANYCAST", "auto-create-address": True})
        for name in names
    ]
    with management.connected(target, purpose="bench", timeout_seconds=120) as client:
        client.ask([Request("broker", "createQueue", [queue]) for queue in asked])


def _fill(target: ManagementTarget, names: list[str]) -> None:
    text = base64.b64encode(encoded_message.encode("x" * 200, {}, durable=True)).decode()
    with management.connected(target, purpose="bench", timeout_seconds=60) as client:
        client.ask([Request("waypost.messages", "send", [name, text]) for name in names])
