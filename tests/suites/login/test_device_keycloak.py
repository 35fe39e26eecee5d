"""The login of the command by device, and that of an organization, against a real Keycloak."""

import html
import re
import time
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient

from controlplane.cli import device_login, output
from controlplane.core.audit import SYSTEM
from controlplane.embedded import keycloak
from controlplane.rest_client import Json
from tenants.actions import identity_providers
from tenants.models import Membership, Role, TenantIdentity, User
from tests.suites.login.conftest import ALICE, BOB, MALLORY, Browser
from tests.support.answers import Answer
from tests.support.portal import rows

pytestmark = [
    pytest.mark.keycloak,
    pytest.mark.slow,
    pytest.mark.drill,
    pytest.mark.django_db,
]


class InProcess:
    """The command's client of the API, which calls our side in this process."""

    def __init__(self, url: str) -> None:
        self.url = url

    def get(self, path: str) -> Json:
        return self._body(APIClient().get(f"/api/v1{path}"))

    def post_once(self, path: str, body: Json) -> Json:
        return self._body(APIClient().post(f"/api/v1{path}", body, format="json"))

    def _body(self, answer: Any) -> Json:
        assert answer.status_code < 300, answer.content
        found: Json = answer.json()
        return found


def submit(browser: Browser, url: str, page: str, fields: dict[str, str]) -> Any:
    """Submit the page's one form with its hidden fields; return the answer."""
    action = re.search(r'<form[^>]*action="([^"]+)"', page)
    assert action, page[:2000]
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page))
    parts = urlsplit(url)
    target = html.unescape(action[1])
    if target.startswith("/"):
        target = f"{parts.scheme}://{parts.netloc}{target}"
    return browser.fetch("POST", target, {**hidden, **fields})


def test_the_command_logs_in_by_a_code_in_a_browser(
    provider: keycloak.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(device_login, "Api", InProcess)
    monkeypatch.setattr(output, "say", shown.append)
    polls: list[float] = []

    def person(seconds: float) -> None:
        """What happens while the command waits: first nothing, then the person enters the code."""
        polls.append(seconds)
        time.sleep(seconds)  # Keycloak's clock refuses polls that come earlier
        if len(polls) != 2:
            return
        url = next(line for line in shown if line.startswith("Or open ")).split()[-1]
        browser = Browser()
        asked = browser.log_in(url, ALICE.username, ALICE.password)
        granted = submit(browser, url, asked.text, {"accept": "Yes"})
        assert granted.status_code == 200, granted.text

    session = device_login.log_in("http://127.0.0.1:9", person)

    user = User.objects.get(email=ALICE.email)
    assert session["name"] == ALICE.email
    assert str(user.oidc_subject).startswith(f"{provider.issuer}#")
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {session['token']}")
    assert client.get("/api/v1/me").json()["name"] == ALICE.email
    assert len(polls) == 2


@pytest.fixture
def world(provider: keycloak.Server, settings: Settings) -> rows.World:
    """A tenant whose own provider is the Keycloak of these tests."""
    settings.WEBHOOK_ALLOWED_RANGES = ["127.0.0.0/8"]
    settings.CACHES = {
        "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "kc"}
    }
    world = rows.world()
    wish = identity_providers.Wish(
        issuer=provider.issuer,
        client_id=keycloak.CLIENT_ID,
        client_secret=provider.client_secret,
        domains=["example.test"],
        default_role=Role.DEVELOPER,
    )
    identity_providers.save(tenant=world.tenant, wish=wish, by=SYSTEM, confirms=True)
    return world


def log_in(client: Client, person: keycloak.Person) -> Answer:
    """Return our answer at the end of a whole login through the organization."""
    url = client.get("/organization-login/acme-shipping/login")["Location"]
    answer = Browser().log_in(url, person.username, person.password)
    parts = urlsplit(answer.headers["location"])
    return client.get(f"{parts.path}?{parts.query}")


def test_an_organization_logs_its_people_in(client: Client, world: rows.World) -> None:
    answer = log_in(client, ALICE)

    membership = Membership.objects.get(user__email=ALICE.email)
    assert (membership.tenant, membership.role) == (world.tenant, Role.DEVELOPER)
    assert client.get("/t/acme-shipping/").status_code == 200, answer.content
    assert client.get("/t/other-people/").status_code == 404
    again = Client()
    log_in(again, ALICE)
    assert again.get("/t/acme-shipping/").status_code == 200
    assert TenantIdentity.objects.count() == 1


def test_an_organization_opens_no_account_that_exists(client: Client, world: rows.World) -> None:
    rows.person(BOB.email)

    assert log_in(client, BOB)["Location"] == "/login?next=%2Flogin%2Fconnect"

    assert log_in(Client(), MALLORY)["Location"] == "/login"  # not verified
    assert "_auth_user_id" not in client.session
    assert not TenantIdentity.objects.exists()
