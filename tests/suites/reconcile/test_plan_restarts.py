"""What a change of plan or of settings names as restarting does restart, and nothing else."""

from dataclasses import fields
from typing import Any

import pytest

from controlplane.core.address_types import SETTINGS, AddressSettings
from controlplane.core.audit import SYSTEM
from controlplane.core.restarts import sentence
from plans.catalog import publishing
from plans.catalog.definitions import SpacePlanDefinition
from plans.models import SpacePlan
from tenants.actions import addresses, space_plans
from tenants.actions.space_plans import StorageDiffers
from tenants.models import AddressSpace
from tests.support.reconcile import rows
from tests.support.reconcile.world import World
from workers.reconcile.outcome import Done

pytestmark = pytest.mark.django_db
NAMES = {"key", "title", "space_type"}
VALUES = sorted({field.name for field in fields(SpacePlanDefinition)} - NAMES)
# A broker keeps its volume, so these are refused while there is one.
REFUSED = {"broker_disk_gb", "broker_persistent"}
KINDS = {"standard": "standard-medium", "brokered": "brokered-medium"}


def make_space(world: World, kind: str) -> AddressSpace:
    world.engine = "qdrouterd"  # with a mesh
    space = rows.make_space(rows.make_tenant(), kind=kind)
    rows.make_address(space, "q")
    settle(world, space)
    return space


def settle(world: World, space: AddressSpace) -> None:
    assert isinstance(world.settle(space), Done)
    space.refresh_from_db()


def publish_with(space: AddressSpace, name: str) -> str:
    """Make another plan equal to that of the space but for one value; return its key."""
    key = KINDS[space.type]
    definition = dict(space.space_plan.definition)
    old = getattr(publishing.space_plan_definition(space.space_plan), name)
    other = {
        "broker_journal": "asyncio",
        "placement": "fast",
        "hour_price": "0.5",
        "hour_prices": {"USD": "0.6"},
    }
    if name in other:
        definition[name] = other[name]
    elif isinstance(old, bool):
        definition[name] = not old
    else:
        definition[name] = (old or 7) + 1
    SpacePlan.objects.filter(key=key, retired=False).update(definition=definition)
    return key


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", VALUES)
def test_a_change_of_plan_names_what_restarts(world: World, kind: str, name: str) -> None:
    space = make_space(world, kind)
    key = publish_with(space, name)
    before = {instance for _, instance in world.infra.instances}
    world.infra.started.clear()
    if name in REFUSED:
        with pytest.raises(StorageDiffers):
            space_plans.change(space=space, space_plan=key, by=SYSTEM)
        return

    operation = space_plans.change(space=space, space_plan=key, by=SYSTEM)
    settle(world, space)

    operation.refresh_from_db()
    assert operation.state == "Succeeded"
    assert operation.restarts == sorted(before.intersection(world.infra.started))


def test_the_default_plans_restart_all(world: World) -> None:
    space = make_space(world, "standard")

    operation = space_plans.change(space=space, space_plan="standard-large", by=SYSTEM)
    settle(world, space)
    assert operation.restarts == ["broker-0", "router-0"]
    assert {"broker-0", "router-0", "router-1"} <= set(world.infra.started)

    again = space_plans.change(space=space, space_plan="standard-large", by=SYSTEM)
    assert again.restarts == []


@pytest.mark.parametrize("kind", KINDS)
def test_no_setting_of_an_address_restarts_anything(world: World, kind: str) -> None:
    space = make_space(world, kind)
    queue = space.addresses.get()
    rows.make_address(space, "dead", "deadletter")
    settle(world, space)
    world.infra.started.clear()
    texts = {"dead_letter": "dead", "expiry": "dead", "when_full": "block"}
    given = {
        "message_ttl_ms": 60_000,
        "message_ttl_min_ms": 5,
        "max_delivery_attempts": 3,
        "redelivery_delay_ms": 500,
        "max_bytes": 1_000_000,
        **texts,
    }
    assert set(given) <= {setting.name for setting in SETTINGS}
    usable: dict[str, Any] = {
        name: value for name, value in given.items() if kind == "brokered" or name != "when_full"
    }

    _, operation = addresses.update(address=queue, settings=AddressSettings(**usable), by=SYSTEM)
    settle(world, space)

    assert operation.restarts == world.infra.started == []


def test_the_sentence_names_each_instance() -> None:
    assert sentence(None) == ""
    assert sentence([]) == "Nothing restarts."
    assert sentence(["broker-0"]).startswith("broker-0 restarts. ")
    three = sentence(["broker-0", "router-0", "router-1"])
    assert three.startswith("broker-0, router-0 and router-1 restart, one broker and one router ")
