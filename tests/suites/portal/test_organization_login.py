"""Login through the identity provider of an organization: which accounts it opens."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from pytest_django import Settings

from controlplane.accounts.provider_discovery import discovery
from controlplane.core.audit import SYSTEM
from controlplane.core.models import AuditEvent
from tenants.actions import identity_providers, memberships, tenants
from tenants.models import IdentityProvider, Membership, Role, Tenant, TenantIdentity, User
from tests.support import identity_provider
from tests.support.answers import Answer
from tests.support.identity_provider import FakeProvider
from tests.support.notifications import mails
from tests.support.portal import rows
from tests.support.portal.rows import PASSWORD, World

pytestmark = pytest.mark.django_db
HOME = "/t/acme-shipping/"
NINA = {"sub": "n1", "email": "nina@acme.example", "email_verified": True, "given_name": "Nina"}


@pytest.fixture
def provider(settings: Settings) -> Iterator[FakeProvider]:
    """A provider on this machine, which tenants may name in these tests only."""
    settings.WEBHOOK_ALLOWED_RANGES = ["127.0.0.0/8"]
    settings.PUBLIC_URL = "https://waypost.example"
    settings.LOGIN_RATE = "1000/min"
    with identity_provider.running(person=dict(NINA)) as fake:
        yield fake
    discovery.forget()


@pytest.fixture
def row(world: World, provider: FakeProvider) -> IdentityProvider:
    """The provider of Acme Shipping, whose domain the operator has confirmed."""
    return identity_provider.of_tenant(world.tenant, provider)


def log_in(provider: FakeProvider, client: Client, slug: str = "acme-shipping") -> Answer:
    """Return our answer at the end of a whole login."""
    begun = client.get(f"/organization-login/{slug}/login")
    assert begun["Location"].startswith(f"{provider.issuer}/authorize"), begun["Location"]
    return client.get(f"/organization-login/{slug}/callback?{provider.approve(begun['Location'])}")


def is_logged_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def said(answer: Answer) -> str:
    return " ".join(str(message) for message in get_messages(answer.wsgi_request))


def enter(client: Client, email: str) -> None:
    """Log in with the password, and follow to the page where accounts are connected."""
    answer = client.post(
        "/login?next=/login/connect",
        {"login": email, "password": PASSWORD, "next": "/login/connect"},
    )
    assert answer["Location"] == "/login/connect", answer.content


def test_a_new_person_becomes_a_member_of_this_organization_only(
    provider: FakeProvider, row: IdentityProvider
) -> None:
    client = Client()

    answer = log_in(provider, client)

    user = User.objects.get(email="nina@acme.example")
    membership = Membership.objects.get(user=user)
    assert is_logged_in(client), said(answer)
    assert (membership.tenant, membership.role) == (row.tenant, Role.VIEWER)
    assert not user.has_usable_password()
    assert user.oidc_subject is None
    assert client.get(HOME).status_code == 200
    assert client.get("/t/other-people/").status_code == 404
    assert AuditEvent.objects.filter(action="membership.add", tenant_id=row.tenant_id).exists()


def test_the_same_person_comes_back_with_another_email(
    provider: FakeProvider, row: IdentityProvider
) -> None:
    log_in(provider, Client())
    provider.person.update(email="renamed@elsewhere.example", email_verified=False)
    client = Client()

    log_in(provider, client)

    assert is_logged_in(client)
    assert TenantIdentity.objects.count() == 1


def test_the_login_page_finds_an_organization_by_name_domain_and_address(
    row: IdentityProvider,
) -> None:
    assert "/login/organization" in Client().get("/login").content.decode()
    for text in ("acme-shipping", "ACME.example", "somebody@acme.example"):
        page = Client().post("/login/organization", {"organization": text})
        assert '/organization-login/acme-shipping/login"' in page.content.decode()
        assert "url=/organization-login/acme-shipping/login" in page.content.decode()


def test_nobody_learns_which_organizations_exist(world: World, provider: FakeProvider) -> None:
    identity_provider.of_tenant(world.tenant, provider, confirms=False)

    def answered(text: str) -> tuple[int, str]:
        answer = Client().post("/login/organization", {"organization": text})
        (problem,) = answer.context["form"].non_field_errors()
        return answer.status_code, str(problem)

    # A tenant without a provider, none at all, a domain that is not confirmed, and no domain.
    texts = ("other-people", "no-such-tenant", "acme.example", "a@nowhere.example")
    answers = {answered(text) for text in texts}

    assert len(answers) == 1
    begun = {
        said(Client().get(f"/organization-login/{slug}/login"))
        for slug in ("other-people", "no-such-tenant")
    }
    assert len(begun) == 1


def test_an_organization_that_is_being_closed_logs_nobody_in(row: IdentityProvider) -> None:
    Tenant.objects.filter(pk=row.tenant_id).update(erase_at=row.created_at)

    answer = Client().get("/organization-login/acme-shipping/login")

    assert answer["Location"] == "/login"


def test_it_can_be_switched_off(row: IdentityProvider, settings: Settings) -> None:
    settings.ORGANIZATION_LOGIN_ENABLED = False

    assert Client().get("/organization-login/acme-shipping/login")["Location"] == "/login"
    assert Client().get("/login/organization").status_code == 404
    assert "/login/organization" not in Client().get("/login").content.decode()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"email": "nina@elsewhere.example"}, "domains"),
        ({"email": "nina@sub.acme.example"}, "domains"),
        ({"email": ""}, "not verified"),
        ({"email_verified": False}, "not verified"),
        ({"email_verified": "true"}, "not verified"),
        ({"email": "ceo@victim.example, x@acme.example"}, "no usable email"),
        ({"email": "a" * 200 + "@acme.example"}, "no usable email"),
        ({"email": f"{'a' * 60}@{'b' * 60}.{'c' * 40}.acme.example"}, "no usable email"),
        ({"email": "a\x00b@acme.example"}, "no usable email"),
    ],
)
def test_an_email_that_the_organization_may_not_vouch_for_is_refused(
    provider: FakeProvider, row: IdentityProvider, changes: dict[str, Any], reason: str
) -> None:
    provider.person.update(changes)
    before, client = User.objects.count(), Client()

    answer = log_in(provider, client)

    assert reason in said(answer)
    assert not is_logged_in(client)
    assert User.objects.count() == before


@pytest.mark.parametrize(
    "claims", [{"iss": "https://evil.example"}, {"aud": "x"}, {"nonce": "x"}, {"exp": 1}]
)
def test_tokens_are_checked_as_those_of_the_installation(
    provider: FakeProvider, row: IdentityProvider, claims: dict[str, Any]
) -> None:
    provider.claims, client = claims, Client()

    answer = log_in(provider, client)

    assert answer["Location"] == "/login"
    assert not is_logged_in(client)


@pytest.mark.parametrize("name", ["staff", "owner", "member", "outsider"])
def test_an_account_that_exists_is_not_taken_over(
    provider: FakeProvider, row: IdentityProvider, world: World, name: str
) -> None:
    """The provider of an organization names any address it likes."""
    victim: User = getattr(world, name)
    User.objects.filter(pk=victim.pk).update(
        email="nina@acme.example", username="nina@acme.example"
    )
    client = Client()

    answer = log_in(provider, client)

    victim.refresh_from_db()
    assert answer["Location"] == "/login?next=%2Flogin%2Fconnect"
    assert not is_logged_in(client)
    assert victim.has_usable_password()
    assert not TenantIdentity.objects.exists()


def test_who_proves_the_account_connects_it(provider: FakeProvider, row: IdentityProvider) -> None:
    nina = rows.person("nina@acme.example")
    client = Client()
    log_in(provider, client)
    enter(client, "nina@acme.example")
    page = client.get("/login/connect").content.decode()
    assert "Acme Shipping" in page

    answer = client.post("/login/connect")

    assert answer["Location"] == HOME
    assert Membership.objects.get(user=nina).tenant == row.tenant
    again = Client()
    log_in(provider, again)
    assert again.session["_auth_user_id"] == str(nina.pk)
    assert AuditEvent.objects.filter(action="user.link_identity").count() == 1


def test_another_account_is_no_proof(
    provider: FakeProvider, row: IdentityProvider, world: World
) -> None:
    rows.person("nina@acme.example")
    mallory = rows.person("mallory@acme.example")
    client = Client()
    log_in(provider, client)
    enter(client, mallory.email)

    assert client.post("/login/connect").status_code == 403

    assert not TenantIdentity.objects.exists()
    assert not Membership.objects.filter(user=mallory).exists()


@pytest.mark.parametrize("name", ["staff", "outsider"])
def test_staff_and_people_of_other_organizations_cannot_connect(
    provider: FakeProvider, row: IdentityProvider, world: World, name: str
) -> None:
    user: User = getattr(world, name)
    User.objects.filter(pk=user.pk).update(email="nina@acme.example", username="nina@acme.example")
    client = Client()
    log_in(provider, client)
    enter(client, "nina@acme.example")

    answer = client.post("/login/connect")

    assert answer.status_code == 403
    assert "also belongs elsewhere" in answer.content.decode()
    assert not TenantIdentity.objects.exists()


def test_a_login_that_waits_for_long_is_over(provider: FakeProvider, row: IdentityProvider) -> None:
    rows.person("nina@acme.example")
    client = Client()
    log_in(provider, client)
    session = client.session
    session["organization_login"]["at"] -= 901
    session.save()
    enter(client, "nina@acme.example")

    assert client.post("/login/connect").status_code == 403
    assert not TenantIdentity.objects.exists()


def test_until_its_domain_is_confirmed_a_provider_makes_no_account(
    provider: FakeProvider, world: World
) -> None:
    identity_provider.of_tenant(world.tenant, provider, confirms=False)
    unknown = Client()
    first = log_in(provider, unknown)
    rows.person("nina@acme.example")
    second = log_in(provider, Client())

    # Not even whether there is such an account.
    assert (first["Location"], said(first)) == (second["Location"], said(second))
    enter(unknown, "nina@acme.example")
    assert unknown.post("/login/connect").status_code == 403  # nobody has invited her

    memberships.add(tenant=world.tenant, email="nina@acme.example", role=Role.ADMIN, by=SYSTEM)
    client = Client()
    log_in(provider, client)
    enter(client, "nina@acme.example")
    assert client.post("/login/connect")["Location"] == HOME
    assert Membership.objects.get(user__email="nina@acme.example").role == Role.ADMIN


def test_an_account_of_an_organization_joins_no_other_one(
    provider: FakeProvider, row: IdentityProvider, world: World
) -> None:
    log_in(provider, Client())
    nina = User.objects.get(email="nina@acme.example")

    with pytest.raises(memberships.OtherTenantsPerson):
        memberships.add(tenant=world.other, email=nina.email, role=Role.OWNER, by=SYSTEM)
    with pytest.raises(memberships.OtherTenantsPerson):
        tenants.found_tenant(user=nina, organization="Of my own", by=SYSTEM)


@pytest.mark.parametrize("what", ["staff", "elsewhere", "removed", "disabled", "switched off"])
def test_a_session_ends_as_soon_as_the_provider_may_not_open_it(
    provider: FakeProvider, row: IdentityProvider, world: World, settings: Settings, what: str
) -> None:
    client = Client()
    log_in(provider, client)
    nina = User.objects.filter(email="nina@acme.example")
    assert client.get(HOME).status_code == 200

    if what == "staff":
        nina.update(is_staff=True)
    elif what == "elsewhere":  # whoever made the row did not ask
        Membership.objects.create(tenant=world.other, user=nina.get(), role=Role.OWNER)
    elif what == "removed":
        identity_providers.remove(tenant=world.tenant, by=SYSTEM)
    elif what == "switched off":
        settings.ORGANIZATION_LOGIN_ENABLED = False
    else:
        nina.update(is_active=False)

    assert client.get(HOME)["Location"].startswith("/login")
    again = Client()
    if what not in ("removed", "switched off"):
        log_in(provider, again)
    assert not is_logged_in(again)


def test_groups_give_roles_and_take_them(provider: FakeProvider, world: World) -> None:
    group_roles = {"leads": Role.ADMIN, "devs": Role.DEVELOPER}
    identity_provider.of_tenant(world.tenant, provider, default_role="", group_roles=group_roles)

    def role_with(groups: list[str]) -> str | None:
        provider.person["groups"] = groups
        client = Client()
        log_in(provider, client)
        found = Membership.objects.filter(user__email="nina@acme.example").first()
        return found.role if found and is_logged_in(client) else None

    wanted = [[], ["/devs"], ["devs", "leads"], ["devs"], []]
    assert [role_with(groups) for groups in wanted] == [
        None,
        Role.DEVELOPER,
        Role.ADMIN,
        Role.DEVELOPER,
        None,
    ]


def test_a_role_that_a_member_gave_stays(provider: FakeProvider, row: IdentityProvider) -> None:
    log_in(provider, Client())
    Membership.objects.filter(user__email="nina@acme.example").update(
        role=Role.BILLING, from_group=""
    )

    log_in(provider, Client())

    assert Membership.objects.get(user__email="nina@acme.example").role == Role.BILLING


def test_the_answer_of_one_provider_ends_no_login_at_another_one(
    provider: FakeProvider, row: IdentityProvider, world: World
) -> None:
    with identity_provider.running(person=dict(NINA)) as other:
        identity_provider.of_tenant(world.other, other, domains=["other.example"])
        client = Client()
        begun = client.get("/organization-login/other-people/login")
        answer = client.get(
            f"/organization-login/acme-shipping/callback?{other.approve(begun['Location'])}"
        )

    assert answer["Location"] == "/login"
    assert provider.count("/token") == 0
    assert not is_logged_in(client)


def test_another_issuer_forgets_who_people_were(
    provider: FakeProvider, row: IdentityProvider
) -> None:
    log_in(provider, Client())
    identity_provider.of_tenant(row.tenant, provider, issuer="https://login.acme.example")

    assert not TenantIdentity.objects.exists()


def test_a_provider_that_is_away_is_named(provider: FakeProvider, row: IdentityProvider) -> None:
    provider.is_away = True

    answer = Client().get("/organization-login/acme-shipping/login")

    assert answer["Location"] == "/login"
    assert "identity_provider.unavailable" in said(answer)


def test_a_provider_must_be_public(
    provider: FakeProvider, row: IdentityProvider, settings: Settings
) -> None:
    settings.WEBHOOK_ALLOWED_RANGES = []

    answer = Client().get("/organization-login/acme-shipping/login")

    assert answer["Location"] == "/login"
    assert provider.requests == []


def test_the_login_leads_back_to_the_page_that_was_wanted(
    provider: FakeProvider, row: IdentityProvider
) -> None:
    client = Client()
    begun = client.get(f"/organization-login/acme-shipping/login?next={HOME}team/")
    answer = client.get(
        f"/organization-login/acme-shipping/callback?{provider.approve(begun['Location'])}"
    )

    assert answer["Location"] == f"{HOME}team/"
    assert "https://waypost.example/organization-login/acme-shipping/callback" in (
        urlsplit(begun["Location"]).query.replace("%3A", ":").replace("%2F", "/")
    )


def test_a_removed_provider_leaves_a_way_back(
    provider: FakeProvider, row: IdentityProvider, world: World
) -> None:
    log_in(provider, Client())
    identity_providers.remove(tenant=world.tenant, by=SYSTEM)

    Client().post("/account/password/reset", {"email": "nina@acme.example"})

    assert mails.newest_link("/account/password/reset/", to="nina@acme.example")
    assert Membership.objects.filter(user__email="nina@acme.example").exists()


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN])
def test_a_role_that_a_person_changed_by_hand_stays(
    provider: FakeProvider, row: IdentityProvider, world: World, role: Role
) -> None:
    log_in(provider, Client())
    nina = Membership.objects.get(user__email="nina@acme.example")
    if role == Role.OWNER:  # now the only one
        owner = Membership.objects.get(tenant=world.tenant, user=world.owner)
        memberships.transfer(owner=owner, to=nina, by=SYSTEM)
    else:
        memberships.change_role(membership=nina, role=role, by=SYSTEM)
    client = Client()

    answer = log_in(provider, client)

    nina.refresh_from_db()
    assert (is_logged_in(client), nina.role, nina.from_group) == (True, role, ""), said(answer)


def test_a_login_never_lowers_an_owner(provider: FakeProvider, row: IdentityProvider) -> None:
    """Rows of the former version still name the group."""
    log_in(provider, Client())
    nina = Membership.objects.filter(user__email="nina@acme.example")
    nina.update(role=Role.OWNER)
    identity_provider.of_tenant(row.tenant, provider, default_role="")
    client = Client()

    answer = log_in(provider, client)

    assert (is_logged_in(client), nina.get().role) == (True, Role.OWNER), said(answer)


def test_an_account_is_connected_with_one_organization(
    provider: FakeProvider, row: IdentityProvider, world: World
) -> None:
    log_in(provider, Client())
    nina = User.objects.get(email="nina@acme.example")
    memberships.remove(membership=Membership.objects.get(user=nina), by=SYSTEM)
    nina.set_password(PASSWORD)
    nina.save()
    identity_provider.of_tenant(world.other, provider, confirms=False)
    Membership.objects.create(tenant=world.other, user=nina, role=Role.VIEWER)
    client = Client()
    log_in(provider, client, "other-people")
    enter(client, nina.email)

    answer = client.post("/login/connect")

    assert answer.status_code == 403
    assert "login.connected_elsewhere" in answer.content.decode()
    assert TenantIdentity.objects.get().provider == row


def test_a_login_replaces_no_session_of_another_account(
    provider: FakeProvider, row: IdentityProvider, world: World
) -> None:
    client = Client()
    client.force_login(world.outsider)

    answer = log_in(provider, client)

    assert "Log out first" in said(answer)
    assert client.session["_auth_user_id"] == str(world.outsider.pk)
