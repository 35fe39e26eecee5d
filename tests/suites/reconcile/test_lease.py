"""A step that takes longer than the lease lets no second worker in."""

import pytest

from tenants.models import AddressSpace
from tests.support.reconcile import rows
from tests.support.reconcile.world import World
from tests.support.waiting import eventually, is_keeper_gone
from workers.infra.base import Namespace, ResourceBudget
from workers.reconcile import lease, loop
from workers.reconcile.lease import Lease
from workers.reconcile.outcome import Done


@pytest.fixture
def space() -> AddressSpace:
    return rows.make_space(rows.make_tenant())


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "_RENEW_SECONDS", 0.01)


@pytest.mark.django_db(transaction=True)
def test_a_step_longer_than_the_lease_keeps_the_space(
    world: World, space: AddressSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = []
    make = world.infra.ensure_namespace

    def is_held() -> bool:
        return AddressSpace.objects.filter(pk=space.pk, claimed_until__gt=world.now).exists()

    def ensure_namespace(namespace: Namespace, budget: ResourceBudget) -> None:
        world.now += 2 * lease.LENGTH
        eventually(is_held)
        others.append((loop.list_due(world.ports), loop.reconcile(space.id, world.ports)))
        make(namespace, budget)

    monkeypatch.setattr(world.infra, "ensure_namespace", ensure_namespace)
    outcome = loop.reconcile(space.id, world.ports)

    space.refresh_from_db()
    assert set(map(str, others)) == {"([], None)"}
    assert isinstance(outcome, Done)
    assert (space.phase, space.claimed_by, space.claimed_until) == ("Active", "", None)


@pytest.mark.django_db(transaction=True)
def test_a_lease_that_was_lost_is_not_taken_back(world: World, space: AddressSpace) -> None:
    mine, theirs = (Lease(space.id, name, lambda: world.now) for name in ("we", "they"))
    assert mine.claim()

    with mine.kept():
        AddressSpace.objects.filter(pk=space.pk).update(claimed_by="they")
        eventually(lambda: is_keeper_gone(space.id))

    space.refresh_from_db()
    assert space.claimed_by == "they"
    assert not mine.claim()
    assert theirs.claim()
    with pytest.raises(lease.Lost):
        mine.extend()


@pytest.mark.django_db(transaction=True)
def test_a_step_that_hangs_frees_the_space(
    world: World, space: AddressSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "_LONGEST_SECONDS", 0.02)
    mine = Lease(space.id, "we", lambda: world.now)
    assert mine.claim()

    with mine.kept():
        eventually(lambda: is_keeper_gone(space.id))
        world.now += 2 * lease.LENGTH
        assert loop.list_due(world.ports) == [space.id]
