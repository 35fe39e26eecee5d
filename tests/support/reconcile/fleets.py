"""A small fleet under one installation's releases, moved step by step."""

from collections.abc import Sequence
from datetime import timedelta

from controlplane.core.causes import Cause
from controlplane.core.instance_names import Kind
from tenants import rollouts
from tenants.models import AddressSpace, Rollout, Tenant
from tests.support.reconcile import rows
from tests.support.reconcile.world import World
from workers.infra.base import EngineImages, InstanceSpec
from workers.rollouts import fleet
from workers.rollouts.fleet import Policy

ONE, TWO = EngineImages("broker:1", "router:1"), EngineImages("broker:2", "router:2")
THREE = EngineImages("broker:3", "router:3")
POLICY = Policy(wave=2, budget=2, patience=timedelta(minutes=15), first_wave=2)


def make(world: World, tenant: Tenant) -> list[AddressSpace]:
    """Return five settled spaces of one tenant, on the first release there was."""
    made = [rows.make_space(tenant, f"space-{number}") for number in range(5)]
    fleet.advance(ONE, POLICY, world.now)
    settle_all(world, made)
    return made


def settle_all(world: World, spaces: Sequence[AddressSpace]) -> None:
    for space in spaces:
        world.settle(space)


def images(world: World) -> list[str]:
    """Return what each space's broker runs, in the order of the spaces' names."""
    found = {
        key[0]: instance.spec.image
        for key, instance in world.infra.instances.items()
        if instance.spec.kind is Kind.BROKER
    }
    return [found[name] for name in sorted(found)]


def run(world: World, spaces: Sequence[AddressSpace], images: EngineImages = TWO) -> Rollout:
    """Take steps, with reconciling between them, until nothing changes; return the rollout."""
    for _ in range(12):
        fleet.advance(images, POLICY, world.now)
        settle_all(world, spaces)
    return current()


def current() -> Rollout:
    found = rollouts.latest()
    assert found is not None
    return found


def fail_on(image: str, world: World) -> None:
    def refuses(spec: InstanceSpec) -> str:
        return "ImagePullBackOff: no such image" if spec.image == image else ""

    world.infra.refuses = refuses


def break_on(image: str, world: World) -> None:
    """Let the platform report that it cannot load an image, as a cluster does."""
    fail_on(image, world)
    world.infra.causes = {"ImagePullBackOff": Cause.IMAGE}


def of_space(spec: InstanceSpec, space: AddressSpace) -> bool:
    return spec.namespace.space_id == space.id
