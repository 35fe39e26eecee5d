"""A worker killed after any step of a standard space: the next pass ends as an undisturbed one."""

from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.core.audit import SYSTEM
from controlplane.core.models import Operation
from tenants.actions import address_spaces, addresses, messaging_users
from tenants.models import Address, AddressSpace, MessagingUser
from tests.suites.reconcile.test_crash_anywhere import kill_after, list_steps, run_killed
from tests.support.reconcile import rows
from tests.support.reconcile.fake_routers import Connected
from tests.support.reconcile.world import World
from workers.messaging.routers import entities
from workers.reconcile import address_space, loop

pytestmark = pytest.mark.django_db

BUILD = list_steps(address_space.ensure_standard)
CHANGES = list_steps(address_space.change_standard)
TEARDOWN = list_steps(address_space.delete)


def make_rows() -> AddressSpace:
    space = rows.make_space(rows.make_tenant(), kind="standard")
    rows.make_address(space, "calls", "anycast")
    rows.make_address(space, "orders", "queue")
    rows.make_user(space, "alice", ("#", "send recv"))
    rows.make_user(space, "bob", ("#", "recv"))
    return space


@pytest.mark.parametrize("name", BUILD)
def test_killed_while_building(world: World, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    space = make_rows()
    kill_after(name, address_space.ensure_standard, monkeypatch)

    run_killed(world, space, monkeypatch)
    world.settle(space)

    router = world.router(space)
    assert space.phase == "Active"
    assert {instance.starts for instance in world.infra.instances.values()} == {1}
    assert set(Operation.objects.values_list("state", flat=True)) == {"Succeeded"}
    assert router.names(entities.ADDRESS) == {"calls", "orders"}
    assert router.names(entities.AUTO_LINK) == {"calls", "orders"}


@pytest.mark.parametrize(
    ("steps", "name"),
    [
        *((address_space.ensure_standard, name) for name in BUILD),
        *((address_space.change_standard, name) for name in CHANGES),
    ],
)
def test_killed_while_changing(
    world: World, monkeypatch: pytest.MonkeyPatch, steps: address_space.Pass, name: str
) -> None:
    space = make_rows()
    world.settle(space)
    if (
        steps is address_space.ensure_standard
    ):  # as if an instance had restarted, so that the pass is a whole one
        AddressSpace.objects.filter(pk=space.pk).update(known_boots={})
    world.now = timezone.now()  # the rows below carry real times
    router = world.router(space)
    router.connections = {
        Connected("alice", world.now, "calls"),
        Connected("alice", world.now, "orders"),
        Connected("bob", world.now, "orders"),
    }
    rows.make_address(space, "news", "topic")
    addresses.delete(address=Address.objects.get(space=space, address="calls"), by=SYSTEM)
    messaging_users.revoke(user=MessagingUser.objects.get(space=space, name="bob"), by=SYSTEM)
    kill_after(name, steps, monkeypatch)

    run_killed(world, space, monkeypatch)
    world.settle(space)

    assert {connection.address for connection in router.connections} == {"orders"}
    assert {connection.user for connection in router.connections} == {"alice"}
    assert router.names(entities.ADDRESS) == {"orders"}
    assert router.names(entities.AUTO_LINK) == {"orders"}
    assert router.names(entities.LINK_ROUTE) == {"news"}
    assert set(world.metering.samples) == {(space.id, ("calls",))}
    assert set(Operation.objects.values_list("state", flat=True)) == {"Succeeded"}


@pytest.mark.parametrize("name", TEARDOWN)
def test_killed_while_tearing_down(
    world: World, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    space = make_rows()
    world.settle(space)
    address_spaces.delete(space=space, by=SYSTEM)
    kill_after(name, address_space.delete, monkeypatch)

    run_killed(world, space, monkeypatch)
    world.settle(space)

    assert space.deleted_at is not None
    assert (world.infra.instances, world.infra.namespaces) == ({}, set())
    assert set(world.metering.samples) == {(space.id, None)}


def test_an_unreachable_router_holds_deletion_up_but_not_for_ever(world: World) -> None:
    space = make_rows()
    world.settle(space)
    address_spaces.delete(space=space, by=SYSTEM)
    world.routers.slow_starts = 10**6

    loop.reconcile(space.id, world.ports, budget_seconds=0)
    while_away = dict(world.infra.instances)
    world.now += timedelta(minutes=11)
    world.settle(space)

    assert while_away
    assert space.deleted_at is not None
