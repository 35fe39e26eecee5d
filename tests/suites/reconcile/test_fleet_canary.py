"""The first space of a rollout shows whether the release starts; one that it breaks goes back."""

from dataclasses import replace

import pytest

from controlplane.core.audit import SYSTEM
from controlplane.core.models import AuditEvent
from tenants import rollouts
from tenants.actions import rollouts as actions
from tenants.models import AddressSpace, Tenant
from tests.support.reconcile import fleets, rows
from tests.support.reconcile.fleets import POLICY, TWO, break_on, current, images, settle_all
from tests.support.reconcile.world import World
from workers.rollouts import fleet

pytestmark = pytest.mark.django_db

CAREFUL = replace(POLICY, wave=5, budget=3, first_wave=1)


@pytest.fixture
def tenant() -> Tenant:
    return rows.make_tenant()


@pytest.fixture
def spaces(world: World, tenant: Tenant) -> list[AddressSpace]:
    return fleets.make(world, tenant)


def step(world: World, spaces: list[AddressSpace]) -> None:
    fleet.advance(TWO, CAREFUL, world.now)
    settle_all(world, spaces)


def test_one_space_goes_first_and_then_the_whole_wave(
    world: World, spaces: list[AddressSpace]
) -> None:
    step(world, spaces)
    first = sorted(images(world))
    step(world, spaces)

    assert first == ["broker:1"] * 4 + ["broker:2"]
    assert images(world) == ["broker:2"] * 5


def test_an_image_that_cannot_be_loaded_stops_at_the_first_space_which_goes_back(
    world: World, spaces: list[AddressSpace]
) -> None:
    break_on("broker:2", world)
    step(world, spaces)  # moves the first
    broken = AddressSpace.objects.get(release__number=2)
    down = broken.conditions[0]
    step(world, spaces)  # finds it broken
    stopped = current()

    assert down["message"] == "broker-0 is not ready: its software cannot be loaded."
    assert down["detail"] == "broker-0 is not ready: ImagePullBackOff: no such image."
    assert (stopped.state, images(world)) == ("Stopped", ["broker:1"] * 5)
    assert "ImagePullBackOff: no such image" in stopped.reason
    assert AuditEvent.objects.get(action="address_space.release_back").subject_id == broken.pk
    assert set(AddressSpace.objects.values_list("phase", flat=True)) == {"Active"}
    step(world, spaces)
    assert current() == stopped
    others = [
        instance.starts
        for instance in world.infra.instances.values()
        if instance.spec.namespace.space_id != broken.pk
    ]
    assert set(others) == {1}


def test_a_resumed_rollout_moves_one_other_space_until_the_broken_one_is_back(
    world: World, spaces: list[AddressSpace]
) -> None:
    break_on("broker:2", world)
    step(world, spaces)
    fleet.advance(TWO, CAREFUL, world.now)  # stops; nobody reconciles

    actions.resume(by=SYSTEM)
    fleet.advance(TWO, CAREFUL, world.now)

    standing = rollouts.progress(current(), world.now, CAREFUL.patience)
    assert (standing.done, standing.changing, standing.waiting) == (0, 1, 4)
