"""Two requests at once, on two connections to a real PostgreSQL, never pass a limit together.

Each race is run with both requests held at the same point until both have come that far, or until
one of them waits for the other's lock.
"""

import threading
from collections.abc import Callable
from functools import partial
from types import ModuleType

import pytest
from django.db import connection

from controlplane.core.audit import SYSTEM
from controlplane.core.errors import Conflict, QuotaExceeded, WaypostError
from plans.models import AddressPlan, SpacePlan
from tenants import admission
from tenants.actions import address_spaces, addresses, api_tokens, memberships, messaging_users
from tenants.models import Address, AddressSpace, Broker, Membership, Placement, Role
from tests.support import domain
from tests.support.domain import EVERYTHING, PASSWORD, Cast

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
TOGETHER_SECONDS = 1.0


@pytest.fixture
def cast(transactional_db: None) -> Cast:
    return domain.cast("business")


def race(
    monkeypatch: pytest.MonkeyPatch,
    *actions: Callable[[], object],
    meet: str = "used",
    where: ModuleType = admission,
) -> list[object]:
    """Run the actions at once; return their results or refusals.

    They meet where ``where.<meet>`` has read: the later one can only come there too if the first
    one's lock does not keep it away.
    """
    together = threading.Barrier(len(actions))
    read = getattr(where, meet)

    def read_and_meet(*args: object) -> object:
        found = read(*args)
        try:
            together.wait(TOGETHER_SECONDS)
        except threading.BrokenBarrierError:
            pass
        return found

    monkeypatch.setattr(where, meet, read_and_meet)
    results: list[object] = [None] * len(actions)

    def run(index: int) -> None:
        try:
            results[index] = actions[index]()
        except WaypostError as refusal:
            results[index] = refusal
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[index]) for index in range(len(actions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def refusals(results: list[object]) -> list[WaypostError]:
    return [result for result in results if isinstance(result, WaypostError)]


def new_address(space: AddressSpace, name: str) -> Callable[[], object]:
    fresh = AddressSpace.objects.select_related("tenant", "space_plan").get(pk=space.pk)
    return lambda: domain.address(fresh, name)


def test_addresses_never_pass_the_tenant_s_quota(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = domain.space(cast.tenant), domain.space(cast.tenant)
    domain.limit(cast.tenant, "addresses", 1)

    results = race(monkeypatch, new_address(first, "a"), new_address(second, "b"))

    (refusal,) = refusals(results)
    assert isinstance(refusal, QuotaExceeded)
    assert refusal.fields["used"] == 1
    assert Address.objects.count() == 1


def test_addresses_never_pass_the_credits_of_the_space(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = domain.space(cast.tenant)
    plan = SpacePlan.objects.get(pk=space.space_plan_id)
    plan.definition |= {"broker_credit": 15}
    plan.save()

    results = race(monkeypatch, new_address(space, "a"), new_address(space, "b"), meet="credit_use")

    (refusal,) = refusals(results)
    assert refusal.fields["resource"] == "space.broker_credit"
    assert sum(Placement.objects.values_list("broker_credit", flat=True)) == 10


def test_a_broker_is_never_filled_twice_and_made_once(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = domain.space(cast.tenant, size="medium")
    plan = AddressPlan.objects.get(key="standard-small-queue", retired=False)
    plan.definition |= {"broker_credit": 600}
    plan.save()

    results = race(monkeypatch, new_address(space, "a"), new_address(space, "b"), meet="credit_use")

    assert refusals(results) == []
    assert [broker.used_credit for broker in admission.credit_use(space).brokers] == [600, 600]


@pytest.mark.parametrize(("one", "other"), [("a", "a"), ("a.b", "a/b")])
def test_one_name_is_taken_once(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, one: str, other: str
) -> None:
    space = domain.space(cast.tenant)

    results = race(monkeypatch, new_address(space, one), new_address(space, other))

    (refusal,) = refusals(results)
    assert isinstance(refusal, Conflict)
    assert refusal.error_code == "address.exists"


def test_spaces_never_pass_the_tenant_s_quota(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    domain.limit(cast.tenant, "spaces", 1)

    results = race(
        monkeypatch,
        lambda: domain.space(cast.tenant, "brokered"),
        lambda: domain.space(cast.tenant, "brokered"),
    )

    assert [refusal.error_code for refusal in refusals(results)] == ["quota_exceeded"]
    assert AddressSpace.objects.count() == Broker.objects.count() == 1


def test_a_space_that_leaves_takes_no_new_address_with_it_unseen(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = domain.space(cast.tenant)

    results = race(
        monkeypatch,
        new_address(space, "a"),
        lambda: address_spaces.delete(space=space, by=SYSTEM),
    )

    alive = Address.objects.filter(deletion_requested_at__isnull=True)
    assert not alive.exists(), results


def test_members_users_and_tokens_never_pass_their_quotas(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = domain.space(cast.tenant)
    people = [domain.person("x@acme.test"), domain.person("y@acme.test")]
    for resource, amount in [("members", 3), ("users", 1), ("api_tokens", 1)]:
        domain.limit(cast.tenant, resource, amount)

    def member(number: int) -> object:
        return memberships.add(
            tenant=cast.tenant, email=people[number].email, role=Role.VIEWER, by=SYSTEM
        )

    def user(number: int) -> object:
        fresh = AddressSpace.objects.select_related("tenant", "space_plan").get(pk=space.pk)
        return messaging_users.create(
            space=fresh, name=f"u{number}", password=PASSWORD, permissions=EVERYTHING, by=SYSTEM
        )

    def token(number: int) -> object:
        return api_tokens.issue(
            tenant=cast.tenant, name=f"t{number}", role=Role.VIEWER, expires_at=None, by=SYSTEM
        )

    for action in (member, user, token):
        with pytest.MonkeyPatch.context() as patch:
            results = race(patch, partial(action, 0), partial(action, 1))
        assert [refusal.error_code for refusal in refusals(results)] == ["quota_exceeded"]


def test_two_owners_cannot_both_leave(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    Membership.objects.filter(tenant=cast.tenant).update(role=Role.OWNER)
    first, second = Membership.objects.filter(tenant=cast.tenant)

    results = race(
        monkeypatch,
        lambda: memberships.remove(membership=first, by=SYSTEM),
        lambda: memberships.remove(membership=second, by=SYSTEM),
        meet="locked_tenant",
    )

    assert [refusal.error_code for refusal in refusals(results)] == ["membership.last_owner"]


def test_deleting_at_once_makes_one_operation(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    row = domain.address(domain.space(cast.tenant), "orders")

    results = race(
        monkeypatch,
        lambda: addresses.delete(address=row, by=SYSTEM),
        lambda: addresses.delete(address=row, by=SYSTEM),
        meet="lock",
        where=address_spaces,
    )

    assert results[0] == results[1]
