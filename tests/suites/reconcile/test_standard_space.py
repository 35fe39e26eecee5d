"""A standard space from rows to fakes: routers hold what brokers store, and nothing is unbilled."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.core.address_types import AddressSettings
from controlplane.core.audit import SYSTEM
from controlplane.core.reasons import Reason
from plans.models import SpacePlan
from tenants.actions import address_spaces, addresses, messaging_users, restrictions, space_plans
from tenants.models import Address, AddressSpace, MessagingUser
from tests.support.reconcile import rows
from tests.support.reconcile.fake_routers import Connected
from tests.support.reconcile.world import World
from workers.infra import names
from workers.messaging.probe import ProbeFailed
from workers.messaging.routers import config, entities
from workers.reconcile import desired_routers, loop, space_rows
from workers.reconcile.outcome import Done, Wait

pytestmark = pytest.mark.django_db


@pytest.fixture
def space() -> AddressSpace:
    made = rows.make_space(rows.make_tenant(), kind="standard")
    rows.make_address(made, "calls", "anycast")
    rows.make_address(made, "weather", "multicast")
    rows.make_address(made, "orders", "queue")
    rows.make_address(made, "news", "topic")
    rows.make_user(made, "alice", ("#", "send recv"))
    return made


def address(name: str) -> Address:
    return Address.objects.get(address=name)


def ready(row: Address | AddressSpace) -> dict[str, str]:
    return next(condition for condition in row.conditions if condition["type"] == "Ready")


def settle_now(world: World, space: AddressSpace) -> None:
    """Settle, and bring the world's clock to the real one that rows are stamped with."""
    world.settle(space)
    world.now = timezone.now()


def file_of(world: World, space: AddressSpace) -> list[tuple[str, dict[str, object]]]:
    namespace = names.namespace(space.tenant_id, space.id, space.name)
    spec = world.infra.instances[namespace, "router-0"].spec
    entries: list[tuple[str, dict[str, object]]] = json.loads(spec.files[config.CONFIG_FILE])
    return entries


def test_settle_makes_routers_and_brokers_hold_everything(
    world: World, space: AddressSpace
) -> None:
    outcome = world.settle(space)

    router = world.router(space)
    assert isinstance(outcome, Done)
    assert space.phase == "Active"
    assert set(space.addresses.values_list("phase", flat=True)) == {"Active"}
    assert router.names(entities.ADDRESS) == {"calls", "weather", "orders"}
    assert router.names(entities.LINK_ROUTE) == {"news"}
    assert router.names(entities.AUTO_LINK) == {"calls", "weather", "orders"}
    assert set(world.broker(space).addresses) == {"orders", "news"}
    assert space.endpoints.get().port > 0


def test_second_pass_writes_nothing(world: World, space: AddressSpace) -> None:
    world.settle(space)
    before = world.writes

    world.pass_full(space)

    assert world.writes == before


def test_the_routers_file_equals_what_it_holds(world: World, space: AddressSpace) -> None:
    world.settle(space)
    rows.make_address(space, "late", "anycast")

    world.settle(space)
    world.settle_files(space)

    written = {
        attributes["name"]
        for kind, attributes in file_of(world, space)
        if kind in {"connector", "address", "autoLink", "linkRoute"}
    }
    assert written == {name for _, name in world.router(space).held}


def test_the_routers_file_names_no_address_that_no_broker_can_carry(
    world: World, space: AddressSpace
) -> None:
    Address.objects.filter(address="orders").update(address="a${b}")  # from before that was refused

    world.settle(space)

    assert ready(address("a${b}"))["reason"] == "AddressNotPossible"
    assert "a${b}" not in json.dumps(file_of(world, space))


def test_a_new_address_restarts_nothing(world: World, space: AddressSpace) -> None:
    world.settle(space)

    rows.make_address(space, "late", "queue")
    world.settle(space)

    assert address("late").phase == "Active"
    assert {instance.starts for instance in world.infra.instances.values()} == {1}


