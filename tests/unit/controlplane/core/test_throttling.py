"""Rate limits of signup and login, and where a request comes from."""

import time

import pytest
from django.core.cache import cache
from django.http import HttpRequest
from django.test import RequestFactory
from pytest_django import Settings

from controlplane.core import network, throttling
from controlplane.core.errors import RateLimited


@pytest.fixture(autouse=True)
def _few_tries(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three by address, two by account, in the middle of a minute."""
    settings.CACHES = {
        "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "few"}
    }
    cache.clear()
    settings.LOGIN_RATE = settings.SIGNUP_RATE = "3/min"
    settings.ACCOUNT_RATE = "2/min"
    settings.TRUSTED_PROXIES = 0
    monkeypatch.setattr(time, "time", lambda: 1_200_000_015.5)


def asked(address: str = "203.0.113.9", **headers: str) -> HttpRequest:
    return RequestFactory().post("/login", REMOTE_ADDR=address, headers=headers)


def test_an_account_is_limited_from_wherever_it_is_tried() -> None:
    throttling.require_login(asked("203.0.113.1"), "olga@acme.example")
    throttling.require_login(asked("203.0.113.2"), "Olga@Acme.example")

    with pytest.raises(RateLimited, match="Try again in 45 seconds"):
        throttling.require_login(asked("203.0.113.3"), "olga@acme.example")


def test_an_address_is_limited_whatever_account_it_tries() -> None:
    for number in range(3):
        throttling.require_signup(asked(), f"{number}@acme.example")

    with pytest.raises(RateLimited) as refused:
        throttling.require_signup(asked(), "another@acme.example")
    assert refused.value.status == 429
    assert refused.value.fields == {"retry_after_seconds": 45}
    throttling.require_signup(asked("203.0.113.77"), "another@acme.example")


def test_the_next_window_begins_again(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        throttling.require_login(asked(), f"{number}@acme.example")
    monkeypatch.setattr(time, "time", lambda: 1_200_000_060.0)

    throttling.require_login(asked(), "olga@acme.example")


def test_long_waits_are_said_in_minutes(settings: Settings) -> None:
    settings.ACCOUNT_RATE = "1/hour"
    throttling.require_login(asked(), "olga@acme.example")

    with pytest.raises(RateLimited, match=r"Try again in \d+ minutes"):
        throttling.require_login(asked(), "olga@acme.example")


@pytest.mark.parametrize(
    ("proxies", "heard", "seen"),
    [
        (0, "198.51.100.1", "192.0.2.1"),
        (1, "198.51.100.1, 203.0.113.9", "203.0.113.9"),
        (2, "6.6.6.6, 198.51.100.1,203.0.113.9", "198.51.100.1"),
        (2, "203.0.113.9", "203.0.113.9"),
        (1, "", "192.0.2.1"),
        (1, "x" * 500, "x" * 60),
    ],
)
def test_only_trusted_proxies_are_believed(
    settings: Settings, proxies: int, heard: str, seen: str
) -> None:
    settings.TRUSTED_PROXIES = proxies
    request = asked("192.0.2.1", **({"X-Forwarded-For": heard} if heard else {}))

    assert network.address(request) == seen
