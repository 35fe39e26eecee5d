"""Login against a real Keycloak: code + PKCE + nonce, as a browser would do it.

Our side runs in process through Django's client; the provider's pages are fetched and posted over
HTTP.
"""

import re
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.contrib.messages import get_messages
from django.test import Client, RequestFactory
from pytest_django import Settings

from controlplane.accounts import providers
from controlplane.accounts.provider_discovery import discovery
from controlplane.core.models import AuditEvent
from controlplane.embedded import keycloak
from tenants.models import Membership, Role, Tenant, User
from tests.suites.login.conftest import ALICE, BOB, MALLORY, OUR_URL, Browser
from tests.support.answers import Answer

pytestmark = [
    pytest.mark.keycloak,
    pytest.mark.slow,
    pytest.mark.drill,
    pytest.mark.django_db,
]


def begin(client: Client, next_page: str = "") -> str:
    """Return the provider's URL that our login button leads to."""
    query = f"?{urlencode({'next': next_page})}" if next_page else ""
    return client.get(f"/oidc/authenticate/{query}")["Location"]


def callback_of(client: Client, person: keycloak.Person) -> str:
    """Return our callback's path with the code that ``person`` got at the provider."""
    answer = Browser().log_in(begin(client), person.username, person.password)
    parts = urlsplit(answer.headers["location"])
    return f"{parts.path}?{parts.query}"


def log_in(client: Client, person: keycloak.Person) -> Answer:
    """Return our answer at the end of a whole login."""
    return client.get(callback_of(client, person))


def is_logged_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def said(answer: Answer) -> str:
    return " ".join(str(message) for message in get_messages(answer.wsgi_request))


def test_first_login_makes_the_user_and_leads_to_signup(
    client: Client, provider: keycloak.Server
) -> None:
    answer = log_in(client, ALICE)

    user = User.objects.get(email=ALICE.email)
    assert (answer.status_code, answer["Location"]) == (302, "/signup")
    assert is_logged_in(client)
    assert str(user.oidc_subject).startswith(provider.issuer + "#")
    assert (user.username, user.first_name) == (ALICE.email, "Alice")
    assert not user.has_usable_password()
    assert AuditEvent.objects.filter(action="user.create", subject_id=str(user.pk)).count() == 1


def test_second_login_finds_the_same_user_even_after_an_email_change(client: Client) -> None:
    log_in(client, ALICE)
    User.objects.filter(email=ALICE.email).update(email="renamed@example.test")

    answer = log_in(Client(), ALICE)

    assert answer["Location"] == "/signup"
    assert User.objects.filter(oidc_subject__isnull=False).count() == 1


def test_member_is_led_to_the_page_asked_for(client: Client) -> None:
    log_in(client, ALICE)
    tenant = Tenant.objects.create(name="A", slug="a")
    user = User.objects.get(email=ALICE.email)
    Membership.objects.create(tenant=tenant, user=user, role=Role.OWNER)
    member = Client()

    answer = Browser().log_in(begin(member, "/spaces/a/one"), ALICE.username, ALICE.password)
    parts = urlsplit(answer.headers["location"])
    finished = member.get(f"{parts.path}?{parts.query}")

    assert finished["Location"] == "/spaces/a/one"
    assert log_in(Client(), ALICE)["Location"] == "/spaces"


def test_authorization_request_carries_pkce_nonce_and_state(client: Client) -> None:
    query = parse_qs(urlsplit(begin(client)).query)

    assert query["code_challenge_method"] == ["S256"]
    assert len(query["code_challenge"][0]) == 43
    assert query["nonce"] != query["state"]
    assert query["redirect_uri"] == [f"{OUR_URL}/oidc/callback/"]


def test_provider_refuses_the_request_without_pkce(client: Client) -> None:
    url = re.sub(r"&code_challenge[^&]*", "", begin(client))

    answer = Browser().fetch("GET", url)

    assert (
        "code_challenge"
        in parse_qs(urlsplit(answer.headers["location"]).query)["error_description"][0]
    )


def test_code_is_worthless_without_its_verifier(client: Client) -> None:
    path = callback_of(client, ALICE)
    state = parse_qs(urlsplit(path).query)["state"][0]
    session = client.session
    session["oidc_states"][state]["code_verifier"] = "x" * 64
    session.save()

    answer = client.get(path)

    assert answer["Location"] == "/login"
    assert not is_logged_in(client)
    assert "did not answer" in said(answer)


def test_wrong_nonce_is_refused(client: Client) -> None:
    path = callback_of(client, ALICE)
    state = parse_qs(urlsplit(path).query)["state"][0]
    session = client.session
    session["oidc_states"][state]["nonce"] = "somebody-else's"
    session.save()

    answer = client.get(path)

    assert answer["Location"] == "/login"
    assert not is_logged_in(client)
    assert not User.objects.exists()


def test_wrong_state_is_refused(client: Client) -> None:
    path = callback_of(client, ALICE)

    answer = client.get(re.sub(r"state=[^&]+", "state=wrong", path))

    assert answer["Location"] == "/login"
    assert not is_logged_in(client)
    assert "another browser" in said(answer)


