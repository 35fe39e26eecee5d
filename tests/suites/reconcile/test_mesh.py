"""Routers that do not reach each other are told, apart from Ready, and not while they start."""

from datetime import timedelta

import pytest
from django.db.models import F

from plans.models import SpacePlan
from tenants.models import AddressSpace
from tenants.router_patches import Patch
from tests.support.reconcile import rows
from tests.support.reconcile.world import World
from workers.messaging.routers import entities
from workers.reconcile import loop
from workers.reconcile.outcome import Done, Wait

pytestmark = pytest.mark.django_db

MINUTE = timedelta(seconds=60)
TORN = frozenset({"router-0", "router-2"})


@pytest.fixture
def meshed(world: World) -> World:
    """A world whose routers can be joined."""
    world.engine = "qdrouterd"
    return world


@pytest.fixture
def space(meshed: World) -> AddressSpace:
    """A settled space of three routers."""
    made = rows.make_space(rows.make_tenant(), kind="standard")
    rows.make_address(made, "calls", "anycast")
    plan = SpacePlan.objects.get(pk=made.space_plan_id)
    plan.definition["routers"] = 3
    plan.save()
    meshed.settle(made)
    return made


def look(world: World, space: AddressSpace) -> timedelta:
    """Pass over the space; return in what time it is looked at again."""
    outcome = loop.reconcile(space.id, world.ports)
    space.refresh_from_db()
    assert isinstance(outcome, Done), outcome
    assert space.next_attempt_at is not None
    return space.next_attempt_at - world.now


def look_after(world: World, space: AddressSpace, pause: timedelta) -> timedelta:
    world.now += pause
    return look(world, space)


def told(space: AddressSpace, kind: str = "Routers") -> tuple[str, str]:
    (found,) = (condition for condition in space.conditions if condition["type"] == kind)
    return found["status"], found["reason"]


def message(space: AddressSpace) -> str:
    (found,) = (condition for condition in space.conditions if condition["type"] == "Routers")
    return str(found["message"])


def test_routers_that_reach_each_other_are_as_planned(space: AddressSpace) -> None:
    assert told(space) == ("True", "AsPlanned")
    assert message(space) == "All 3 routers are connected to each other."


def test_two_that_stay_apart_are_named_while_the_space_serves(
    meshed: World, space: AddressSpace
) -> None:
    meshed.routers.apart = {TORN}

    first = look_after(meshed, space, loop.FULL_PASS_EVERY)
    at_first = told(space)
    look_after(meshed, space, MINUTE)

    assert (first, at_first) == (timedelta(seconds=5), ("Unknown", "MeshForming"))
    assert told(space) == ("False", "MeshIncomplete")
    port = next(p["mesh"] for (_, name), p in meshed.infra.ports.items() if name == "router-0")
    begin = f"router-2 does not reach router-0 (127.0.0.1:{port}: connection refused). Messages"
    assert message(space).startswith(begin)
    assert "network policies" in message(space)
    assert (space.phase, told(space, "Ready")) == ("Active", ("True", "Works"))


def test_what_stays_apart_is_asked_for_less_and_less_often(
    meshed: World, space: AddressSpace
) -> None:
    meshed.routers.apart = {TORN}
    look_after(meshed, space, loop.FULL_PASS_EVERY)
    look_after(meshed, space, MINUTE)

    soon = look_after(meshed, space, timedelta(seconds=10))
    later = look_after(meshed, space, timedelta(seconds=90))

    assert (soon, later) == (timedelta(seconds=5), timedelta(seconds=10))


def test_routers_that_find_each_other_are_as_planned_again(
    meshed: World, space: AddressSpace
) -> None:
    meshed.routers.apart = {TORN}
    look_after(meshed, space, loop.FULL_PASS_EVERY)
    look_after(meshed, space, MINUTE)

    meshed.routers.apart = set()
    pause = look_after(meshed, space, timedelta(seconds=5))

    assert told(space) == ("True", "AsPlanned")
    assert pause > timedelta(minutes=3)


