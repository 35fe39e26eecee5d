"""What the portal's pages do where people log in through a provider."""

import importlib
import json
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from allauth.usersessions.models import UserSession
from cryptography.hazmat.primitives.asymmetric import rsa
from django.test import Client
from django.urls import clear_url_caches
from pytest_django import Settings

from controlplane import urls
from controlplane.accounts.provider_discovery import discovery
from controlplane.core.audit import SYSTEM
from controlplane.core.models import AuditEvent
from tenants.actions import invitations
from tests.suites.portal.conftest import As
from tests.support.notifications import mails
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
HOME = "/t/acme-shipping/"


@pytest.fixture
def _provider(settings: Settings) -> Iterator[None]:
    """Login through a provider is on, with the routes it adds."""
    settings.OIDC_ISSUER = "https://login.example/realms/waypost"
    settings.PUBLIC_URL = "https://waypost.example"
    settings.OIDC_OP_AUTHORIZATION_ENDPOINT = "https://login.example/realms/waypost/auth"
    settings.OIDC_OP_LOGOUT_ENDPOINT = "https://login.example/realms/waypost/logout"
    importlib.reload(urls)
    clear_url_caches()
    yield
    settings.OIDC_ISSUER = ""
    importlib.reload(urls)
    clear_url_caches()


@pytest.mark.usefixtures("_provider")
@pytest.mark.parametrize("said", [{}, {"X-Forwarded-Proto": "http", "Forwarded": "host=a.example"}])
def test_a_provider_sends_people_back_to_the_public_url(
    world: World, as_: As, said: dict[str, Any]
) -> None:
    client = as_(world.owner)
    session = client.session
    session["oidc_id_token"] = "signed"
    session.save()

    begun = Client(headers=said).get("/oidc/authenticate/")
    left = client.post("/oidc/logout/", headers=said)

    there = parse_qs(urlsplit(begun["Location"]).query)["redirect_uri"]
    after = parse_qs(urlsplit(left["Location"]).query)["post_logout_redirect_uri"]
    assert there == ["https://waypost.example/oidc/callback/"]
    assert after == ["https://waypost.example/login"]


@pytest.mark.usefixtures("_provider")
def test_who_came_through_the_provider_logs_out_there_too(world: World, as_: As) -> None:
    client = as_(world.owner)
    with_password = client.get(HOME).content.decode()
    session = client.session
    session["oidc_id_token"] = "signed"
    session.save()

    answer = client.get(HOME)

    assert 'action="/logout"' in with_password
    assert 'action="/oidc/logout/"' in answer.content.decode()
    # A browser holds a form to this policy also where its answer redirects to.
    assert "form-action 'self' https://login.example;" in answer["Content-Security-Policy"]


@pytest.mark.usefixtures("_provider")
def test_a_refused_login_through_the_provider_is_in_the_audit(world: World) -> None:
    answer = Client().get("/oidc/callback/?error=access_denied")

    event = AuditEvent.objects.get(action="login.refuse")
    assert answer["Location"] == "/login"
    assert (event.actor, event.subject_id, event.source_ip) == ("anonymous", "", "127.0.0.1")
    assert "single sign-on" in event.reason


@pytest.fixture
def signing(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> rsa.RSAPrivateKey:
    """The provider's key; the portal gets its public part instead of fetching it."""
    key = rsa.generate_private_key(65537, 2048)
    public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))
    settings.OIDC_RP_CLIENT_ID = "waypost"
    settings.OIDC_OP_JWKS_ENDPOINT = "https://login.example/realms/waypost/keys"
    settings.OIDC_OP_TOKEN_ENDPOINT = settings.OIDC_OP_USER_ENDPOINT = "https://login.example/x"
    settings.OIDC_RP_CLIENT_SECRET = "secret"
    monkeypatch.setattr(discovery, "key", lambda *wanted: public)
    return key


def logout_token(key: rsa.RSAPrivateKey, **changed: Any) -> str:
    claims = {
        "iss": "https://login.example/realms/waypost",
        "aud": "waypost",
        "iat": int(time.time()),
        "jti": "1",
        "sub": "olga",
        "events": {"http://schemas.openid.net/event/backchannel-logout": {}},
        **changed,
    }
    return jwt.encode({name: v for name, v in claims.items() if v is not None}, key, "RS256")


@pytest.fixture
def _olga(world: World) -> None:
    world.owner.oidc_subject = "https://login.example/realms/waypost#olga"
    world.owner.save()


