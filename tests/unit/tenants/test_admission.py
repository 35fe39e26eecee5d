"""What counts as used, and for which tenant."""

import pytest

from controlplane.core.audit import SYSTEM
from plans.quotas.resources import Resource
from tenants import admission
from tenants.actions import api_tokens
from tenants.models import Address, AddressSpace, MessagingUser, Role, Tenant
from tests.support import domain
from tests.support.domain import Cast

pytestmark = pytest.mark.django_db


def fill(tenant: Tenant) -> None:
    space = domain.space(tenant, "brokered")
    domain.address(space, "orders")
    domain.user(space)
    api_tokens.issue(tenant=tenant, name="ci", role=Role.VIEWER, expires_at=None, by=SYSTEM)


def test_use_is_counted_in_the_tenant_alone(cast: Cast) -> None:
    fill(cast.tenant)
    fill(cast.other)
    domain.space(cast.other, "brokered")

    assert admission.use_of_all(cast.tenant) == {
        Resource.SPACES: 1,
        Resource.ADDRESSES: 1,
        Resource.MEMBERS: 2,
        Resource.USERS: 1,
        Resource.BROKERS: 1,
        Resource.API_TOKENS: 1,
    }


def test_what_is_gone_is_not_used(cast: Cast) -> None:
    fill(cast.tenant)
    space = cast.tenant.spaces.get()
    rows: list[Address | MessagingUser | AddressSpace] = [
        *space.addresses.all(),
        *space.users.all(),
        space,
    ]
    for row in rows:
        domain.gone(row)

    used = admission.use_of_all(cast.tenant)

    gone = (Resource.SPACES, Resource.ADDRESSES, Resource.USERS, Resource.BROKERS)
    assert [used[resource] for resource in gone] == [0, 0, 0, 0]


def test_limits_are_the_plan_s_with_overrides(cast: Cast) -> None:
    domain.limit(cast.tenant, "spaces", 77)

    limits = admission.limits(cast.tenant)

    assert (limits["spaces"], limits["addresses"]) == (77, 200)
    assert admission.limits(cast.other)["spaces"] == 5