def test_a_start_says_nothing_is_wrong(meshed: World) -> None:
    meshed.routers.apart = {TORN, frozenset({"router-0", "router-1"})}
    made = rows.make_space(rows.make_tenant(), kind="standard")
    plan = SpacePlan.objects.get(pk=made.space_plan_id)
    plan.definition["routers"] = 3
    plan.save()

    look(meshed, made)
    at_first = made.phase, told(made, "Ready")[0], told(made)
    meshed.routers.apart = set()
    look_after(meshed, made, timedelta(seconds=50))

    assert at_first == ("Active", "True", ("Unknown", "MeshForming"))
    assert told(made) == ("True", "AsPlanned")


def test_a_planned_restart_begins_patience_again(meshed: World, space: AddressSpace) -> None:
    meshed.routers.apart = {TORN}
    look_after(meshed, space, loop.FULL_PASS_EVERY)
    AddressSpace.objects.filter(pk=space.pk).update(rolled_at=meshed.now + MINUTE / 2)

    look_after(meshed, space, MINUTE)
    meanwhile = told(space)
    look_after(meshed, space, MINUTE / 2)

    assert meanwhile == ("Unknown", "MeshForming")
    assert told(space) == ("False", "MeshIncomplete")


def test_a_router_that_is_down_is_told_as_down(meshed: World, space: AddressSpace) -> None:
    namespace = next(iter(meshed.infra.namespaces))
    meshed.infra.instances[namespace, "router-1"].trouble = "OOMKilled"

    meshed.now += loop.FULL_PASS_EVERY
    outcome = loop.reconcile(space.id, meshed.ports, budget_seconds=0)
    space.refresh_from_db()

    assert isinstance(outcome, Wait)
    assert outcome.text == "RouterDown: router-1 is not ready: OOMKilled."
    assert told(space) == ("True", "AsPlanned"), "what was seen last"


def test_who_is_apart_is_told_beside_one_that_is_down(meshed: World, space: AddressSpace) -> None:
    meshed.routers.apart = {TORN}
    look_after(meshed, space, loop.FULL_PASS_EVERY)
    namespace = next(iter(meshed.infra.namespaces))
    meshed.infra.instances[namespace, "router-1"].trouble = "OOMKilled"

    meshed.now += 2 * MINUTE
    loop.reconcile(space.id, meshed.ports, budget_seconds=0)
    space.refresh_from_db()

    assert told(space) == ("False", "MeshIncomplete")
    assert "router-1" not in message(space)


def test_one_router_has_nobody_to_reach(meshed: World, space: AddressSpace) -> None:
    plan = SpacePlan.objects.get(pk=space.space_plan_id)
    plan.definition["routers"] = 1
    plan.save()
    AddressSpace.objects.filter(pk=space.pk).update(generation=F("generation") + 1)

    meshed.settle(space)

    assert [condition["type"] for condition in space.conditions] == ["Ready"]


def test_topics_move_to_a_living_router_while_the_first_is_down(
    meshed: World, space: AddressSpace
) -> None:
    rows.make_address(space, "news", "topic")
    meshed.settle(space)
    first = next(
        instance for (_, name), instance in meshed.infra.instances.items() if name == "router-0"
    )
    assert leaders(meshed) == {"router-0"}

    first.trouble = "OOMKilled"
    loop.reconcile(space.id, meshed.ports)
    away = leaders(meshed)
    first.trouble = ""
    loop.reconcile(space.id, meshed.ports)

    assert "router-1" in away
    assert "router-2" not in away
    assert leaders(meshed) == {"router-0"}


def test_every_router_holds_the_topics_where_they_announce_one_container_id(
    meshed: World, space: AddressSpace
) -> None:
    rows.make_address(space, "news", "topic")
    meshed.routers.patches = frozenset({Patch.CONTAINER_ID, Patch.SASL_OUTCOME})
    meshed.settle(space)

    space.refresh_from_db()
    assert space.router_patches == ["container-id", "sasl-outcome"]
    assert leaders(meshed) == {"router-0", "router-1", "router-2"}


def leaders(world: World) -> set[str]:
    """Return the routers that hold routes of topics."""
    return {
        name
        for (_, name), router in world.routers.routers.items()
        if router.names(entities.LINK_ROUTE)
    }
