"""A step that takes longer than the lease lets no second worker in."""

import threading
import time
from collections.abc import Callable

import pytest
from django.db import InterfaceError, OperationalError

from tenants.models import AddressSpace
from tests.reconcile import rows
from tests.reconcile.conftest import World
from workers.reconcile import lease, loop
from workers.reconcile.lease import Lease
from workers.reconcile.outcome import Done


@pytest.fixture
def space() -> AddressSpace:
    return rows.make_space(rows.make_tenant())


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "_BEAT_SECONDS", 0.01)


def eventually(is_true: Callable[[], bool]) -> None:
    """Wait for another thread; the bound only ends a test that failed."""
    ends_at = time.monotonic() + 30
    while not is_true():
        assert time.monotonic() < ends_at
        threading.Event().wait(0.01)


@pytest.mark.django_db(transaction=True)
def test_a_step_longer_than_the_lease_keeps_the_space(
    world: World, space: AddressSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = []
    make = world.infra.ensure_namespace

    def is_held() -> bool:
        return AddressSpace.objects.filter(pk=space.pk, claimed_until__gt=world.now).exists()

    def ensure_namespace(namespace: object, room: object) -> None:
        world.now += 2 * lease.LENGTH
        eventually(is_held)
        others.append((loop.list_due(world.doors), loop.reconcile(space.id, world.doors)))
        make(namespace, room)  # type: ignore[arg-type]

    monkeypatch.setattr(world.infra, "ensure_namespace", ensure_namespace)
    outcome = loop.reconcile(space.id, world.doors)

    space.refresh_from_db()
    assert set(map(str, others)) == {"([], None)"}
    assert isinstance(outcome, Done)
    assert (space.phase, space.claimed_by, space.claimed_until) == ("Active", "", None)


@pytest.mark.django_db(transaction=True)
def test_a_lease_that_was_lost_is_not_taken_back(world: World, space: AddressSpace) -> None:
    mine, theirs = (Lease(space.id, name, lambda: world.now) for name in ("we", "they"))
    assert mine.claim()

    with mine.kept():
        AddressSpace.objects.filter(pk=space.pk).update(claimed_by="they")
        eventually(lambda: not any(each.name == "lease keeper" for each in threading.enumerate()))

    space.refresh_from_db()
    assert space.claimed_by == "they"
    assert not mine.claim()
    assert theirs.claim()
    with pytest.raises(lease.Lost):
        mine.extend()


@pytest.mark.django_db(transaction=True)
def test_a_step_that_hangs_frees_the_space(
    world: World, space: AddressSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "_LONGEST_SECONDS", 0.02)
    mine = Lease(space.id, "we", lambda: world.now)
    assert mine.claim()

    with mine.kept():
        eventually(lambda: not any(each.name == "lease keeper" for each in threading.enumerate()))
        world.now += 2 * lease.LENGTH
        assert loop.list_due(world.doors) == [space.id]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("away", [OperationalError, InterfaceError])
def test_a_database_that_was_away_for_a_moment_loses_no_lease(
    world: World, space: AddressSpace, monkeypatch: pytest.MonkeyPatch, away: type[Exception]
) -> None:
    mine = Lease(space.id, "we", lambda: world.now)
    assert mine.claim()
    extend, failed = Lease.extend, []

    def extend_or_fail(self: Lease) -> None:
        if not failed:
            failed.append(True)
            raise away("server closed the connection unexpectedly")
        extend(self)

    monkeypatch.setattr(Lease, "extend", extend_or_fail)
    world.now += lease.LENGTH
    with mine.kept():
        eventually(
            lambda: AddressSpace.objects.filter(
                pk=space.pk, claimed_until=world.now + lease.LENGTH
            ).exists()
        )

    assert failed == [True]
