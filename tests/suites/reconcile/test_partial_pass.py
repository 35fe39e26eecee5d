"""The cost of a change does not depend on the number of addresses; files follow every 30 s."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from controlplane.core.address_types import AddressSettings
from controlplane.core.audit import SYSTEM
from controlplane.core.phases import Phase
from tenants.actions import addresses, messaging_users
from tenants.models import Address, AddressSpace, Placement
from tests.suites.reconcile.test_crash_anywhere import Killed
from tests.support.reconcile import rows
from tests.support.reconcile.world import World
from workers.messaging.brokers import render
from workers.messaging.brokers.desired import DesiredAddress
from workers.messaging.routers import config, entities
from workers.messaging.routers.desired import RoutedAddress
from workers.reconcile import changes, desired_brokers, desired_routers, lease, loop, status
from workers.reconcile.outcome import Done, Wait

pytestmark = pytest.mark.django_db

KINDS = ["brokered", "standard"]


def make_space(world: World, kind: str) -> AddressSpace:
    space = rows.make_space(rows.make_tenant(), kind=kind)
    rows.make_address(space, "private")
    rows.make_user(space, "alice", ("#", "send recv"))
    world.settle(space)
    return space


def fill(space: AddressSpace, count: int) -> None:
    """Add addresses that were applied long ago."""
    model = space.addresses.get(address="private")
    placement = model.placements.get()
    made = [
        Address(
            space=space,
            address=f"old/{number:05}",
            type="queue",
            address_plan_id=model.address_plan_id,
            phase=Phase.ACTIVE,
            observed_generation=1,
            conditions=model.conditions,
        )
        for number in range(count)
    ]
    Address.objects.bulk_create(made)
    Placement.objects.bulk_create(
        Placement(
            address=address,
            broker_id=placement.broker_id,
            router_credit=0,
            broker_credit=0,
        )
        for address in made
    )


@dataclass
class Cost:
    """What a pass has read and rendered."""

    queries: int = 0
    rows: int = 0
    rendered: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


@contextmanager
def measured(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cost]:
    cost = Cost()

    def count(execute: Callable[..., Any], sql: str, *arguments: Any) -> Any:
        result = execute(sql, *arguments)
        cost.queries += 1
        if sql.startswith("SELECT"):
            cost.rows += max(0, arguments[-1]["cursor"].rowcount)
        return result

    def counted(name: str, function: Callable[..., Any], into: list[str]) -> Callable[..., Any]:
        def run(*arguments: Any, **named: Any) -> Any:
            into.append(name or str(arguments[0]))
            return function(*arguments, **named)

        return run

    with monkeypatch.context() as patched, connection.execute_wrapper(count):
        brokers, routers = DesiredAddress, RoutedAddress
        patched.setattr(desired_brokers, "DesiredAddress", counted("", brokers, cost.rendered))
        patched.setattr(desired_routers, "RoutedAddress", counted("", routers, cost.rendered))
        patched.setattr(render, "files", counted("broker", render.files, cost.files))
        patched.setattr(config, "files", counted("router", config.files, cost.files))
        yield cost


def cost_of(world: World, space: AddressSpace, monkeypatch: pytest.MonkeyPatch) -> Cost:
    with measured(monkeypatch) as cost:
        outcome = loop.reconcile(space.id, world.ports)
    assert isinstance(outcome, Done)
    return cost


def add(space: AddressSpace, name: str) -> None:
    # Brokers apply dead letters only in brokered spaces; standard spaces have a type for them.
    dead_letter = "private" if space.type == "brokered" else ""
    rows.make_address(space, name, settings=AddressSettings(dead_letter=dead_letter))


@pytest.mark.parametrize("kind", ["brokered", pytest.param("standard", marks=pytest.mark.drill)])
def test_a_new_address_among_ten_thousand_costs_what_it_costs_among_ten(
    world: World, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    space = make_space(world, kind)
    fill(space, 10)
    add(space, "zeroth")  # the first change also marks the files as outdated
    world.settle(space)
    add(space, "first")
    few = cost_of(world, space, monkeypatch)
    Address.objects.filter(address__startswith="old/").delete()
    world.brokers.applied.clear()
    world.routers.applied.clear()
    add(space, "late")
    fill(space, 10_000)  # afterwards, because no plan allows so many

    many = cost_of(world, space, monkeypatch)

    assert Address.objects.get(address="late").phase == "Active"
    assert world.brokers.applied == [["late"]]
    assert world.routers.applied == ([] if kind == "brokered" else [["late"]])
    assert set(many.rendered) == {"late"}
    assert many.files == []
    assert (many.queries, many.rows) == (few.queries, few.rows)
    assert many.rows < 60


@pytest.mark.parametrize("kind", KINDS)
def test_deleting_an_address_reads_no_other(
    world: World, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    space = make_space(world, kind)
    add(space, "first")
    add(space, "late")
    world.settle(space)
    addresses.delete(address=Address.objects.get(address="first"), by=SYSTEM)
    few = cost_of(world, space, monkeypatch)
    fill(space, 1_000)
    addresses.delete(address=Address.objects.get(address="late"), by=SYSTEM)

    many = cost_of(world, space, monkeypatch)

    assert Address.objects.get(address="late").deleted_at is not None
    assert "late" not in world.broker(space).addresses
    assert set(many.rendered) <= {"late"}
    assert (many.queries, many.rows, many.files) == (few.queries, few.rows, [])


def test_a_user_of_a_standard_space_costs_no_address(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = make_space(world, "standard")
    fill(space, 1_000)
    rows.make_user(space, "bob", ("#", "recv"))
    made = cost_of(world, space, monkeypatch)
    world.now += timedelta(seconds=5)
    messaging_users.revoke(user=space.users.get(name="bob"), by=SYSTEM)

    revoked = cost_of(world, space, monkeypatch)

    assert space.users.get(name="bob").deleted_at is not None
    assert (made.rendered, made.files, revoked.rendered, revoked.files) == ([], [], [], [])
    assert max(made.rows, revoked.rows) < 60


def test_a_user_of_a_brokered_space_changes_the_files_at_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its login is in a file, and each address lists its exact roles."""
    space = make_space(world, "brokered")
    rows.make_user(space, "bob", ("#", "recv"))

    cost = cost_of(world, space, monkeypatch)

    assert cost.files == ["broker"]