def test_drift_is_repaired_by_the_full_pass(world: World, space: AddressSpace) -> None:
    world.settle(space)
    held = world.router(space).held
    before = dict(held)
    del held[entities.ADDRESS, "wp-address:calls"]
    held[entities.ADDRESS, "wp-orphan"] = before[entities.ADDRESS, "wp-address:calls"]

    world.pass_full(space)

    assert held == before


def test_a_link_whose_consumer_is_gone_is_recreated_by_the_full_pass(
    world: World, space: AddressSpace
) -> None:
    rows.make_address(space, "desk", "subscription", AddressSettings(topic="news"))
    world.settle(space)
    world.broker(space).unread = {"orders", "desk", "of nobody"}

    world.pass_full(space)

    assert set(world.router(space).reattached) == {"orders", "news::desk"}


def test_a_router_that_starts_is_waited_for(world: World, space: AddressSpace) -> None:
    world.routers.slow_starts = 1000

    outcome = loop.reconcile(space.id, world.ports, budget_seconds=0)

    assert outcome == Wait(
        0.2, Reason.ROUTER_STARTING, "router-0 is not ready: it does not answer yet."
    )


def test_a_link_that_does_not_come_up_is_shown_in_the_routers_words(
    world: World, space: AddressSpace
) -> None:
    world.routers.broken_links = {"orders": "wp-in: amqp:not-found"}

    loop.reconcile(space.id, world.ports, budget_seconds=0)

    assert ready(address("orders"))["reason"] == "LinksPending"
    assert "amqp:not-found" in ready(address("orders"))["message"]


def test_a_failing_probe_keeps_addresses_from_ready(world: World, space: AddressSpace) -> None:
    world.routers.fail_at("probe", ProbeFailed("no credit"))

    loop.reconcile(space.id, world.ports, budget_seconds=0)

    assert address("calls").phase == "Configuring"
    assert ready(address("calls"))["reason"] == "ProbeFailed"


@pytest.mark.parametrize(("name", "kind"), [("calls", "anycast"), ("orders", "queue")])
def test_deleting_an_address_counts_before_it_forgets(
    world: World, space: AddressSpace, name: str, kind: str
) -> None:
    settle_now(world, space)
    router = world.router(space)
    router.connections = {Connected("alice", world.now, name), Connected("alice", world.now, "x")}
    addresses.delete(address=address(name), by=SYSTEM)
    world.metering.not_yet = 1

    loop.reconcile(space.id, world.ports, budget_seconds=0)
    while_sampling = (
        name in router.names(entities.ADDRESS),
        name in router.names(entities.AUTO_LINK),
        {connection.address for connection in router.connections},
    )
    world.settle(space)

    assert while_sampling == (False, kind == "anycast", {"x"})
    assert world.metering.samples == [(space.id, (name,))]
    assert name not in {entity.address for entity in router.held.values()}
    assert address(name).deleted_at is not None


def test_revoking_a_user_closes_its_connections_and_no_others(
    world: World, space: AddressSpace
) -> None:
    bob = rows.make_user(space, "bob", ("#", "send recv"))
    settle_now(world, space)
    router = world.router(space)
    router.connections = {Connected("alice", world.now), Connected("bob", world.now)}
    messaging_users.revoke(user=bob, by=SYSTEM)

    loop.reconcile(space.id, world.ports, budget_seconds=0)
    at_once = {connection.user for connection in router.connections}
    # The auth service has not heard of it yet, and lets bob in once more.
    router.connections.add(Connected("bob", world.now))
    world.settle(space)

    assert at_once == {"alice"}
    assert {connection.user for connection in router.connections} == {"alice"}
    assert MessagingUser.objects.get(pk=bob.pk).deleted_at is not None


def test_changed_permissions_close_connections_from_before(
    world: World, space: AddressSpace
) -> None:
    settle_now(world, space)
    alice = space.users.get(name="alice")
    router = world.router(space)
    router.connections = {Connected("alice", world.now)}

    messaging_users.update(
        user=alice, permissions=[{"addresses": ["calls"], "operations": ["recv"]}], by=SYSTEM
    )
    world.settle(space)

    assert router.connections == set()
    assert space.users.get(name="alice").phase == "Active"


