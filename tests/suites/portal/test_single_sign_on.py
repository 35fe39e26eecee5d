"""What the portal's pages do where people log in through a provider."""

import importlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.urls import clear_url_caches
from pytest_django import Settings

from controlplane import urls
from tests.suites.portal.conftest import As
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


def test_without_a_provider_forms_stay_here(world: World, as_: As) -> None:
    client = as_(world.owner)
    session = client.session
    session["oidc_id_token"] = "from before the provider was switched off"
    session.save()

    answer = client.get(HOME)

    assert 'action="/logout"' in answer.content.decode()
    assert "form-action 'self';" in answer["Content-Security-Policy"]
