"""Signing up, logging in and out, tokens of persons and of tenants."""

from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from controlplane.api import person_tokens
from controlplane.core import throttling
from controlplane.core.models import AuditEvent
from tenants.models import ApiToken, Tenant, User
from tests.suites.api.conftest import Cast, bearer, problem
from tests.support.answers import Answer

WISH = {"email": "New@Person.test", "password": "a-good-passphrase", "organization": "Newcomers"}


def sign_up(client: Client, **changes: object) -> Answer:
    return client.post("/api/v1/signup", {**WISH, **changes}, "application/json")


def log_in(
    client: Client, email: str = "new@person.test", password: str = WISH["password"]
) -> Answer:
    body = {"email": email, "password": password}
    return client.post("/api/v1/session", body, "application/json")


def test_signup_makes_person_tenant_and_a_token_that_works(client: Client, catalog: None) -> None:
    answer = sign_up(client)

    assert answer.status_code == 201
    body = answer.json()
    assert body["tenants"] == [{"slug": "newcomers", "name": "Newcomers", "role": "owner"}]
    assert body["token"].startswith("wps_")
    me = bearer(body["token"]).get("/api/v1/me").json()
    assert (me["kind"], me["name"]) == ("person", "new@person.test")
    assert AuditEvent.objects.get(action="tenant.sign_up").actor == "user:new@person.test"


def test_signup_takes_a_plan(client: Client, catalog: None) -> None:
    token = sign_up(client, plan="team").json()["token"]

    answer = bearer(token).get("/api/v1/tenants/newcomers/plan-subscription")

    assert answer.json()["plan"] == "team"


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        ({"email": "no-address"}, "request.invalid", "email"),
        ({"password": "short"}, "signup.invalid", "password"),
        ({"organization": " "}, "request.invalid", "organization"),
        ({"organization": "x\x00y"}, "request.invalid", "organization"),
        ({"nonsense": 1}, "request.invalid", "nonsense"),
    ],
)
def test_signup_with_a_wrong_field_names_it_and_makes_nothing(
    client: Client, catalog: None, changes: dict[str, Any], code: str, field: str
) -> None:
    answer = sign_up(client, **changes)

    assert list(problem(answer, 422, code)["fields"]) == [field]
    assert not User.objects.exists()
    assert not Tenant.objects.exists()


def test_signup_with_an_unknown_plan_makes_nothing(client: Client, catalog: None) -> None:
    answer = sign_up(client, plan="gold")

    assert "free" in problem(answer, 422, "plan.unknown")["detail"]
    assert not User.objects.exists()


def test_second_signup_with_an_email_is_a_conflict(client: Client, catalog: None) -> None:
    sign_up(client)

    answer = sign_up(client, email="NEW@person.TEST", organization="Again")

    problem(answer, 409, "signup.email_taken")
    assert Tenant.objects.count() == 1


def test_signup_can_be_switched_off(client: Client, catalog: None, settings: Settings) -> None:
    settings.SIGNUP_ENABLED = False

    problem(sign_up(client), 403, "signup.disabled")


def test_passwords_can_be_switched_off(client: Client, catalog: None, settings: Settings) -> None:
    sign_up(client)
    settings.LOCAL_ACCOUNTS_ENABLED = False

    problem(sign_up(client, email="second@person.test"), 403, "local_accounts.disabled")
    problem(log_in(client), 403, "local_accounts.disabled")


def test_repeated_signup_with_one_key_signs_up_once(client: Client, catalog: None) -> None:
    key = {"Idempotency-Key": "k1"}

    first = client.post("/api/v1/signup", WISH, "application/json", headers=key)
    second = client.post("/api/v1/signup", WISH, "application/json", headers=key)

    assert second.json() == {**first.json(), "token": None}
    assert second["Idempotent-Replayed"] == "true"
    assert User.objects.count() == 1


def test_login_ignores_case_of_the_email(client: Client, catalog: None) -> None:
    sign_up(client)

    answer = log_in(client, email="NEW@PERSON.test")

    assert answer.status_code == 201
    assert answer.json()["tenants"][0]["role"] == "owner"


@pytest.mark.parametrize(
    ("email", "password"),
    [("new@person.test", "wrong"), ("nobody@person.test", WISH["password"])],
)
def test_wrong_login_does_not_say_which_half_is_wrong(
    client: Client, catalog: None, email: str, password: str
) -> None:
    sign_up(client)

    body = problem(log_in(client, email, password), 401, "credentials.invalid")

    assert body["detail"] == "The email or the password is wrong."


def test_switched_off_person_gets_in_neither_by_login_nor_by_token(
    client: Client, catalog: None
) -> None:
    token = sign_up(client).json()["token"]
    User.objects.update(is_active=False)

    problem(log_in(client), 401, "credentials.invalid")
    problem(bearer(token).get("/api/v1/me"), 401, "credentials.invalid")


def test_logout_ends_that_token_only(client: Client, catalog: None) -> None:
    first, second = sign_up(client).json()["token"], log_in(client).json()["token"]

    answer = bearer(first).delete("/api/v1/session")

    assert answer.status_code == 204
    problem(bearer(first).get("/api/v1/me"), 401, "credentials.invalid")
    assert bearer(second).get("/api/v1/me").status_code == 200


def test_tenants_token_cannot_log_out(cast: Cast) -> None:
    problem(cast.call("token").delete("/api/v1/session"), 409, "session.tenant_token")


