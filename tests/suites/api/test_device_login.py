"""The login of the command by device: which tokens of the provider open which account."""

import hashlib
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.backends.db import SessionStore
from django.core import signing
from django.test import RequestFactory
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from controlplane.accounts import device_login, provider_logout
from controlplane.accounts.provider_discovery import discovery
from controlplane.core.models import AuditEvent
from tenants.models import User
from tests.suites.api.conftest import bearer, problem
from tests.support import identity_provider
from tests.support.identity_provider import FakeProvider

pytestmark = pytest.mark.django_db
COMMAND = "waypost-command"
ANNA = {"sub": "42", "email": "anna@a.test", "email_verified": True, "given_name": "Anna"}


@pytest.fixture
def provider(settings: Settings) -> Iterator[FakeProvider]:
    """The installation's provider, with the command as a client."""
    with identity_provider.running(person=dict(ANNA)) as fake:
        settings.OIDC_ISSUER = fake.issuer
        settings.OIDC_RP_CLIENT_ID, settings.OIDC_RP_CLIENT_SECRET = "waypost", "the-secret"
        settings.OIDC_DEVICE_CLIENT_ID = COMMAND
        yield fake
    discovery.forget()


def begin() -> dict[str, Any]:
    """Return what the command learns before it asks the provider."""
    found = APIClient().get("/api/v1/login-options").json()["device"]
    assert isinstance(found, dict)
    return found


def log_in(provider: FakeProvider, **changes: str) -> Any:
    """Return the answer to the tokens that the provider gives now."""
    option = begin()
    return finish({**tokens(provider, option["nonce"]), "nonce": option["nonce"], **changes})


def tokens(provider: FakeProvider, nonce: str) -> dict[str, str]:
    found = provider.tokens(nonce, COMMAND)
    return {name: found[name] for name in ("id_token", "access_token")}


def finish(body: dict[str, str]) -> Any:
    return APIClient().post("/api/v1/session/device", body, format="json")


def test_the_command_gets_a_session_of_the_person(provider: FakeProvider) -> None:
    option = begin()
    assert (option["issuer"], option["client_id"]) == (provider.issuer, COMMAND)

    answer = log_in(provider)

    assert answer.status_code == 201
    assert answer.json()["name"] == "anna@a.test"
    assert answer["Cache-Control"] == "no-store"
    assert bearer(answer.json()["token"]).get("/api/v1/me").json()["name"] == "anna@a.test"
    user = User.objects.get()
    assert (user.oidc_subject, user.first_name) == (f"{provider.issuer}#42", "Anna")
    event = AuditEvent.objects.get(action="login.succeed")
    assert (event.actor, event.after) == ("user:anna@a.test", {"method": "device"})


def test_the_token_ends_within_a_day(provider: FakeProvider) -> None:
    ends_at = log_in(provider).json()["expires_at"]

    assert ends_at < (timezone.now() + timedelta(days=1)).isoformat()


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://evil.example"},
        {"aud": "waypost"},  # the token of a login in a browser
        {"aud": [COMMAND, "other"]},
        {"azp": "other"},
        {"nonce": "another"},
        {"nonce": None},
        {"exp": 1},
        {"exp": None},
        {"sub": None},
    ],
)
def test_a_token_that_is_not_for_this_login_is_refused(
    provider: FakeProvider, claims: dict[str, Any]
) -> None:
    provider.claims = claims

    problem(log_in(provider), 403, "login.token_refused")

    assert not User.objects.exists()
    event = AuditEvent.objects.get()
    assert (event.action, event.actor) == ("login.refuse", "anonymous")


@pytest.mark.parametrize("token", ["x", "a.b.c", "eyJhbGciOiJub25lIn0.e30."])
def test_what_is_no_token_is_refused(provider: FakeProvider, token: str) -> None:
    problem(log_in(provider, id_token=token), 403, "login.token_refused")


def test_a_token_signed_by_another_key_is_refused(provider: FakeProvider) -> None:
    option = begin()
    body = {**tokens(provider, option["nonce"]), "nonce": option["nonce"]}
    provider.key_id = "two"

    problem(finish(body), 403, "login.token_refused")


def test_tokens_are_used_once(provider: FakeProvider) -> None:
    option = begin()
    body = {**tokens(provider, option["nonce"]), "nonce": option["nonce"]}

    assert finish(body).status_code == 201
    problem(finish(body), 403, "login.token_refused")


