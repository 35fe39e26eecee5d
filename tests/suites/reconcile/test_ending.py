"""The end of a space of several instances: what cannot be asked hinders no other."""

from datetime import timedelta

import pytest

from controlplane.core.audit import SYSTEM
from controlplane.core.reasons import Reason
from tenants.actions import address_spaces
from tenants.models import AddressSpace
from tests.suites.reconcile.test_counts import make_space, spread, want_routers
from tests.support.reconcile.fake_routers import Connected
from tests.support.reconcile.world import World
from workers.reconcile import loop
from workers.reconcile.outcome import Wait
from workers.reconcile.steps.drain import PATIENCE

pytestmark = pytest.mark.django_db


@pytest.fixture
def space(world: World) -> AddressSpace:
    """A space of two routers and two brokers that is asked to end."""
    world.engine = "qdrouterd"
    made = make_space(world)
    want_routers(made, 2)
    spread(made, world)
    address_spaces.delete(space=made, by=SYSTEM)
    return made


def test_a_router_that_is_away_leaves_no_other_to_its_clients(
    world: World, space: AddressSpace
) -> None:
    other = world.router(space, "router-1")
    other.connections.add(Connected("alice", world.now, "orders"))
    world.routers.slow_starts = 1

    outcome = loop.reconcile(space.id, world.ports, budget_seconds=0)

    assert outcome == Wait(1, Reason.ROUTER_UNREACHABLE)
    assert other.connections == set()


def test_a_broker_that_is_away_leaves_no_other_to_its_clients(
    world: World, space: AddressSpace
) -> None:
    other = world.broker(space, "broker-1")
    other.links.add(("alice", "recv", "late"))
    world.brokers.slow_starts = 1

    outcome = loop.reconcile(space.id, world.ports, budget_seconds=0)

    assert outcome == Wait(1, Reason.BROKER_UNREACHABLE)
    assert other.links == set()


def test_what_stays_away_is_gone_on_without(world: World, space: AddressSpace) -> None:
    space.refresh_from_db()
    world.routers.slow_starts = world.brokers.slow_starts = 10**6
    for _ in range(3):
        loop.reconcile(space.id, world.ports, budget_seconds=0)
        world.now += timedelta(minutes=1)
    space.refresh_from_db()
    (waiting,) = (condition for condition in space.conditions if condition["type"] == "Ready")

    world.now += PATIENCE
    world.settle(space)

    assert waiting["reason"] == "Terminating"
    assert waiting["message"].startswith("RouterUnreachable: ")
    assert space.deleted_at is not None
