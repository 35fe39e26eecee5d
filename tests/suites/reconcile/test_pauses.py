"""What waits is asked less and less often; what moves, or is asked for, at once."""

from datetime import timedelta

import pytest

from controlplane.core.audit import SYSTEM
from controlplane.core.reasons import Reason
from tenants.actions import restrictions
from tenants.models import Address, AddressSpace
from tests.support.reconcile import rows
from tests.support.reconcile.world import World
from workers.infra.base import InfraError
from workers.reconcile import loop
from workers.reconcile.outcome import Done, Wait

pytestmark = pytest.mark.django_db


@pytest.fixture
def space(world: World) -> AddressSpace:
    """A space whose namespace waits for the cluster."""
    world.infra.fail_at(
        "ensure_namespace", InfraError("no answer", reason=Reason.CLUSTER_BUSY, retry=True)
    )
    return rows.make_space(rows.make_tenant())


def next_look(world: World, space: AddressSpace) -> float:
    """Pass once when it is due; return the seconds until the next look."""
    space.refresh_from_db()
    if space.next_attempt_at is not None:
        world.now = max(world.now, space.next_attempt_at)
    assert loop.list_due(world.ports) == [space.id]
    loop.reconcile(space.id, world.ports, budget_seconds=0)
    space.refresh_from_db()
    assert space.next_attempt_at is not None
    assert loop.list_due(world.ports) == [], "nobody looks before the pause is over"
    return (space.next_attempt_at - world.now).total_seconds()


def wait_long(world: World, space: AddressSpace) -> list[float]:
    return [next_look(world, space) for _ in range(60)]


@pytest.mark.parametrize(
    ("asked", "waited", "seconds"),
    [
        (0.3, 0, 0.3),
        (0.3, 19.9, 0.3),  # a start takes seconds, and is seen at once
        (0.3, 20, 2),
        (2, 20, 2),
        (2, 100, 10),
        (10, 50, 10),
        (0.3, 600, 60),
        (2, 10**6, 60),
    ],
)
def test_a_pause_is_a_tenth_of_the_wait_and_a_minute_at_most(
    asked: float, waited: float, seconds: float
) -> None:
    assert loop.pause(Wait(asked, Reason.CLUSTER_BUSY), timedelta(seconds=waited)) == pytest.approx(
        seconds
    )


def test_pauses_grow_up_to_a_minute(world: World, space: AddressSpace) -> None:
    pauses = wait_long(world, space)

    assert pauses[:5] == [2.0] * 5
    assert pauses == sorted(pauses)
    assert pauses[-1] == 60.0


def test_a_change_is_looked_at_at_once_and_pauses_begin_again(
    world: World, space: AddressSpace
) -> None:
    wait_long(world, space)
    restrictions.withdraw_send(space=space, by=SYSTEM, reason="quota")

    assert next_look(world, space) == 2.0


def test_a_new_address_is_looked_at_at_once_and_pauses_begin_again(
    world: World, space: AddressSpace
) -> None:
    wait_long(world, space)
    rows.make_address(space, "orders")

    assert next_look(world, space) == 2.0


def test_progress_begins_pauses_again(world: World, space: AddressSpace) -> None:
    wait_long(world, space)
    world.infra.recover()
    world.infra.refuses = lambda _spec: "OOMKilled"

    assert next_look(world, space) == 10.0, "what the step asks for, not a minute"


def test_another_generation_begins_pauses_again_without_an_enqueued_task(
    world: World, space: AddressSpace
) -> None:
    wait_long(world, space)
    AddressSpace.objects.filter(pk=space.pk).update(generation=7)

    assert next_look(world, space) == 2.0


def test_who_asks_during_a_waiting_pass_is_heard_in_the_same_call(
    world: World, space: AddressSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait_long(world, space)
    asked: list[Address] = []

    def answer(_namespace: object, _budget: object) -> None:
        if not asked:
            asked.append(rows.make_address(space, "orders"))
            raise InfraError("The cluster is busy.", reason=Reason.CLUSTER_BUSY, retry=True)

    monkeypatch.setattr(world.infra, "ensure_namespace", answer)

    outcome = loop.reconcile(space.id, world.ports)

    assert isinstance(outcome, Done)
    assert list(space.addresses.values_list("phase", flat=True)) == ["Active"]


def test_nothing_waits_any_more_once_it_is_ready(world: World, space: AddressSpace) -> None:
    wait_long(world, space)
    world.infra.recover()
    world.now += timedelta(minutes=1)

    world.settle(space)

    assert (space.phase, space.waiting, space.waiting_since) == ("Active", None, None)