def test_a_used_nonce_stays_used_whatever_session_its_hash_names(provider: FakeProvider) -> None:
    """Its row is a session: whoever knew the key could end it by a login of their own."""
    option = begin()
    body = {**tokens(provider, option["nonce"]), "nonce": option["nonce"]}
    assert finish(body).status_code == 201
    guessed = hashlib.sha256(f"{device_login._SALT} {option['nonce']}".encode()).hexdigest()[:40]

    SessionStore(guessed).delete()

    problem(finish(body), 403, "login.token_refused")


@pytest.mark.parametrize("kind", ["of nobody", "of another use", "old"])
def test_a_nonce_that_waypost_did_not_make_now_is_refused(
    provider: FakeProvider, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    nonce = {
        "of nobody": "made-by-the-caller",
        "of another use": signing.dumps("x", salt="another"),
        "old": device_login.new_nonce(),
    }[kind]
    if kind == "old":
        monkeypatch.setattr(device_login, "_NONCE_SECONDS", -1)

    answer = finish({**tokens(provider, nonce), "nonce": nonce})

    problem(answer, 403, "login.token_refused")


def test_the_access_token_of_another_person_is_refused(provider: FakeProvider) -> None:
    provider.person["sub"] = "43"
    other = provider.tokens("", COMMAND)["access_token"]
    provider.person["sub"] = "42"

    problem(log_in(provider, access_token=other), 403, "login.refused")
    assert not User.objects.exists()


def test_an_email_that_is_not_verified_opens_no_account(provider: FakeProvider) -> None:
    User.objects.create_user("anna@a.test", "anna@a.test", "the-owner's-password")
    provider.person["email_verified"] = False

    problem(log_in(provider), 403, "login.refused")


@pytest.mark.parametrize("changes", [{"is_staff": True}, {"oidc_subject": "elsewhere#1"}])
def test_staff_and_linked_accounts_are_not_taken_over(
    provider: FakeProvider, changes: dict[str, Any]
) -> None:
    User.objects.create_user("anna@a.test", "anna@a.test", "break-glass", **changes)

    problem(log_in(provider), 403, "login.refused")


def test_a_disabled_account_stays_closed(provider: FakeProvider) -> None:
    log_in(provider)
    User.objects.update(is_active=False)

    problem(log_in(provider), 403, "login.refused")
    assert AuditEvent.objects.filter(action="login.succeed").count() == 1


def test_groups_of_the_provider_decide_about_staff(
    provider: FakeProvider, settings: Settings
) -> None:
    settings.OIDC_STAFF_GROUP = "operators"
    # Otherwise Anna is the last one of staff, and stays.
    User.objects.create_user("other@op.test", "other@op.test", "a-password-1", is_staff=True)
    provider.person["groups"] = ["operators"]
    assert log_in(provider).json()["is_staff"] is True

    provider.person["groups"] = []
    assert log_in(provider).json()["is_staff"] is False


def test_a_logout_at_the_provider_ends_the_command_too(provider: FakeProvider) -> None:
    provider.claims = {"sid": "s1"}
    client = bearer(log_in(provider).json()["token"])
    claims = {
        "iss": provider.issuer,
        "aud": "waypost",
        "iat": timezone.now().timestamp(),
        "sid": "s1",
        "events": {"http://schemas.openid.net/event/backchannel-logout": {}},
    }

    assert provider_logout.end_sessions(RequestFactory().post("/"), claims) == 1

    assert client.get("/api/v1/me").status_code == 401
    assert not UserSession.objects.exists()


def test_a_provider_that_is_away_is_named(provider: FakeProvider) -> None:
    option = begin()
    body = {**tokens(provider, option["nonce"]), "nonce": option["nonce"]}
    provider.is_away = True

    problem(finish(body), 503, "identity_provider.unavailable")

    provider.is_away = False
    assert finish(body).status_code == 201


def test_attempts_are_limited(provider: FakeProvider, settings: Settings) -> None:
    settings.LOGIN_RATE = "1/d"
    log_in(provider)

    problem(log_in(provider), 429, "rate_limited")


def test_without_a_client_for_the_command_there_is_no_such_login(
    provider: FakeProvider, settings: Settings
) -> None:
    option = begin()
    body = {**tokens(provider, option["nonce"]), "nonce": option["nonce"]}
    settings.OIDC_DEVICE_CLIENT_ID = ""

    found = APIClient().get("/api/v1/login-options").json()

    assert found == {"local_accounts": True, "device": None}
    problem(finish(body), 403, "login.no_device")
