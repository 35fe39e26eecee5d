"""A deleted space leaves its volumes behind when asked to, until an operator releases them."""

import pytest

from controlplane.core.audit import SYSTEM
from controlplane.core.errors import Missing
from controlplane.core.reasons import Reason
from tenants.actions import address_spaces, kept_volumes
from tenants.models import AddressSpace, KeptVolumes
from tests.support.reconcile import rows
from tests.support.reconcile.world import World
from workers import volumes
from workers.infra.base import InfraError
from workers.reconcile import loop
from workers.reconcile.outcome import Done

pytestmark = pytest.mark.django_db


@pytest.fixture
def deleted(world: World) -> AddressSpace:
    """A space that was deleted but for its volumes."""
    space = rows.make_space(rows.make_tenant())
    rows.make_address(space, "orders")
    assert isinstance(loop.reconcile(space.id, world.ports), Done)
    address_spaces.delete(space=space, by=SYSTEM, keep_volumes=True)
    world.infra.writes = 0
    assert isinstance(loop.reconcile(space.id, world.ports), Done)
    space.refresh_from_db()
    return space


def test_kept_volumes_outlive_the_space(world: World, deleted: AddressSpace) -> None:
    (namespace,) = world.infra.list_namespaces()

    volumes.remove_released(world.infra)

    assert deleted.deleted_at is not None
    assert world.infra.instances == {}
    assert world.infra.kept == {(namespace, "broker-0")}
    assert world.infra.endpoints == set()


def test_released_volumes_go_and_asking_twice_is_one(world: World, deleted: AddressSpace) -> None:
    first = kept_volumes.release(space_id=deleted.id, by=SYSTEM)
    again = kept_volumes.release(space_id=deleted.id, by=SYSTEM)

    volumes.remove_released(world.infra)
    writes = world.infra.writes
    volumes.remove_released(world.infra)

    assert first.released_at == again.released_at
    assert KeptVolumes.objects.get().gone_at is not None
    assert (world.infra.list_namespaces(), world.infra.kept) == ([], set())
    assert world.infra.writes == writes


def test_a_place_that_is_away_is_asked_again(
    world: World, deleted: AddressSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_namespace: object) -> bool:
        raise InfraError("away", reason=Reason.CLUSTER_UNREACHABLE, retry=True)

    kept_volumes.release(space_id=deleted.id, by=SYSTEM)
    with monkeypatch.context() as patched:
        patched.setattr(world.infra, "delete_namespace", away)
        volumes.remove_released(world.infra)
    waiting = KeptVolumes.objects.get().gone_at

    volumes.remove_released(world.infra)

    assert waiting is None
    assert KeptVolumes.objects.get().gone_at is not None


def test_nothing_is_kept_unless_asked_for(world: World) -> None:
    space = rows.make_space(rows.make_tenant())
    loop.reconcile(space.id, world.ports)
    address_spaces.delete(space=space, by=SYSTEM)

    loop.reconcile(space.id, world.ports)

    assert (world.infra.list_namespaces(), world.infra.kept) == ([], set())
    with pytest.raises(Missing, match="No volumes are kept"):
        kept_volumes.release(space_id=space.id, by=SYSTEM)


def test_volumes_of_a_space_that_still_ends_cannot_be_released(world: World) -> None:
    space = rows.make_space(rows.make_tenant())
    address_spaces.delete(space=space, by=SYSTEM, keep_volumes=True)

    with pytest.raises(Missing):
        kept_volumes.release(space_id=space.id, by=SYSTEM)
