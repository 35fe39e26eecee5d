"""Reads: what is somebody else's does not exist; the count of queries stays."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from controlplane.core.audit import SYSTEM
from controlplane.core.errors import Missing
from controlplane.core.models import Operation
from tenants import queries
from tenants.actions import address_spaces, addresses, api_tokens
from tenants.models import MessagingUser, Role
from tests.support import domain
from tests.support.domain import Cast

pytestmark = pytest.mark.django_db


def count(read: Callable[[], object]) -> int:
    with CaptureQueriesContext(connection) as captured:
        read()
    return len(captured)


def test_membership_is_found_by_member_and_slug_alone(cast: Cast) -> None:
    found = queries.membership(cast.member, cast.tenant.slug)

    assert (found.tenant, found.role) == (cast.tenant, Role.DEVELOPER)
    for user, slug in [(cast.outsider, cast.tenant.slug), (cast.member, "nowhere")]:
        with pytest.raises(Missing, match="that you belong to"):
            queries.membership(user, slug)


def test_tenants_of_a_person_are_their_own(cast: Cast) -> None:
    assert [row.tenant for row in queries.tenants_of(cast.outsider)] == [cast.other]


def test_staff_find_tenants_by_slug_and_search(cast: Cast) -> None:
    assert queries.get_tenant(cast.tenant.slug) == cast.tenant
    with pytest.raises(Missing):
        queries.get_tenant("nowhere")
    assert list(queries.list_tenants("OTHER")) == [cast.other]
    assert queries.list_tenants().count() == 2


def test_spaces_of_another_tenant_do_not_exist(cast: Cast) -> None:
    mine, theirs = domain.space(cast.tenant), domain.space(cast.other)

    assert list(queries.list_spaces(cast.tenant)) == [mine]
    assert queries.get_space(cast.tenant, mine.name) == mine
    with pytest.raises(Missing) as refusal:
        queries.get_space(cast.tenant, theirs.name)
    assert refusal.value.error_code == "address_space.missing"


def test_what_is_leaving_is_listed_until_it_is_gone(cast: Cast) -> None:
    space = domain.space(cast.tenant)
    row, user = domain.address(space, "orders"), domain.user(space)
    address_spaces.delete(space=space, by=SYSTEM)
    assert queries.get_space(cast.tenant, space.name) == space
    assert queries.get_address(space, "orders") == row
    assert queries.get_user(space, "app") == user

    for model in (row, user, space):
        domain.gone(model)

    with pytest.raises(Missing):
        queries.get_space(cast.tenant, space.name)
    with pytest.raises(Missing) as refusal:
        queries.get_address(space, "orders")
    assert refusal.value.error_code == "address.missing"
    with pytest.raises(Missing) as refusal:
        queries.get_user(space, "app")
    assert refusal.value.error_code == "messaging_user.missing"
    assert queries.space_names(cast.tenant) == {space.pk: space.name}


def test_addresses_and_users_are_those_of_the_space(cast: Cast) -> None:
    space, other = domain.space(cast.tenant), domain.space(cast.tenant)
    domain.address(other, "orders")
    domain.user(other)

    assert not queries.list_addresses(space).exists()
    assert not queries.list_users(space).exists()
    with pytest.raises(Missing):
        queries.get_address(space, "orders")
    with pytest.raises(Missing):
        queries.get_user(space, "app")


def test_operations_and_audit_are_the_tenant_s_newest_first(cast: Cast) -> None:
    space = domain.space(cast.tenant)
    domain.space(cast.other)
    last = addresses.delete(address=domain.address(space, "orders"), by=SYSTEM)

    kinds = [row.kind for row in queries.list_operations(cast.tenant)]
    assert kinds == ["address.delete", "address.create", "address_space.create"]
    assert queries.get_operation(cast.tenant, last.pk) == last
    theirs = Operation.objects.get(tenant_id=cast.other.pk)
    with pytest.raises(Missing) as refusal:
        queries.get_operation(cast.tenant, theirs.pk)
    assert refusal.value.error_code == "operation.missing"
    events = queries.list_audit(cast.tenant)
    assert events[0].action == "address.delete"
    assert {event.tenant_id for event in events} == {cast.tenant.pk}


def test_tokens_listed_are_the_live_ones_of_the_tenant(cast: Cast) -> None:
    for tenant, name in [(cast.tenant, "b"), (cast.tenant, "a"), (cast.other, "c")]:
        api_tokens.issue(tenant=tenant, name=name, role="viewer", expires_at=None, by=SYSTEM)
    ended, _ = api_tokens.issue(
        tenant=cast.tenant, name="old", role="viewer", expires_at=None, by=SYSTEM
    )
    api_tokens.revoke(token=ended, by=SYSTEM)

    assert [token.name for token in queries.list_tokens(cast.tenant)] == ["a", "b"]


def test_lists_take_one_query_however_long_they_are() -> None:
    cast = domain.cast("business")

    def read() -> list[str]:
        spaces = [
            row.space_plan.title + row.tenant.name for row in queries.list_spaces(cast.tenant)
        ]
        members = [row.user.email for row in queries.list_members(cast.tenant)]
        return spaces + members

    space = domain.space(cast.tenant)
    few = count(read)
    for _ in range(10):
        domain.space(cast.tenant)
    assert count(read) == few == 2

    def read_space() -> list[object]:
        titles = [(row.address_plan.title, row.topic) for row in queries.list_addresses(space)]
        return [*titles, *queries.list_users(space)]

    domain.address(space, "news", "topic")
    few = count(read_space)
    for number in range(10):
        domain.address(space, f"sub-{number}", "subscription", topic="news")
        MessagingUser.objects.create(space=space, name=f"app-{number}")
    assert count(read_space) == few == 2
