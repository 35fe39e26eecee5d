"""A lakehouse in a folder, a space that is sampled, instances that answer as they are told."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from tenants.models import AddressSpace
from tests.support import domain
from tests.support.domain import Cast
from tests.support.faults import Faults
from tests.support.metering.readings import TYPES, snapshot
from workers.messaging.observed import InstanceSnapshot
from workers.metering import sampling
from workers.metering.readers import Instance, NoAnswer, Readable, Readers
from workers.metering.source_states import BUCKET, floor_bucket

Answer = InstanceSnapshot | Exception | None


def read_clock() -> datetime:
    """Return the time of the running test."""
    return clock()


@dataclass
class FakeReaders(Faults, Readers):
    """Answers for instances by space id; None does not answer, an exception is raised.

    Verified against the real drivers by tests/suites/messaging.
    """

    answers: dict[str, Mapping[str, Answer]] = field(default_factory=dict)
    before_read: Callable[[], None] = lambda: None
    now: Callable[[], datetime] = field(default_factory=lambda: read_clock)

    @property
    def clock(self) -> Callable[[], datetime]:
        return self.now

    def find(self, space: AddressSpace) -> Readable:
        told = self.answers.get(space.id, {})
        return Readable(
            [Instance(name, self._reader(answer)) for name, answer in told.items()], TYPES
        )

    def _reader(self, told: Answer) -> Callable[[], InstanceSnapshot]:
        def read() -> InstanceSnapshot:
            self.before_read()
            if told is None:
                raise NoAnswer("silent")
            if isinstance(told, Exception):
                raise told
            return told

        return read


class InsideBucket:
    """A clock that a test starts well inside a bucket, so that none meets its end by chance.

    Closes cut at full seconds: what a space uses in the very second in which a bucket begins is
    billed after a close in that second, not by it. The clock is at most three minutes from the real
    one, by which the database dates rows.
    """

    def __init__(self) -> None:
        self._shift = timedelta(0)

    def __call__(self) -> datetime:
        return timezone.now() + self._shift

    def start(self) -> None:
        begun = timezone.now()
        gone = begun - floor_bucket(begun)
        self._shift = min(max(gone, FAR), BUCKET - FAR) - gone

    def stop(self) -> None:
        self._shift = timedelta(0)


FAR = timedelta(minutes=3)
clock = InsideBucket()


@pytest.fixture
def mid_bucket() -> Iterator[None]:
    """``clock`` starts well inside a bucket, and is the real one again after the test."""
    clock.start()
    yield
    clock.stop()


@pytest.fixture
def readers() -> FakeReaders:
    return FakeReaders()


@pytest.fixture
def root(tmp_path: Path, settings: Settings) -> Path:
    """The lakehouse of this test."""
    settings.LAKEHOUSE_ROOT = str(tmp_path / "lakehouse")
    return Path(settings.LAKEHOUSE_ROOT)


@pytest.fixture
def space(cast: Cast) -> AddressSpace:
    """A space that has been Active since now."""
    row = domain.space(cast.tenant, "brokered")
    row.active_since = clock()
    row.save(update_fields=["active_since"])
    return row


@pytest.fixture
def play(space: AddressSpace, readers: FakeReaders) -> Callable[..., None]:
    """``play(orders=(5, 0))`` is one round in which the broker shows that."""

    def one_round(boot_id: str = "boot-1", **shown: Any) -> None:
        readers.answers[space.id] = {"broker-0": snapshot(boot_id, **shown)}
        sampling.sample([space], readers)

    return one_round
