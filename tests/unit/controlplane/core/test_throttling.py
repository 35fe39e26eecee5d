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
    monkeypatch.setattr(throttling, "_paused_until", 0.0)


def asked(address: str = "203.0.113.9", **headers: str) -> HttpRequest:
    return RequestFactory().post("/login", REMOTE_ADDR=address, headers=headers)


def known(email: str = "olga@acme.example", address: str = "203.0.113.9") -> HttpRequest:
    """Return a request of a browser that has logged in to the account before."""
    request = asked(address)
    request.COOKIES[throttling.KNOWN_BROWSER_COOKIE] = throttling.known_browser(email)
    return request


def _attempts_left() -> int:
    """Return how many attempts at an account fail for another reason than their number."""
    for number in range(10):
        try:
            throttling.begin_login(asked(), "olga@acme.example")
        except RateLimited:
            return number
    raise AssertionError("the account is not limited")


def test_an_account_is_limited_at_each_network_address() -> None:
    throttling.begin_login(asked("203.0.113.1"), "olga@acme.example")
    throttling.begin_login(asked("203.0.113.1"), "Olga@Acme.example")

    with pytest.raises(RateLimited, match="Try again in 45 seconds"):
        throttling.begin_login(asked("203.0.113.1"), "olga@acme.example")
    throttling.begin_login(asked("203.0.113.2"), "olga@acme.example")


def test_failures_from_everywhere_limit_an_account_but_not_its_known_browsers(
    settings: Settings,
) -> None:
    settings.ACCOUNT_FAILURE_RATE = "2/day"
    for number in range(2):
        throttling.begin_login(asked(f"203.0.113.{number}"), "olga@acme.example")

    with pytest.raises(RateLimited) as refused:
        throttling.begin_login(asked("203.0.113.3"), "olga@acme.example")
    assert "set a new password by mail" in refused.value.message
    throttling.begin_login(known(), "olga@acme.example")
    with pytest.raises(RateLimited):
        throttling.begin_login(known("oscar@other.example"), "olga@acme.example")


def test_a_known_browser_has_a_limit_of_its_own() -> None:
    request = known()
    for _ in range(2):
        throttling.begin_login(request, "olga@acme.example")

    with pytest.raises(RateLimited):
        throttling.begin_login(request, "olga@acme.example")


def test_a_forged_cookie_is_no_known_browser(settings: Settings) -> None:
    settings.ACCOUNT_FAILURE_RATE = "1/day"
    request = known()
    request.COOKIES[throttling.KNOWN_BROWSER_COOKIE] += "x"
    throttling.begin_login(request, "olga@acme.example")

    with pytest.raises(RateLimited):
        throttling.begin_login(request, "olga@acme.example")


def test_a_successful_login_is_not_counted_against_the_account(settings: Settings) -> None:
    settings.LOGIN_RATE = "100/min"
    for _ in range(5):
        throttling.begin_login(asked(), "olga@acme.example").succeeded()

    # All attempts of the account are left.
    assert _attempts_left() == 2


def test_only_the_first_refusal_of_a_window_is_marked(settings: Settings) -> None:
    settings.LOGIN_RATE = "100/min"
    for _ in range(2):
        throttling.begin_login(asked(), "olga@acme.example")

    marks = []
    for _ in range(2):
        with pytest.raises(throttling.TooManyAttempts) as refused:
            throttling.begin_login(asked(), "olga@acme.example")
        marks.append(refused.value.is_first)

    assert marks == [True, False]


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
        throttling.begin_login(asked(), f"{number}@acme.example")
    assert _attempts_left() == 0
    monkeypatch.setattr(time, "time", lambda: 1_200_000_060.0)

    assert _attempts_left() == 2


def test_long_waits_are_said_in_minutes(settings: Settings) -> None:
    settings.ACCOUNT_RATE = "1/hour"
    throttling.begin_login(asked(), "olga@acme.example")

    with pytest.raises(RateLimited, match=r"Try again in \d+ minutes"):
        throttling.begin_login(asked(), "olga@acme.example")


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


def test_a_cache_that_is_away_is_left_alone_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    asks: list[str] = []

    class Away:
        """A cache whose server is gone."""

        def add(self, key: str, value: int, timeout: int) -> None:
            asks.append(key)
            raise ConnectionError("gone")

    monkeypatch.setattr(throttling, "cache", Away())
    found = [throttling.count("api-caller", "1/min", "me").used for _ in range(5)]
    assert (found, len(asks)) == ([0] * 5, 1)

    monkeypatch.setattr(throttling, "monotonic", lambda: time.monotonic() + 6)
    throttling.count("api-caller", "1/min", "me")
    assert len(asks) == 2
