"""Routers and brokers become more and fewer by the same steps that made them."""

import json

import pytest
from django.db.models import F

from controlplane.core.audit import SYSTEM
from controlplane.core.instance_names import Kind
from plans.models import SpacePlan
from tenants.actions import addresses
from tenants.models import Address, AddressSpace, Broker, Placement, SpaceSecret
from tests.suites.reconcile.test_crash_anywhere import kill_after, list_steps, run_killed
from tests.support.reconcile import rows
from tests.support.reconcile.fake_routers import Connected
from tests.support.reconcile.world import World
from workers.messaging.routers import config, entities
from workers.reconcile import address_space, loop
from workers.reconcile.outcome import Done

pytestmark = pytest.mark.django_db


@pytest.fixture
def meshed(world: World) -> World:
    """A world whose routers can be joined."""
    world.engine = "qdrouterd"
    return world


def make_space(world: World) -> AddressSpace:
    space = rows.make_space(rows.make_tenant(), kind="standard")
    rows.make_address(space, "calls", "anycast")
    rows.make_address(space, "orders")
    rows.make_address(space, "news", "topic")
    rows.make_user(space, "alice", ("#", "send recv"))
    world.settle(space)
    return space


def want_routers(space: AddressSpace, count: int) -> None:
    plan = SpacePlan.objects.get(pk=space.space_plan_id)
    plan.definition["routers"] = count
    plan.save()
    AddressSpace.objects.filter(pk=space.pk).update(generation=F("generation") + 1)
    space.refresh_from_db()


def running(world: World, kind: Kind) -> list[str]:
    return sorted(
        n for (_, n), instance in world.infra.instances.items() if instance.spec.kind is kind
    )


def mesh(world: World, space: AddressSpace, name: str) -> set[str]:
    """Return the peers that a router dials."""
    held = world.router(space, name).held.values()
    return {
        entity.name
        for entity in held
        if entity.kind == entities.CONNECTOR and entity.attributes["role"] == "inter-router"
    }


def ready(row: AddressSpace, kind: str = "Ready") -> dict[str, str]:
    return next(condition for condition in row.conditions if condition["type"] == kind)


def test_more_routers_join_and_restart_nobody(meshed: World) -> None:
    space = make_space(meshed)
    meshed.infra.started.clear()

    want_routers(space, 3)
    outcome = meshed.settle(space)

    assert isinstance(outcome, Done)
    assert meshed.infra.started == ["router-1", "router-2"]
    assert mesh(meshed, space, "router-0") == set()
    assert mesh(meshed, space, "router-1") == {"wp-mesh-router-0"}
    assert mesh(meshed, space, "router-2") == {"wp-mesh-router-0", "wp-mesh-router-1"}
    for name in ("router-1", "router-2"):
        assert meshed.router(space, name).names(entities.ADDRESS) == {"calls", "orders"}
        assert meshed.router(space, name).names(entities.LINK_ROUTE) == set(), "only one leads"
    space.refresh_from_db()
    assert ready(space, "Routers")["status"] == "True"


def test_fewer_routers_send_their_clients_away_first(meshed: World) -> None:
    space = make_space(meshed)
    want_routers(space, 3)
    meshed.settle(space)
    meshed.infra.started.clear()
    leaving = meshed.router(space, "router-2")
    leaving.connections = {Connected("alice", meshed.now)}

    want_routers(space, 1)
    outcome = meshed.settle(space)

    assert isinstance(outcome, Done)
    assert running(meshed, Kind.ROUTER) == ["router-0"]
    assert leaving.connections == set()
    assert leaving.names(entities.ADDRESS) == set()
    left = [name for _, name in meshed.metering.restarts if name.startswith("router")]
    assert left == ["router-1", "router-2"]
    assert meshed.infra.started == []
    names = SpaceSecret.objects.filter(space=space, name__startswith="server/router")
    assert list(names.values_list("name", flat=True)) == ["server/router-0"]


def test_a_router_leaves_only_after_its_last_sample(meshed: World) -> None:
    space = make_space(meshed)
    want_routers(space, 2)
    meshed.settle(space)
    meshed.metering.not_yet = 10**6

    want_routers(space, 1)
    loop.reconcile(space.id, meshed.ports, budget_seconds=0)

    assert running(meshed, Kind.ROUTER) == ["router-0", "router-1"]


def test_the_development_router_stays_alone_and_says_so(world: World) -> None:
    space = make_space(world)

    want_routers(space, 3)
    world.settle(space)

    assert running(world, Kind.ROUTER) == ["router-0"]
    assert space.phase == "Active"
    assert ready(space, "Routers")["status"] == "False"
    assert "development router runs alone" in ready(space, "Routers")["message"]