def logged_in_at(world: World, as_: As, sid: str) -> Client:
    client = as_(world.owner)
    UserSession.objects.filter(session_key=client.session.session_key).update(
        data={"provider_session": sid}
    )
    return client


@pytest.mark.usefixtures("_provider", "_olga")
def test_the_provider_ends_one_session_or_all_of_a_person(
    world: World, as_: As, signing: rsa.RSAPrivateKey
) -> None:
    first, second = logged_in_at(world, as_, "one"), logged_in_at(world, as_, "two")
    other = as_(world.member)

    def states() -> list[int]:
        return [client.get(HOME).status_code for client in (first, second, other)]

    found = []
    for claims in ({"sid": "one"}, {}, {}):
        body = {"logout_token": logout_token(signing, **claims)}
        answer = Client(enforce_csrf_checks=True).post("/oidc/backchannel-logout", body)
        found.append((answer.status_code, *states()))

    assert found == [(200, 302, 200, 200), (200, 302, 302, 200), (200, 302, 302, 200)]
    assert AuditEvent.objects.filter(action="login.end").count() == 2


@pytest.mark.usefixtures("_provider", "_olga")
@pytest.mark.parametrize(
    "changed",
    [
        {"iss": "https://evil.example"},
        {"aud": "another"},
        {"iat": 1},
        {"iat": None},
        {"nonce": "x"},
        {"events": {}},
        {"sub": None},
    ],
)
def test_a_wrong_logout_token_ends_nothing(
    world: World, as_: As, signing: rsa.RSAPrivateKey, changed: dict[str, Any]
) -> None:
    client = logged_in_at(world, as_, "one")

    for token in (logout_token(signing, **changed), "", "a.b.c"):
        answer = Client().post("/oidc/backchannel-logout", {"logout_token": token})
        assert answer.status_code == 400
    foreign = rsa.generate_private_key(65537, 2048)
    forged = {"logout_token": logout_token(foreign)}
    assert Client().post("/oidc/backchannel-logout", forged).status_code == 400

    assert client.get(HOME).status_code == 200


@pytest.mark.usefixtures("_provider")
def test_a_disabled_account_ends_its_session(world: World, settings: Settings) -> None:
    backend = "controlplane.oidc.OidcBackend"
    settings.AUTHENTICATION_BACKENDS = [backend, *settings.AUTHENTICATION_BACKENDS]
    client = Client()
    client.force_login(world.owner, backend)
    assert client.get(HOME).status_code == 200
    world.owner.is_active = False
    world.owner.save()

    assert client.get(HOME)["Location"].startswith("/login")


@pytest.mark.usefixtures("_provider")
def test_an_invitation_is_kept_on_the_way_through_the_provider(world: World) -> None:
    page = Client().get("/login?next=/invitations/abc").content.decode()

    assert 'href="/oidc/authenticate/?next=/invitations/abc"' in page


@pytest.mark.usefixtures("_provider")
def test_who_opens_anothers_invitation_logs_out_at_the_provider_too(world: World, as_: As) -> None:
    invitations.invite(tenant=world.tenant, email="new@acme.example", role="viewer", by=SYSTEM)
    link = mails.newest_link("/invitations/")
    client = as_(world.outsider)
    with_password = client.get(link).content.decode()
    session = client.session
    session["oidc_id_token"] = "signed"
    session.save()

    through_provider = client.get(link).content.decode()

    assert 'action="/logout"' in with_password
    assert 'action="/oidc/logout/"' in through_provider


@pytest.mark.usefixtures("_provider")
def test_sign_up_leads_to_the_provider_without_local_accounts(settings: Settings) -> None:
    settings.LOCAL_ACCOUNTS_ENABLED = False
    answer = Client().get("/signup")
    settings.SIGNUP_ENABLED = False
    closed = Client().get("/signup")

    assert (answer.status_code, closed.status_code) == (403, 403)
    assert 'href="/oidc/authenticate/"' in answer.content.decode()
    assert 'href="/oidc/authenticate/"' not in closed.content.decode()
    assert "Sign-up is closed" in closed.content.decode()


def test_without_a_provider_forms_stay_here(world: World, as_: As) -> None:
    client = as_(world.owner)
    session = client.session
    session["oidc_id_token"] = "from before the provider was switched off"
    session.save()

    answer = client.get(HOME)

    assert 'action="/logout"' in answer.content.decode()
    assert "form-action 'self';" in answer["Content-Security-Policy"]
