"""Headers and cookies that browsers protect people by, on answers of every kind."""

import pytest
from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.test import Client

from tests.suites.portal.conftest import As
from tests.support.portal import login_form, rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("path", ["/login", "/api/v1/plans", "/nowhere", "/api/v1/me"])
def test_every_answer_has_the_headers(world: World, path: str) -> None:
    answer = Client().get(path, headers={"Origin": "https://elsewhere.example"})

    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == "same-origin"
    assert answer["Cross-Origin-Opener-Policy"] == "same-origin"
    assert answer["X-Frame-Options"] == "DENY"
    assert [name for name in answer.headers if name.startswith("Access-Control-")] == []


def test_the_session_s_cookie_is_for_this_site_and_no_script(world: World) -> None:
    client = Client()
    login_form.log_in(client, world.owner.email, rows.PASSWORD)

    cookie = client.cookies[settings.SESSION_COOKIE_NAME]

    assert cookie["httponly"] is True
    assert cookie["samesite"] == "Lax"
    assert 0 < int(cookie["max-age"]) <= 14 * 24 * 3600


def test_a_login_begins_another_session(world: World, as_: As) -> None:
    """Whoever planted a session in a browser does not share the login that follows."""
    planted = as_(world.outsider).cookies[settings.SESSION_COOKIE_NAME].value
    client = Client()
    Session.objects.filter(pk=planted).update(session_data=SessionStore().encode({}))
    client.cookies[settings.SESSION_COOKIE_NAME] = planted

    login_form.log_in(client, world.owner.email, rows.PASSWORD)

    assert client.session.session_key not in (None, planted)
