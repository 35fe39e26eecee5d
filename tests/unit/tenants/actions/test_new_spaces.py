"""A new space and the address that takes its dead letters."""

from typing import Any

import pytest

from controlplane.core.audit import SYSTEM
from controlplane.core.errors import QuotaExceeded
from plans.catalog import publishing
from tenants.actions import new_spaces
from tenants.actions.new_spaces import DeadLettersNotSold
from tenants.models import AddressSpace
from tests.support import domain
from tests.support.domain import Cast

pytestmark = pytest.mark.django_db


def create(cast: Cast, kind: str = "brokered", **changes: Any) -> AddressSpace:
    arguments = {"name": "orders", "type": kind, "space_plan": f"{kind}-small", **changes}
    return new_spaces.create(tenant=cast.tenant, by=cast.by, **arguments)[0]


def names(space: AddressSpace) -> dict[str, str]:
    return {row.address: row.address_plan.key for row in space.addresses.all()}


@pytest.mark.parametrize("kind", ["standard", "brokered"])
@pytest.mark.parametrize("wanted", [None, True])
def test_a_space_begins_with_the_cheapest_address_for_dead_letters(
    cast: Cast, kind: str, wanted: bool | None
) -> None:
    space = create(cast, kind, with_dead_letters=wanted)

    assert names(space) == {"dead-letters": f"{kind}-small-deadletter"}
    assert space.brokers.count() == 1


def test_without_dead_letters_it_begins_empty(cast: Cast) -> None:
    assert names(create(cast, with_dead_letters=False)) == {}


def test_a_plan_without_dead_letters_gives_none_unless_they_are_demanded(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(new_spaces, "cheapest_plan", lambda tenant, kind: "")

    assert names(create(cast)) == {}
    with pytest.raises(DeadLettersNotSold, match="without them"):
        create(cast, name="more", with_dead_letters=True)
    assert not AddressSpace.objects.filter(name="more").exists()


def test_cheapest_plan_is_one_that_the_tenant_may_use(cast: Cast) -> None:
    assert new_spaces.cheapest_plan(cast.tenant, "standard") == "standard-small-deadletter"
    sold = publishing.current().address_plans
    assert {plan.key for plan in sold} > {"standard-small-deadletter"}


def test_a_full_tenant_learns_how_to_have_the_space_all_the_same(cast: Cast) -> None:
    domain.limit(cast.tenant, "addresses", 0)

    with pytest.raises(QuotaExceeded) as refusal:
        create(cast)

    assert "create the space without dead letters" in refusal.value.message
    assert not AddressSpace.objects.exists()
    assert names(create(cast, with_dead_letters=False)) == {}


def test_a_foreign_space_is_none_of_the_tenants(cast: Cast) -> None:
    create(cast)
    other, _ = new_spaces.create(
        tenant=cast.other, name="orders", type="brokered", space_plan="brokered-small", by=SYSTEM
    )

    assert {row.space.tenant for row in other.addresses.all()} == {cast.other}