def test_logout_ends_a_portal_session(cast: Cast) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(cast.people["owner"], "django.contrib.auth.backends.ModelBackend")
    key = browser.session.session_key
    refused = browser.delete("/api/v1/session")
    browser.cookies["csrftoken"] = token = "a" * 32

    answer = browser.delete("/api/v1/session", headers={"X-CSRFToken": token})

    assert "CSRF" in problem(refused, 403, "denied")["detail"]
    assert (answer.status_code, answer.content) == (204, b"")
    assert not Session.objects.filter(session_key=key).exists()
    problem(browser.get("/api/v1/me"), 401, "credentials.missing")


def test_changed_password_ends_tokens(client: Client, catalog: None) -> None:
    token = sign_up(client).json()["token"]
    user = User.objects.get()
    user.set_password("another-passphrase")
    user.save()

    problem(bearer(token).get("/api/v1/me"), 401, "credentials.invalid")


def test_persons_token_ends_after_twelve_hours(cast: Cast) -> None:
    then = timezone.now() - person_tokens.LIFETIME - timedelta(seconds=1)
    token, expires_at = person_tokens.issue(cast.people["owner"], then)

    assert expires_at < timezone.now()
    problem(bearer(token).get("/api/v1/me"), 401, "credentials.invalid")


def test_persons_token_is_no_portal_cookie_and_its_row_gives_no_token(
    cast: Cast, client: Client
) -> None:
    token, _ = person_tokens.issue(cast.people["owner"], timezone.now())
    key = Session.objects.get().session_key

    client.cookies["sessionid"] = key
    by_cookie = client.get("/api/v1/me")

    assert token not in key
    problem(by_cookie, 401, "credentials.missing")
    problem(bearer("wps_" + key).get("/api/v1/me"), 401, "credentials.invalid")


@pytest.mark.parametrize("header", ["Bearer", "Bearer ", "Bearer a b", "Bearer wps_", "bearer x"])
def test_broken_bearer_header_is_401(client: Client, db: None, header: str) -> None:
    answer = client.get("/api/v1/me", headers={"Authorization": header})

    problem(answer, 401, "credentials.invalid")


def test_other_schemes_are_left_alone(client: Client, db: None) -> None:
    answer = client.get("/api/v1/me", headers={"Authorization": "Basic YTpi"})

    problem(answer, 401, "credentials.missing")


def test_revoked_expired_and_foreign_tokens_open_nothing(cast: Cast) -> None:
    token = cast.token(cast.tenant)
    ApiToken.objects.update(expires_at=timezone.now())
    expired = bearer(token).get(cast.path())
    ApiToken.objects.update(expires_at=None, revoked_at=timezone.now())
    revoked = bearer(token).get(cast.path())

    problem(expired, 401, "credentials.invalid")
    problem(revoked, 401, "credentials.invalid")


def test_tenants_token_says_which_tenant_it_is_for(cast: Cast) -> None:
    me = cast.call("token").get("/api/v1/me").json()

    assert me["kind"] == "token"
    assert [place["slug"] for place in me["tenants"]] == ["acme"]


def test_tenants_token_cannot_make_tenants(cast: Cast) -> None:
    answer = cast.call("token").post("/api/v1/tenants", {"organization": "More"})

    problem(answer, 403, "denied")


def test_person_can_have_more_tenants(cast: Cast, owner: APIClient) -> None:
    answer = owner.post("/api/v1/tenants", {"organization": "Second"})

    assert (answer.status_code, answer.json()["slug"]) == (201, "second")
    slugs = [place["slug"] for place in owner.get("/api/v1/tenants").json()["items"]]
    assert slugs == ["acme", "second"]


@pytest.fixture
def _mid_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits count by the minute: one that turns in a test would begin again."""
    monkeypatch.setattr(throttling, "time", SimpleNamespace(time=lambda: 1_200_000_015.5))


@pytest.mark.usefixtures("_mid_minute")
@pytest.mark.parametrize(("setting", "call"), [("LOGIN_RATE", log_in), ("SIGNUP_RATE", sign_up)])
def test_public_routes_are_rate_limited(
    client: Client,
    catalog: None,
    settings: Settings,
    setting: str,
    call: Callable[[Client], Answer],
) -> None:
    cache.clear()
    setattr(settings, setting, "2/min")

    statuses = [call(client).status_code for _ in range(2)]
    third = call(client)

    assert 429 not in statuses
    problem(third, 429, "rate_limited")
    assert 1 <= int(third["Retry-After"]) <= 61


@pytest.mark.usefixtures("_mid_minute")
def test_rate_limit_does_not_believe_a_forged_address(
    client: Client, catalog: None, settings: Settings
) -> None:
    cache.clear()
    settings.LOGIN_RATE = "1/min"
    log_in(client)

    body = {"email": "a@b.test", "password": "x"}
    answer = client.post(
        "/api/v1/session", body, "application/json", headers={"X-Forwarded-For": "203.0.113.9"}
    )

    problem(answer, 429, "rate_limited")


def test_a_public_route_stays_open_without_the_cache(
    client: Client, catalog: None, settings: Settings
) -> None:
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": "redis://127.0.0.1:9/0",
        }
    }
    settings.LOGIN_RATE = "1/min"

    statuses = [log_in(client).status_code for _ in range(3)]

    assert statuses == [401, 401, 401]


def test_portal_session_works_but_needs_its_csrf_token(cast: Cast) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(cast.people["owner"], "django.contrib.auth.backends.ModelBackend")

    read = browser.get(cast.path("/address-spaces"))
    write = browser.post(cast.path("/address-spaces"), {}, "application/json")

    assert read.status_code == 200
    assert "CSRF" in problem(write, 403, "denied")["detail"]