@pytest.mark.parametrize("kind", KINDS)
def test_files_are_written_every_thirty_seconds_at_most(
    world: World, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    space = make_space(world, kind)
    written = []
    with measured(monkeypatch) as cost:
        for number in range(30):
            rows.make_address(space, f"late/{number}")
            world.settle(space)
            written += [world.now] * bool(cost.files)
            cost.files.clear()
            world.now += timedelta(seconds=3)
    world.settle_files(space)

    pauses = [later - earlier for earlier, later in itertools.pairwise(written)]
    assert len(written) >= 3
    assert min(pauses) >= timedelta(seconds=30)
    assert all("late/29" in text for text in texts(world))
    assert not space.files_outdated


def texts(world: World) -> list[str]:
    files = [instance.spec.files for instance in world.infra.instances.values()]
    return [files_of.get("broker.xml") or files_of["router.json"] for files_of in files]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", ["_schedule", "status.record"])
def test_files_follow_a_worker_that_was_killed(
    world: World, monkeypatch: pytest.MonkeyPatch, kind: str, place: str
) -> None:
    space = make_space(world, kind)
    rows.make_address(space, "late")

    def die(*_arguments: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(lease.Lease, "release", lambda _self: None)
        module, _, name = f"loop.{place}".rpartition(".")
        patched.setattr({"loop": loop, "loop.status": status}[module], name, die)
        with pytest.raises(Killed):
            loop.reconcile(space.id, world.ports)
    # No message and no time of the change is left, only what the pass has stored.
    far = world.now + timedelta(days=1)
    AddressSpace.objects.filter(pk=space.pk).update(next_attempt_at=far)
    world.now += lease.LENGTH + changes.FILES_EVERY

    world.settle(space)

    assert all('late"' in text for text in texts(world))
    assert Address.objects.get(address="late").phase == "Active"


def test_a_router_that_restarted_from_an_old_file_is_completed_before_the_space_is_ready(
    world: World,
) -> None:
    space = make_space(world, "standard")
    rows.make_address(space, "late")
    world.settle(space)
    held = dict(world.router(space).held)
    for key in [key for key, each in held.items() if each.address == "late"]:
        del world.router(space).held[key]  # its file does not have it yet
    instance = world.infra.instances[next(k for k in world.infra.instances if "router" in k[1])]
    instance.starts += 1
    rows.make_address(space, "later")

    loop.reconcile(space.id, world.ports)

    assert world.router(space).names(entities.ADDRESS) == {"private", "late", "later"}


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_broker_created_again_from_an_old_file_is_deleted(world: World, kind: str) -> None:
    space = make_space(world, kind)
    for name, type_ in (("orders", "queue"), ("news", "topic")):
        rows.make_address(space, name, type_)
    rows.make_address(space, "desk", "subscription", AddressSettings(topic="news"))
    world.settle_files(space)
    held = world.broker(space)
    orders, news = held.addresses["orders"], held.addresses["news"]
    for name in ("orders", "desk"):
        addresses.delete(address=Address.objects.get(address=name), by=SYSTEM)
    world.settle(space)
    assert "orders" not in held.addresses
    assert held.queues == set()
    # As its file says: the files are not written again yet.
    held.addresses |= {"orders": orders, "news": news}
    held.queues.add("desk")
    held.stored["orders"] = 1  # it was open to clients for a moment
    world.infra.instances[next(k for k in world.infra.instances if "broker" in k[1])].starts += 1
    rows.make_address(space, "later")

    loop.reconcile(space.id, world.ports)

    assert held.addresses.keys() == {"private", "news", "later"}
    assert held.queues == set()


def test_an_address_that_waits_is_applied_by_partial_passes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = make_space(world, "standard")
    rows.make_address(space, "late")
    world.routers.broken_links = {"late": "the link is not up"}

    with measured(monkeypatch) as cost:
        waits = [loop.reconcile(space.id, world.ports, budget_seconds=0) for _ in range(2)]
        world.routers.broken_links = {}
        done = loop.reconcile(space.id, world.ports, budget_seconds=0)

    assert [isinstance(outcome, Wait) for outcome in waits] == [True, True]
    assert isinstance(done, Done)
    assert cost.files == []
    space.refresh_from_db()
    assert (
        next(condition for condition in space.conditions if condition["type"] == "Ready")["status"]
        == "True"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_partial_passes_end_where_a_whole_pass_would(world: World, kind: str) -> None:
    space = make_space(world, kind)
    for address, type_ in [("a", "topic"), ("a/b", "topic"), ("x", "topic"), ("mine", "queue")]:
        rows.make_address(space, address, type_)
    world.settle_files(space)
    add(space, "a/b/c")
    rows.make_address(space, "s1", "subscription", AddressSettings(topic="x"))
    world.settle(space)
    rows.make_address(space, "s2", "subscription", AddressSettings(topic="x"))
    mine = Address.objects.get(address="mine")
    settings = AddressSettings(max_bytes=500_000)
    addresses.update(address=mine, settings=settings, by=SYSTEM)
    world.settle(space)
    addresses.delete(address=Address.objects.get(address="a/b/c"), by=SYSTEM)
    addresses.delete(address=Address.objects.get(address="s1"), by=SYSTEM)
    world.settle(space)
    assert space.files_outdated
    routers = {name: dict(each.held) for name, each in world.routers.routers.items()}
    roles, held = dict(world.broker(space).roles), set(world.broker(space).queues)

    AddressSpace.objects.filter(pk=space.pk).update(known_boots={})  # so that it reads everything
    world.settle_files(space)

    assert not space.files_outdated
    assert {name: each.held for name, each in world.routers.routers.items()} == routers
    assert (world.broker(space).roles, world.broker(space).queues) == (roles, held)
