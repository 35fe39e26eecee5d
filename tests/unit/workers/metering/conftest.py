"""A lakehouse in a folder, a space that is sampled, instances that answer as they are told."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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


@dataclass
class FakeReaders(Faults, Readers):
    """Answers for instances by space id; None does not answer, an exception is raised.

    Verified against the real drivers by tests/suites/messaging.
    """

    answers: dict[str, Mapping[str, Answer]] = field(default_factory=dict)
    before_read: Callable[[], None] = lambda: None

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


@pytest.fixture
def mid_bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of a test begins in the middle of a bucket, so that none meets its end by chance.

    Closes cut at full seconds: what a space uses in the very second in which a bucket begins is
    billed after a close in that second, not by it.
    """
    real = timezone.now
    begun = real()
    shift = floor_bucket(begun) + BUCKET / 2 - begun
    monkeypatch.setattr(timezone, "now", lambda: real() + shift)


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
    row.active_since = timezone.now()
    row.save(update_fields=["active_since"])
    return row


@pytest.fixture
def play(space: AddressSpace, readers: FakeReaders) -> Callable[..., None]:
    """``play(orders=(5, 0))`` is one round in which the broker shows that."""

    def one_round(boot_id: str = "boot-1", **shown: Any) -> None:
        readers.answers[space.id] = {"broker-0": snapshot(boot_id, **shown)}
        sampling.sample([space], readers)

    return one_round
