"""When a changed pod makes its space due: at once, and not more often than every few seconds."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from controlplane.core import enqueue
from tenants.models import AddressSpace
from tests.support.reconcile import rows
from workers.infra.base import InstanceSight, Sights
from workers.pod_watcher import SHORTEST_INTERVAL, Changes, PodWatcher

NOW = datetime(2026, 11, 24, 12, 0, tzinfo=UTC)
WELL = InstanceSight("wp-a", "spc_a", "broker-0", "uid-0", well=True)
DOWN = InstanceSight("wp-a", "spc_a", "broker-0", "uid-0", reason="OOMKilled")
GONE = InstanceSight("wp-a", "spc_a", "broker-0")


class NoWatch:
    def follow(self, seconds: int) -> Iterator[Sights]:
        raise AssertionError("nobody watches here")


class Clock:
    now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def watcher(clock: Clock) -> PodWatcher:
    return PodWatcher(NoWatch(), clock)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    spaces: list[str] = []
    monkeypatch.setattr(enqueue, "after_commit", lambda _task, space_id: spaces.append(space_id))
    return spaces


def test_a_repeated_sight_is_no_change() -> None:
    changes = Changes()

    assert list(changes.update(Sights([WELL]))) == [WELL]
    assert list(changes.update(Sights([WELL]))) == []
    assert list(changes.update(Sights([DOWN]))) == [DOWN]
    assert list(changes.update(Sights([GONE]))) == [GONE]
    assert changes.find_boots() == {}


def test_an_instance_that_a_complete_listing_lacks_is_gone() -> None:
    changes = Changes()
    changes.update(Sights([WELL]))

    assert list(changes.update(Sights([]))) == []
    assert list(changes.update(Sights([], complete=True))) == [GONE]
    assert list(changes.update(Sights([], complete=True))) == []


def due_at(space: AddressSpace) -> datetime | None:
    space.refresh_from_db()
    return space.next_attempt_at


@pytest.mark.django_db
def test_a_pod_that_fails_again_and_again_makes_its_space_due_every_few_seconds(
    watcher: PodWatcher, clock: Clock, sent: list[str]
) -> None:
    space = rows.make_space(rows.make_tenant())
    sent.clear()
    AddressSpace.objects.update(next_attempt_at=NOW + timedelta(minutes=4))

    watcher.trigger([space.id])
    assert due_at(space) == NOW
    for _ in range(20):
        clock.now += timedelta(milliseconds=100)
        AddressSpace.objects.update(next_attempt_at=NOW + timedelta(minutes=4))
        watcher.trigger([space.id])
    # The second trigger is delayed; the others find it planned.
    assert sent == [space.id]
    clock.now = NOW + SHORTEST_INTERVAL * 2
    watcher.trigger([space.id])
    assert due_at(space) == clock.now
    assert sent == [space.id] * 2


@pytest.mark.django_db
def test_a_delayed_trigger_is_not_lost(watcher: PodWatcher, clock: Clock, sent: list[str]) -> None:
    space = rows.make_space(rows.make_tenant())
    sent.clear()
    watcher.trigger([space.id])
    clock.now += timedelta(seconds=1)
    # The pass that the first trigger began runs now, and has not planned the next one.
    watcher.trigger([space.id])

    assert due_at(space) == NOW + SHORTEST_INTERVAL
    assert sent == [space.id]


@pytest.mark.django_db
def test_an_earlier_time_stays(watcher: PodWatcher, clock: Clock, sent: list[str]) -> None:
    space = rows.make_space(rows.make_tenant())
    watcher.trigger([space.id])
    clock.now += timedelta(seconds=1)
    soon = clock.now + timedelta(seconds=2)
    AddressSpace.objects.update(next_attempt_at=soon)

    watcher.trigger([space.id])

    assert due_at(space) == soon


@pytest.mark.django_db
def test_a_deleted_space_stays_deleted(watcher: PodWatcher, sent: list[str]) -> None:
    space = rows.make_space(rows.make_tenant())
    sent.clear()
    AddressSpace.objects.update(
        deleted_at=NOW, deletion_requested_at=NOW, phase="Terminating", next_attempt_at=None
    )

    watcher.trigger([space.id])

    assert due_at(space) is None
