"""The page on which an owner sets the identity provider, and what operators do with it."""

import re

import pytest
from django.test import Client
from pytest_django import Settings

from controlplane.accounts import provider_discovery
from controlplane.core import secrets
from controlplane.core.errors import Invalid
from controlplane.core.models import AuditEvent
from tenants.actions import identity_providers
from tenants.models import IdentityProvider
from tests.suites.portal.conftest import As
from tests.support import identity_provider
from tests.support.identity_provider import FakeProvider, of_tenant
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
HOME = "/t/acme-shipping/"
# Nobody asks it in these tests.
PROVIDER = FakeProvider(port=9)


def test_an_owner_sets_the_provider_and_never_sees_the_secret(
    world: World, as_: As, settings: Settings
) -> None:
    settings.PUBLIC_URL = "https://waypost.example"
    client = as_(world.owner)
    form = {
        "issuer": "https://login.acme.example",
        "client_id": "waypost",
        "client_secret": "very-secret",
        "domains": "acme.example\n@Acme.org",
        "default_role": "viewer",
        "groups_claim": "groups",
        "group_roles": "leads: admin\na:b: developer",
    }

    answer = client.post(f"{HOME}settings/login", form)

    assert answer.status_code == 302, answer.content
    row = IdentityProvider.objects.get()
    assert row.group_roles == {"leads": "admin", "a:b": "developer"}
    assert "very-secret" not in row.sealed_secret
    page = client.get(f"{HOME}settings/login").content.decode()
    assert "very-secret" not in page
    assert "waits for the operator" in page
    assert "https://waypost.example/organization-login/acme-shipping/callback" in page
    events = AuditEvent.objects.filter(action="identity_provider.set")
    assert "very-secret" not in str(events.values())

    kept = client.post(f"{HOME}settings/login", {**form, "client_secret": "", "domains": "b.org"})
    assert kept.status_code == 302
    assert IdentityProvider.objects.get().sealed_secret == row.sealed_secret


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"issuer": "http://login.acme.example"}, "issuer"),
        ({"issuer": "https://login.acme.example?a=b"}, "issuer"),
        ({"domains": "no-domain"}, "domains"),
        ({"group_roles": "leads"}, "group_roles"),
        ({"group_roles": "leads: owner"}, "group_roles"),
        ({"default_role": "owner"}, "default_role"),
        ({"client_secret": ""}, "client_secret"),
    ],
)
def test_a_wrong_value_is_named_at_its_field(
    world: World, as_: As, changes: dict[str, str], field: str
) -> None:
    form = {
        "issuer": "https://login.acme.example",
        "client_id": "waypost",
        "client_secret": "secret",
        "domains": "acme.example",
        "default_role": "",
        "groups_claim": "groups",
        "group_roles": "",
        **changes,
    }

    answer = as_(world.owner).post(f"{HOME}settings/login", form)

    assert answer.status_code in (400, 422)
    assert list(answer.context["form"].errors) == [field]
    assert not IdentityProvider.objects.exists()


def test_the_operator_confirms_domains_and_no_two_tenants_have_one(
    world: World, as_: As, settings: Settings
) -> None:
    settings.WEBHOOK_ALLOWED_RANGES = ["127.0.0.0/8"]
    of_tenant(world.tenant, PROVIDER, confirms=False)
    of_tenant(world.other, PROVIDER, confirms=False)
    staff = as_(world.staff)
    assert "Confirm the domains" in staff.get("/staff/tenants/acme-shipping/").content.decode()

    named = {"domains": ["acme.example"]}
    first = staff.post("/staff/tenants/acme-shipping/confirm-domains", named)
    second = staff.post("/staff/tenants/other-people/confirm-domains", named)

    assert (first.status_code, second.status_code) == (302, 409)
    assert identity_providers.shown(world.tenant.provider)["confirmed_domains"] == ["acme.example"]
    assert identity_providers.shown(world.other.provider)["confirmed_domains"] == []


def test_a_new_domain_of_the_owner_is_not_confirmed(world: World, settings: Settings) -> None:
    settings.WEBHOOK_ALLOWED_RANGES = ["127.0.0.0/8"]
    of_tenant(world.tenant, PROVIDER)
    domains = ["acme.example", "gmail.example"]
    row = of_tenant(world.tenant, PROVIDER, confirms=False, domains=domains)

    assert identity_providers.shown(row)["confirmed_domains"] == ["acme.example"]


@pytest.mark.parametrize("confirms", [False, True])
def test_a_new_issuer_never_gets_the_secret_of_the_former_one(
    world: World, settings: Settings, confirms: bool
) -> None:
    settings.WEBHOOK_ALLOWED_RANGES = ["127.0.0.0/8"]
    row = of_tenant(world.tenant, PROVIDER)
    other = FakeProvider(port=10)

    with pytest.raises(Invalid) as refused:
        of_tenant(world.tenant, other, client_secret="", confirms=confirms)

    assert list(refused.value.fields) == ["client_secret"]
    row.refresh_from_db()
    assert row.issuer == PROVIDER.issuer
    of_tenant(world.tenant, other, client_secret="new", confirms=confirms)
    row.refresh_from_db()
    assert (row.issuer, secrets.decrypt(row.sealed_secret)) == (other.issuer, "new")


def seen_domains(page: str) -> list[str]:
    return re.findall(r'name="domains" value="([^"]+)"', page)


def test_staff_confirm_only_the_domains_that_they_saw(
    world: World, as_: As, settings: Settings
) -> None:
    settings.WEBHOOK_ALLOWED_RANGES = ["127.0.0.0/8"]
    of_tenant(world.tenant, PROVIDER, confirms=False)
    staff = as_(world.staff)
    seen = seen_domains(staff.get("/staff/tenants/acme-shipping/").content.decode())
    both = ["acme.example", "victim.example"]
    row = of_tenant(world.tenant, PROVIDER, confirms=False, domains=both)

    answer = staff.post("/staff/tenants/acme-shipping/confirm-domains", {"domains": seen})

    assert (answer.status_code, seen) == (302, ["acme.example"])
    assert identity_providers.shown(row)["confirmed_domains"] == ["acme.example"]


@pytest.mark.parametrize("seen", [["acme.example", "former.example"], []])
def test_domains_that_have_changed_are_a_conflict(
    world: World, as_: As, settings: Settings, seen: list[str]
) -> None:
    settings.WEBHOOK_ALLOWED_RANGES = ["127.0.0.0/8"]
    row = of_tenant(world.tenant, PROVIDER, confirms=False)

    answer = as_(world.staff).post(
        "/staff/tenants/acme-shipping/confirm-domains", {"domains": seen}
    )

    assert answer.status_code == 409
    assert "identity_provider.domains_changed" in answer.content.decode()
    assert identity_providers.shown(row)["confirmed_domains"] == []


def test_a_state_in_the_endpoint_hides_no_organization(
    world: World, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.WEBHOOK_ALLOWED_RANGES = ["127.0.0.0/8"]
    monkeypatch.setattr(provider_discovery, "_OURS", frozenset())  # such endpoints are refused
    with identity_provider.running() as fake:
        row = of_tenant(world.tenant, fake)
        fake.document["authorization_endpoint"] = f"{fake.issuer}/authorize?state=x&x="
        client = Client()

        begun = client.get("/organization-login/acme-shipping/login")

    provider_discovery.discovery.forget()
    assert begun["Location"].startswith(f"{fake.issuer}/authorize")
    (state,) = client.session["oidc_states"].values()
    assert state["organization"] == row.pk
