"""Nobody learns from a login who has an account: neither by what it answers nor by its work.

Work is counted and not timed: hashes of passwords, which take most of the time, and queries.
"""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.hashers import get_hasher
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from tests.support.portal import login_form, rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
LogIn = Callable[[str, str], Any]
WRONG = "not the right password"
UNKNOWN = "nobody@acme.example"
# Headers that each answer has its own value of; the limits are those of the network address.
PASSING = ("X-Request-ID", "Expires", "RateLimit-Remaining", "RateLimit-Reset")


@pytest.fixture(autouse=True)
def _rates(settings: Settings) -> None:
    for name in [name for name in dir(settings) if name.endswith("_RATE")]:
        setattr(settings, name, "1000/min")


@pytest.fixture
def switched_off(world: World) -> str:
    """The email of an account that is switched off; its password is ``rows.PASSWORD``."""
    return rows.person("gone@acme.example", is_active=False).email


def in_portal(email: str, password: str) -> Any:
    return login_form.log_in(Client(), email, password)


def in_api(email: str, password: str) -> Any:
    body = {"email": email, "password": password}
    return Client().post("/api/v1/session", body, content_type="application/json")


def shown(answer: Any, email: str) -> tuple[int, str, dict[str, str]]:
    """Return what a client sees of a refusal, but the email that it sent and what is random."""
    text = answer.content.decode().replace(email, "EMAIL")
    text = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", text)
    headers = {name: value for name, value in answer.items() if name not in PASSING}
    return answer.status_code, text, {**headers, "Content-Length": ""}


@pytest.mark.parametrize("log_in", [in_portal, in_api])
def test_a_refused_login_answers_the_same_whoever_has_an_account(
    world: World, switched_off: str, log_in: LogIn
) -> None:
    refused = {
        "known": (world.owner.email, WRONG),
        "operator": (world.staff.email, WRONG),
        "unknown": (UNKNOWN, WRONG),
        "switched off": (switched_off, rows.PASSWORD),
    }

    seen = {who: shown(log_in(*given), given[0]) for who, given in refused.items()}

    assert seen["unknown"][0] in (200, 401)
    assert "EMAIL" in seen["unknown"][1] or log_in is in_api
    assert seen == dict.fromkeys(seen, seen["unknown"])


@pytest.mark.parametrize("log_in", [in_portal, in_api])
def test_a_refused_login_works_equally_long_whoever_has_an_account(
    world: World, switched_off: str, log_in: LogIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[str] = []
    hasher = type(get_hasher())
    hash_password = hasher.encode

    def counted(self: Any, password: str, *more: Any, **named: Any) -> Any:
        hashed.append(password)
        return hash_password(self, password, *more, **named)

    monkeypatch.setattr(hasher, "encode", counted)
    work = {}

    for who, email in {
        "known": world.owner.email,
        "unknown": UNKNOWN,
        "switched off": switched_off,
    }.items():
        hashed.clear()
        with CaptureQueriesContext(connection) as queries:
            log_in(email, WRONG)
        work[who] = (len(hashed), len(queries))

    assert work["unknown"][0] == 1
    assert work == dict.fromkeys(work, work["unknown"])