def test_a_connection_that_may_be_older_than_it_seems_loses_its_permissions(
    world: World, space: AddressSpace
) -> None:
    alice = MessagingUser.objects.get(name="alice")
    rows.make_user(space, "carol", ("#", "send recv"))
    world.settle(space)
    messaging_users.update(
        user=alice, by=SYSTEM, permissions=[{"addresses": ["orders"], "operations": ["recv"]}]
    )

    read = space_rows.load(AddressSpace.objects.get(pk=space.pk), now=world.now, full=False)

    alice.refresh_from_db()
    known = alice.updated_at + desired_routers.LOGINS_LAG
    assert desired_routers.settles_at(read) == known
    allowed = desired_routers.allowed(read)
    assert allowed["alice"] == known + timedelta(seconds=1)
    # One that did not change may have connected as soon as it was created.
    assert allowed["carol"] == MessagingUser.objects.get(name="carol").created_at


def test_withdrawn_send_makes_everybody_log_in_again(world: World, space: AddressSpace) -> None:
    settle_now(world, space)
    router = world.router(space)
    router.connections = {Connected("alice", world.now)}

    restrictions.withdraw_send(space=space, by=SYSTEM, reason="quota")
    world.settle(space)

    assert router.connections == set()


def plan_with_more_addresses(space: AddressSpace) -> None:
    """Publish a version of the space's plan that differs in how many addresses it allows."""
    plan = space.space_plan
    SpacePlan.objects.create(
        key=plan.key,
        version=plan.version + 1,
        catalogue=plan.catalogue,
        title=plan.title,
        space_type=plan.space_type,
        definition={**plan.definition, "max_addresses": plan.definition["max_addresses"] + 1},
    )


def test_a_change_of_plan_cuts_nobody_off(world: World, space: AddressSpace) -> None:
    settle_now(world, space)
    router = world.router(space)
    router.connections = {Connected("alice", world.now)}
    plan_with_more_addresses(space)

    space_plans.change(space=space, space_plan=space.space_plan.key, by=SYSTEM)
    world.settle(space)

    assert space.observed_generation == 2
    assert {connection.user for connection in router.connections} == {"alice"}


def test_a_change_of_plan_hides_no_withdrawn_send(world: World, space: AddressSpace) -> None:
    settle_now(world, space)
    router = world.router(space)
    router.connections = {Connected("alice", world.now)}
    plan_with_more_addresses(space)

    restrictions.withdraw_send(space=space, by=SYSTEM, reason="quota")
    space_plans.change(space=space, space_plan=space.space_plan.key, by=SYSTEM)
    world.settle(space)

    assert router.connections == set()


def test_names_that_routers_confuse_are_refused_to_the_newer(
    world: World, space: AddressSpace
) -> None:
    rows.make_address(space, "a.b", "anycast")
    newer = rows.make_address(space, "later", "anycast")
    Address.objects.filter(pk=newer.pk).update(address="a/b")  # admission refuses it today

    world.settle(space)

    assert address("a.b").phase == "Active"
    assert address("a/b").phase == "Failed"
    assert "a.b" in ready(address("a/b"))["message"]


def test_deleting_the_space_empties_routers_before_the_last_sample(
    world: World, space: AddressSpace
) -> None:
    settle_now(world, space)
    router = world.router(space)
    router.connections = {Connected("alice", world.now)}
    address_spaces.delete(space=space, by=SYSTEM)
    world.metering.not_yet = 1

    loop.reconcile(space.id, world.ports, budget_seconds=0)
    while_sampling = (
        router.names(entities.ADDRESS),
        router.names(entities.AUTO_LINK),
        set(router.connections),
    )
    world.settle(space)

    assert while_sampling == (set(), {"calls", "weather"}, set())
    assert world.metering.samples == [(space.id, None)]
    assert (world.infra.instances, space.deleted_at is not None) == ({}, True)