def test_code_of_another_browser_is_refused(client: Client) -> None:
    path = callback_of(client, ALICE)
    victim = Client()

    answer = victim.get(path)

    assert answer["Location"] == "/login"
    assert not is_logged_in(victim)


def test_code_cannot_be_used_twice(client: Client) -> None:
    path = callback_of(client, ALICE)
    client.get(path)
    client.logout()

    answer = client.get(path)

    assert answer["Location"] == "/login"
    assert not is_logged_in(client)


def test_token_for_another_client_is_refused(client: Client, settings: Settings) -> None:
    path = callback_of(client, ALICE)
    for name, endpoint in (("TOKEN", "token"), ("USER", "user"), ("JWKS", "keys")):
        url = discovery.endpoint(providers.installation(), endpoint)
        setattr(settings, f"OIDC_OP_{name}_ENDPOINT", url)
    settings.OIDC_ISSUER = "http://127.0.0.1:1/realms/another"

    answer = client.get(path)

    assert answer["Location"] == "/login"
    assert "another browser" in said(answer)
    assert not User.objects.exists()


def test_provider_refuses_an_unknown_user_and_a_wrong_password(client: Client) -> None:
    unknown = Browser().log_in(begin(client), "nobody", "whatever-123")
    wrong = Browser().log_in(begin(client), ALICE.username, "not-the-password")

    assert (unknown.status_code, wrong.status_code) == (200, 200)
    assert "Invalid username or password" in unknown.text
    assert "Invalid username or password" in wrong.text


def test_unverified_email_never_opens_an_existing_account(client: Client) -> None:
    owner = User.objects.create_user(MALLORY.email, MALLORY.email, "the-owner's-password")

    answer = log_in(client, MALLORY)

    owner.refresh_from_db()
    assert answer["Location"] == "/login"
    assert "not verified" in said(answer)
    assert not is_logged_in(client)
    assert owner.oidc_subject is None
    assert owner.check_password("the-owner's-password")


def test_unverified_email_makes_no_account(client: Client) -> None:
    answer = log_in(client, MALLORY)

    assert "not verified" in said(answer)
    assert not User.objects.exists()


def test_verified_email_links_a_local_account_and_ends_its_password(client: Client) -> None:
    local = User.objects.create_user(BOB.email, "Bob@Example.test", "set-by-whoever")
    squatter = Client()
    squatter.force_login(local, "django.contrib.auth.backends.ModelBackend")

    log_in(client, BOB)

    local.refresh_from_db()
    assert is_logged_in(client)
    assert local.oidc_subject
    assert not local.has_usable_password()
    assert not squatter.get("/api/v1/me").status_code == 200
    assert AuditEvent.objects.filter(action="user.link_identity").count() == 1


@pytest.mark.parametrize(
    "changes", [{"is_staff": True}, {"is_superuser": True}, {"oidc_subject": "elsewhere#1"}]
)
def test_staff_and_linked_accounts_are_never_taken_over(
    client: Client, changes: dict[str, Any]
) -> None:
    account = User.objects.create_user(BOB.email, BOB.email, "break-glass-123", **changes)

    answer = log_in(client, BOB)

    account.refresh_from_db()
    assert not is_logged_in(client)
    assert "or of another identity" in said(answer)
    assert account.oidc_subject == changes.get("oidc_subject")
    assert account.check_password("break-glass-123")


def test_switched_off_user_is_refused(client: Client) -> None:
    log_in(client, ALICE)
    User.objects.update(is_active=False)
    again = Client()

    answer = log_in(again, ALICE)

    assert answer["Location"] == "/login"
    assert not is_logged_in(again)


def test_provider_that_is_away_is_told_in_words(client: Client, settings: Settings) -> None:
    path = callback_of(client, ALICE)
    settings.OIDC_OP_TOKEN_ENDPOINT = "http://127.0.0.1:9/token"

    answer = client.get(path)

    assert answer["Location"] == "/login"
    assert "identity_provider.unavailable" in said(answer)


def test_logout_ends_the_session_at_the_provider_too(
    client: Client, provider: keycloak.Server
) -> None:
    browser = Browser()
    answer = browser.log_in(begin(client), ALICE.username, ALICE.password)
    parts = urlsplit(answer.headers["location"])
    client.get(f"{parts.path}?{parts.query}")

    left = client.post("/oidc/logout/")
    at_provider = browser.fetch("GET", left["Location"])

    assert not is_logged_in(client)
    assert left["Location"].startswith(f"{provider.issuer}/protocol/openid-connect/logout?")
    assert at_provider.headers["location"] == f"{OUR_URL}/bye"
    assert "kc-form-login" in browser.fetch("GET", begin(Client())).text


def test_password_form_with_a_code_in_its_url_is_not_a_login(
    client: Client, rf: RequestFactory
) -> None:
    from controlplane.oidc import OidcBackend

    request = rf.post("/login?code=stolen&state=stolen")

    assert OidcBackend().authenticate(request, username="a", password="b") is None
