"""One real Keycloak for all logins through it (15 s to start), and a browser for its pages."""

import html
import importlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin

import pytest
import requests
from django.urls import clear_url_caches
from pytest_django import Settings

from controlplane import urls
from controlplane.embedded import keycloak, ports

OUR_URL = "https://waypost.example"  # while requests reach us by http, as from a proxy
ALICE = keycloak.Person("alice", "alice@example.test", "correct-horse-1")
MALLORY = keycloak.Person("mallory", "owner@example.test", "correct-horse-2", email_verified=False)
BOB = keycloak.Person("bob", "bob@example.test", "correct-horse-3")
ERIN = keycloak.Person("erin", "erin@example.test", "correct-horse-6")
OPERATORS = "operators"
# Their accounts exist before, with passwords.
OLGA = keycloak.Person("olga", "olga@acme.example", "correct-horse-4")
STAFF = keycloak.Person(
    "stella", "staff@operator.example", "correct-horse-5", groups=(OPERATORS, "others")
)


@pytest.fixture(scope="package")
def portal_ports() -> Iterator[tuple[int, int]]:
    """The ports of a portal with local accounts, and of one without."""
    with ports.claiming() as claims:
        yield claims.take_any(), claims.take_any()


@pytest.fixture(scope="package")
def provider(
    portal_ports: tuple[int, int], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[keycloak.Server]:
    """A real Keycloak with six people."""
    cache = Path(os.environ.get("WAYPOST_CACHE", Path.home() / ".cache" / "waypost"))
    folder = tmp_path_factory.mktemp("keycloak")
    portals = [OUR_URL, *(f"http://127.0.0.1:{port}" for port in portal_ports)]
    people = [ALICE, MALLORY, BOB, ERIN, OLGA, STAFF]
    with keycloak.throwaway(folder, cache, portals, people) as server:
        yield server


@pytest.fixture(autouse=True)
def oidc_on(provider: keycloak.Server, settings: Settings) -> Iterator[None]:
    """Settings as `waypost up` would make them from the environment, and the routes they add."""
    environment = keycloak.environment(provider)
    settings.OIDC_ISSUER = environment["WAYPOST_OIDC_ISSUER"]
    settings.OIDC_RP_CLIENT_ID = environment["WAYPOST_OIDC_CLIENT_ID"]
    settings.OIDC_RP_CLIENT_SECRET = environment["WAYPOST_OIDC_CLIENT_SECRET"]
    settings.OIDC_DEVICE_CLIENT_ID = environment["WAYPOST_OIDC_DEVICE_CLIENT_ID"]
    # Waypost finds the endpoints by the issuer.
    for name in ("AUTHORIZATION", "TOKEN", "USER", "JWKS", "LOGOUT"):
        setattr(settings, f"OIDC_OP_{name}_ENDPOINT", "")
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