def test_a_router_with_peers_listens_for_them_with_mutual_tls(meshed: World) -> None:
    space = make_space(meshed)
    (spec,) = (e.spec for e in meshed.infra.instances.values() if e.spec.kind is Kind.ROUTER)

    entries = json.loads(spec.files[config.CONFIG_FILE])

    (mesh_listener,) = (
        attributes
        for kind, attributes in entries
        if kind == "listener" and attributes["role"] == "inter-router"
    )
    assert dict(entries)["router"]["mode"] == "interior"
    assert mesh_listener == {
        "name": "wp-mesh",
        "host": "127.0.0.1",
        "port": meshed.infra.ports[spec.namespace.name, "router-0"]["mesh"],
        "role": "inter-router",
        "sslProfile": "wp-server",
        "saslMechanisms": "EXTERNAL",
        "authenticatePeer": True,
        "requireSsl": True,
        "initialHandshakeTimeoutSeconds": 30,
        "idleTimeoutSeconds": 16,
    }
    assert space.phase == "Active"


def spread(space: AddressSpace, world: World) -> None:
    """Have a second broker with an address of its own."""
    late = rows.make_address(space, "late")
    broker, _ = Broker.objects.get_or_create(space=space, ordinal=1)
    Placement.objects.filter(address=late).update(broker=broker)
    world.settle(space)


def empty_second(space: AddressSpace, world: World) -> None:
    addresses.delete(address=Address.objects.get(space=space, address="late"), by=SYSTEM)
    world.settle(space)


def test_a_broker_more_joins_and_restarts_nobody(world: World) -> None:
    space = make_space(world)
    world.infra.started.clear()

    spread(space, world)

    assert world.infra.started == ["broker-1"]
    connectors = {name for kind, name in world.router(space).held if kind == entities.CONNECTOR}
    assert {"wp-broker-0", "wp-broker-1"} <= connectors


def test_a_broker_without_anything_goes_with_its_volume(world: World) -> None:
    space = make_space(world)
    spread(space, world)
    empty_second(space, world)
    assert running(world, Kind.BROKER) == ["broker-0", "broker-1"], "not before a full pass"

    world.pass_full(space)
    dialed = {name for kind, name in world.router(space).held if kind == entities.CONNECTOR}
    world.pass_full(space)

    assert running(world, Kind.BROKER) == ["broker-0"]
    assert list(space.brokers.values_list("ordinal", flat=True)) == [0]
    assert "wp-broker-1" in dialed, "its row went first"
    assert not [n for k, n in world.router(space).held if k == entities.CONNECTOR and "-1" in n]
    assert isinstance(world.pass_full(space), Done)


def test_a_broker_with_a_message_stays(world: World) -> None:
    space = make_space(world)
    spread(space, world)
    empty_second(space, world)
    world.broker(space, "broker-1").stored = {"left over": 1}

    for _ in range(3):
        world.pass_full(space)

    assert running(world, Kind.BROKER) == ["broker-0", "broker-1"]
    assert space.brokers.count() == 2


def test_a_broker_that_stored_something_after_its_row_went_stays(world: World) -> None:
    space = make_space(world)
    spread(space, world)
    empty_second(space, world)
    world.pass_full(space)
    world.broker(space, "broker-1").stored = {"left over": 1}

    for _ in range(2):
        world.pass_full(space)

    assert running(world, Kind.BROKER) == ["broker-0", "broker-1"]


def test_a_broker_that_does_not_answer_is_not_taken_for_empty(world: World) -> None:
    space = make_space(world)
    spread(space, world)
    empty_second(space, world)
    (key,) = (instance for instance in world.infra.instances if instance[1] == "broker-1")
    world.infra.instances[key].trouble = "Unschedulable: no node"

    for _ in range(3):
        world.pass_full(space)

    assert running(world, Kind.BROKER) == ["broker-0", "broker-1"]
    assert space.brokers.count() == 2


def test_a_broker_on_its_way_out_is_taken_again_for_a_new_address(world: World) -> None:
    space = make_space(world)
    spread(space, world)
    empty_second(space, world)
    world.pass_full(space)
    starts = len(world.infra.started)

    spread(space, world)
    world.pass_full(space)

    assert running(world, Kind.BROKER) == ["broker-0", "broker-1"]
    assert world.broker(space, "broker-1").addresses.keys() == {"late"}
    assert len(world.infra.started) == starts


@pytest.mark.parametrize("name", list_steps(address_space.ensure_standard))
@pytest.mark.parametrize("count", [1, 3])
def test_killed_while_counts_and_sizes_change(
    meshed: World, monkeypatch: pytest.MonkeyPatch, name: str, count: int
) -> None:
    space = make_space(meshed)
    spread(space, meshed)
    want_routers(space, 2)
    meshed.settle(space)
    before = {key[1]: instance.starts for key, instance in meshed.infra.instances.items()}
    plan = SpacePlan.objects.get(pk=space.space_plan_id)
    plan.definition["broker_memory_mb"] = 192
    plan.save()
    want_routers(space, count)
    kill_after(name, address_space.ensure_standard, monkeypatch)

    run_killed(meshed, space, monkeypatch)
    meshed.settle(space)

    found = {key[1]: instance for key, instance in meshed.infra.instances.items()}
    assert running(meshed, Kind.ROUTER) == [f"router-{n}" for n in range(count)]
    for broker in ("broker-0", "broker-1"):
        assert found[broker].spec.memory_mb == 192
        assert found[broker].starts == before[broker] + 1, "once, whoever was killed"
    assert found["router-0"].starts == before["router-0"]
    assert (space.phase, ready(space)["status"]) == ("Active", "True")
