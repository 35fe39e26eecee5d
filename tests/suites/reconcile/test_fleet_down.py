"""Spaces that are down while a release reaches the fleet: last, in waves, and no failures of it."""

import itertools
from collections.abc import Sequence
from datetime import timedelta

import pytest

from controlplane.core.audit import SYSTEM
from tenants import rollouts
from tenants.actions import rollouts as actions
from tenants.models import AddressSpace
from tests.support.reconcile import rows
from tests.support.reconcile.fleets import (
    POLICY,
    THREE,
    TWO,
    images,
    make,
    of_space,
    run,
    settle_all,
)
from tests.support.reconcile.world import World
from workers.messaging.probe import ProbeFailed
from workers.reconcile import loop
from workers.rollouts import fleet

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("one_clock")]


@pytest.fixture
def one_clock(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What rows are stamped with is the world's time, and never the same twice."""
    ticks = itertools.count()
    monkeypatch.setattr(
        "django.utils.timezone.now", lambda: world.now + timedelta(microseconds=next(ticks))
    )


@pytest.fixture
def spaces(one_clock: None, world: World) -> list[AddressSpace]:
    return make(world, rows.make_tenant())


def take_down(world: World, spaces: Sequence[AddressSpace]) -> None:
    """Let the brokers of some spaces be lost, and stay so whatever is done, and be seen so."""
    world.infra.refuses = lambda spec: (
        "Lost" if any(of_space(spec, space) for space in spaces) else ""
    )
    for placed in world.infra.instances.values():
        placed.trouble = world.infra.refuses(placed.spec)
    world.now += loop.FULL_PASS_EVERY * 2
    settle_all(world, spaces)


def put_up(world: World) -> None:
    """Let every broker be up again, unseen yet."""
    world.infra.refuses = lambda _spec: ""
    for placed in world.infra.instances.values():
        placed.trouble = ""
    world.now += loop.FULL_PASS_EVERY * 2


def test_a_space_that_is_not_ready_by_itself_is_left_for_later(
    world: World, spaces: list[AddressSpace]
) -> None:
    world.brokers.fail_at("probe", ProbeFailed("no credit"))
    world.now += loop.FULL_PASS_EVERY * 2
    loop.reconcile(spaces[0].id, world.ports, budget_seconds=0)
    world.brokers.recover()

    fleet.advance(TWO, POLICY, world.now)
    moved = set(AddressSpace.objects.filter(release__number=2).values_list("name", flat=True))

    assert moved == {"space-1", "space-2"}
    assert run(world, spaces).state == "Done"


@pytest.mark.parametrize("is_fixed", [True, False])
def test_a_space_that_is_down_gets_the_release_last_and_is_no_failure_of_it(
    world: World, spaces: list[AddressSpace], is_fixed: bool
) -> None:
    """What the former release cannot do any more, the new one may be what fixes."""
    placed = [
        instance
        for instance in world.infra.instances.values()
        if of_space(instance.spec, spaces[0])
    ]
    placed[0].trouble = "CreateContainerConfigError"
    world.now += loop.FULL_PASS_EVERY * 2
    settle_all(world, spaces)
    fleet.advance(TWO, POLICY, world.now)
    first = set(AddressSpace.objects.filter(release__number=2).values_list("name", flat=True))
    world.infra.refuses = lambda spec: "Down" if of_space(spec, spaces[0]) and not is_fixed else ""

    ended = run(world, spaces)
    late = rollouts.progress(ended, world.now + timedelta(days=1), POLICY.patience)

    assert first == {"space-1", "space-2"}
    assert images(world) == ["broker:2"] * 5
    assert (ended.state, late.waiting, late.failed) == (
        ("Done", 0, 0) if is_fixed else ("Running", 1, 0)
    )


@pytest.mark.parametrize("is_taken_back", [True, False])
def test_a_space_that_stays_down_stops_no_later_release(
    world: World, spaces: list[AddressSpace], is_taken_back: bool
) -> None:
    take_down(world, spaces[:1])
    run(world, spaces)
    wanted = TWO if is_taken_back else THREE
    if is_taken_back:
        actions.roll_back(by=SYSTEM, reason="no good")

    ended = run(world, spaces, wanted)
    world.now += POLICY.patience * 2
    later = run(world, spaces, wanted)
    standing = rollouts.progress(later, world.now, POLICY.patience)
    put_up(world)

    assert (ended.state, later.state) == ("Running", "Running")
    assert (standing.done, standing.waiting, standing.failed) == (4, 1, 0)
    assert run(world, spaces, wanted).state == "Done"
    assert images(world) == ["broker:1" if is_taken_back else "broker:3"] * 5


def test_spaces_that_are_down_get_the_release_in_waves_too(
    world: World, spaces: list[AddressSpace]
) -> None:
    take_down(world, spaces)

    seen = []
    for _ in range(3):
        fleet.advance(TWO, POLICY, world.now)
        seen.append(AddressSpace.objects.filter(release__number=2).count())

    assert seen == [2, 2, 2]
    put_up(world)
    assert run(world, spaces).state == "Done"


def test_spaces_that_go_down_while_a_rollout_runs_are_not_told_before_they_are_up(
    world: World, spaces: list[AddressSpace]
) -> None:
    """As all do while the cluster does not answer; until a person says to go on."""
    fleet.advance(TWO, POLICY, world.now)
    world.now += timedelta(seconds=1)
    take_down(world, spaces)
    told = []
    for is_resumed in (False, True):
        if is_resumed:
            actions.pause(by=SYSTEM)
            actions.resume(by=SYSTEM)
        for _ in range(3):
            fleet.advance(TWO, POLICY, world.now)
        told.append(AddressSpace.objects.filter(release__number=2).count())
    put_up(world)

    assert told == [2, 2]  # the first wave; it takes all the room until it is up
    assert run(world, spaces).state == "Done"
