"""Login against a real Keycloak: code + PKCE + nonce, as a browser would do it.

Our side runs in process through Django's client; the provider's pages are fetched and posted over
HTTP. One Keycloak serves the whole module (15 s to start).
"""

import html
import importlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

import pytest
import requests
from django.contrib.messages import get_messages
from django.test import Client, RequestFactory
from django.urls import clear_url_caches
from pytest_django import Settings

from controlplane import urls
from controlplane.core.models import AuditEvent
from controlplane.embedded import keycloak
from tenants.models import Membership, Role, Tenant, User
from tests.support.answers import Answer

pytestmark = [
    pytest.mark.keycloak,
    pytest.mark.slow,
    pytest.mark.drill,
    pytest.mark.django_db,
]

OUR_URL = "https://waypost.example"  # while requests reach us by http, as from a proxy
ALICE = keycloak.Person("alice", "alice@example.test", "correct-horse-1")
MALLORY = keycloak.Person("mallory", "owner@example.test", "correct-horse-2", email_verified=False)
BOB = keycloak.Person("bob", "bob@example.test", "correct-horse-3")


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[keycloak.Server]:
    """A real Keycloak with three people."""
    cache = Path(os.environ.get("WAYPOST_CACHE", Path.home() / ".cache" / "waypost"))
    folder = tmp_path_factory.mktemp("keycloak")
    with keycloak.throwaway(folder, cache, [OUR_URL], [ALICE, MALLORY, BOB]) as server:
        yield server


@pytest.fixture(autouse=True)
def oidc_on(provider: keycloak.Server, settings: Settings) -> Iterator[None]:
    """Settings as `waypost up` would make them from the environment, and the routes they add."""
    environment = keycloak.environment(provider)
    settings.OIDC_ISSUER = environment["WAYPOST_OIDC_ISSUER"]
    settings.OIDC_RP_CLIENT_ID = environment["WAYPOST_OIDC_CLIENT_ID"]
    settings.OIDC_RP_CLIENT_SECRET = environment["WAYPOST_OIDC_CLIENT_SECRET"]
    for name in ("AUTHORIZATION", "TOKEN", "USER", "JWKS", "LOGOUT"):
        value = environment[f"WAYPOST_OIDC_{name}_ENDPOINT"]
        setattr(settings, f"OIDC_OP_{name}_ENDPOINT", value)
    settings.PUBLIC_URL = OUR_URL
    settings.AUTHENTICATION_BACKENDS = [
        "controlplane.oidc.OidcBackend",
        *settings.AUTHENTICATION_BACKENDS,
    ]
    settings.LOGIN_URL, settings.SIGNUP_URL = "/login", "/signup"
    settings.LOGIN_REDIRECT_URL, settings.LOGOUT_REDIRECT_URL = "/spaces", "/bye"
    _reload_routes()
    yield
    settings.OIDC_ISSUER = ""
    _reload_routes()


def _reload_routes() -> None:
    importlib.reload(urls)
    clear_url_caches()


class Browser:
    """The provider's side of a browser; loopback is a secure context, so Secure cookies stay."""

    def __init__(self) -> None:
        self.cookies: dict[str, str] = {}

    def fetch(self, method: str, url: str, form: dict[str, str] | None = None) -> requests.Response:
        """Return the answer after redirects, but stop at one that leads back to us."""
        while True:
            cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
            answer = requests.request(
                method,
                url,
                data=form,
                headers={"Cookie": cookie},
                allow_redirects=False,
                timeout=30,
            )
            for line in answer.raw.headers.getlist("set-cookie"):
                name, _, value = line.split(";")[0].partition("=")
                self.cookies[name] = value
            target = urljoin(url, answer.headers.get("location", ""))
            if not answer.is_redirect or target.startswith(OUR_URL):
                return answer
            method, url, form = "GET", target, None

    def log_in(self, url: str, username: str, password: str) -> requests.Response:
        """Return the answer to the provider's login form, filled in."""
        page = self.fetch("GET", url)
        action = re.search(r'<form[^>]*id="kc-form-login"[^>]*action="([^"]+)"', page.text)
        assert action, page.text[:2000]
        return self.fetch(
            "POST", html.unescape(action[1]), {"username": username, "password": password}
        )


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
    settings.OIDC_ISSUER = "http://127.0.0.1:1/realms/another"

    answer = client.get(path)

    assert answer["Location"] == "/login"
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
    assert "not linked" in said(answer)
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
    assert "did not answer" in said(answer)


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
