"""The cast of the API's tests: one tenant with a person of each role, an outsider, staff."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from controlplane.api import person_tokens
from controlplane.core.audit import SYSTEM
from plans.catalog import definitions, parsing, publishing
from plans.models import AddressPlan, SpacePlan
from tenants.actions import address_spaces, addresses, api_tokens, tenants
from tenants.models import Address, AddressSpace, ApiToken, Membership, Role, Tenant, User

ROLES = [role.value for role in Role]


@pytest.fixture(autouse=True)
def quick_settings(settings: Settings) -> None:
    """A cache without a server, and rates that nobody reaches."""
    settings.CACHES = {
        "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "api"}
    }
    settings.SIGNUP_RATE = settings.LOGIN_RATE = settings.ACCOUNT_RATE = "1000/min"


@dataclass
class Cast:
    """Two tenants and everybody who may knock; ``call(name)`` is a client of one of them."""

    tenant: Tenant
    other: Tenant
    people: dict[str, User] = field(default_factory=dict)

    def call(self, name: str) -> APIClient:
        """Return a client of a role, of outsider, staff, anonymous, token, or other_token."""
        client = APIClient()
        if name == "anonymous":
            return client
        if name.endswith("token"):
            return bearer(self.token(self.other if name == "other_token" else self.tenant))
        return bearer(person_tokens.issue(self.people[name], timezone.now())[0])

    def token(self, tenant: Tenant, role: str = Role.OWNER) -> str:
        """Return a new token of ``tenant``."""
        name = f"test-{ApiToken.objects.count()}"
        return api_tokens.issue(tenant=tenant, name=name, role=role, expires_at=None, by=SYSTEM)[1]

    def path(self, rest: str = "") -> str:
        """Return a path of the tenant."""
        return f"/api/v1/tenants/{self.tenant.slug}{rest}"


def bearer(token: str) -> APIClient:
    """Return a client that sends ``token``."""
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    return client


@pytest.fixture(scope="session")
def parsed_catalog() -> definitions.Catalog:
    """The default catalog; parsing it takes longer than most tests."""
    return parsing.parse(publishing.default_yaml())


@pytest.fixture
def catalog(db: None, parsed_catalog: definitions.Catalog) -> None:
    """The default catalog, published."""
    publishing.publish(parsed_catalog, by=SYSTEM)


@pytest.fixture
def cast(catalog: None) -> Cast:
    """A tenant on Business, an outsider with a tenant of their own, staff without any."""
    mine, theirs = (
        tenants.sign_up(email=email, password=None, organization=name, plan_key="business")
        for email, name in (("owner@a.test", "Acme"), ("outsider@b.test", "Other"))
    )
    people = {"owner": mine.user, "outsider": theirs.user}
    for role in ROLES:
        if role != Role.OWNER:
            people[role] = User.objects.create_user(f"{role}@a.test", f"{role}@a.test")
            Membership.objects.create(tenant=mine.tenant, user=people[role], role=role)
    people["staff"] = User.objects.create_user("staff@op.test", "staff@op.test", is_staff=True)
    return Cast(mine.tenant, theirs.tenant, people)


@pytest.fixture
def tenant(cast: Cast) -> Tenant:
    """The tenant."""
    return cast.tenant


@pytest.fixture
def owner(cast: Cast) -> APIClient:
    """A client of the owner."""
    return cast.call("owner")


@pytest.fixture
def staff(cast: Cast) -> APIClient:
    """A client of the operator."""
    return cast.call("staff")


@pytest.fixture
def space(tenant: Tenant) -> AddressSpace:
    """A brokered space ``main``."""
    return address_spaces.create(
        tenant=tenant, name="main", type="brokered", space_plan="brokered-small", by=SYSTEM
    )[0]


@pytest.fixture
def queue(space: AddressSpace) -> Address:
    """The queue ``orders/new`` in it."""
    return addresses.create(
        space=space,
        address="orders/new",
        type="queue",
        address_plan="brokered-small-queue",
        by=SYSTEM,
    )[0]


@pytest.fixture
def make_spaces(catalog: None) -> Callable[..., list[AddressSpace]]:
    """Return a maker of many rows at once, past quotas and placement."""

    def make(tenant: Tenant, n: int, addresses_each: int = 0) -> list[AddressSpace]:
        plan = SpacePlan.objects.get(key="brokered-small", retired=False)
        made = AddressSpace.objects.bulk_create(
            AddressSpace(tenant=tenant, name=f"s{i:05}", type="brokered", space_plan=plan)
            for i in range(n)
        )
        queue_plan = AddressPlan.objects.get(key="brokered-small-queue", retired=False)
        Address.objects.bulk_create(
            Address(space=space, address=f"q{i:05}", type="queue", address_plan=queue_plan)
            for space in made
            for i in range(addresses_each)
        )
        return made

    return make


def problem(answer: Any, status: int, code: str) -> dict[str, Any]:
    """Return the body of a refusal after looking at what all of them have."""
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    body = answer.json()
    assert list(body) == ["type", "title", "status", "detail", "instance", "code", "fields"]
    assert (body["status"], body["code"]) == (status, code)
    return dict(body)


SOON = timedelta(days=1)
