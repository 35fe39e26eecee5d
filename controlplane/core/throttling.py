"""Rate limits: of signup and login, which need no authentication, and of the API's callers.

API and portal share the counts. They are in the cache (Redis). While the cache is away, nothing is
limited and a warning is logged: a lost cache must not lock people out, and the slow password hash
still limits guessing. The cache is then left alone for some seconds, so that requests do not wait
for it. ADR 14 says why no library does this.

Signup has one count for each network address and one for each email address. A login is counted

* in a browser that has logged in to this account before: for this browser alone;
* elsewhere: for the network address, for the account at this network address, and for the account.

A successful login is taken off the counts of its account. So guesses from one network address are
stopped by the limits of that address, and guesses from many by the limit of the account. The latter
does not stop the owner's known browsers. In a new browser the owner can set a new password by mail.
"""

import hashlib
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic

import structlog
from django.conf import settings
from django.core import signing
from django.core.cache import cache
from django.http import HttpRequest
from redis.exceptions import RedisError

from controlplane.core import network
from controlplane.core.errors import RateLimited, Unavailable

logger = structlog.get_logger(__name__)

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}  # units of a rate such as 10/m
# After an error of the cache, nothing is counted for this long.
_CACHE_PAUSE_SECONDS = 5.0
_paused_until = 0.0


@dataclass(frozen=True)
class Count:
    """A value: how often something happened in the present window, and how often it may.

    ``reset_seconds`` is the time until the next window begins. ``used`` is 0 while the cache is
    away. ``key`` is the count's key in the cache.
    """

    allowed: int
    used: int
    reset_seconds: int
    key: str = ""

    @property
    def left(self) -> int:
        """How often it may still happen in this window; never negative."""
        return max(self.allowed - self.used, 0)


KNOWN_BROWSER_COOKIE = "known_browser"
_SALT = "controlplane.core.throttling"


class TooManyAttempts(RateLimited):
    """A limit of logins or signups is exceeded.

    ``is_first`` says whether it is the first refusal in this window, which the audit log shows.
    """

    is_first = False


class CacheUnavailable(Unavailable):
    """A library cannot count attempts, because the cache is away: the request is refused.

    While the cache is away, the counts of this module let requests pass, because the slow password
    hash still limits guessing. Only a count limits the guessing of a second factor's code.
    """

    code = "cache.unavailable"

    def __init__(self) -> None:
        super().__init__(
            "Waypost cannot count attempts at the moment, so it takes none here. Nothing was "
            "changed; try again in a few seconds."
        )


@dataclass(frozen=True)
class Attempt:
    """A login that was counted before its password was checked.

    ``keys`` are the counts of the account, in the cache.
    """

    keys: Sequence[str]

    def succeeded(self) -> None:
        """Take the attempt off the counts of the account: only failures limit an account."""
        try:
            for key in self.keys:
                cache.decr(key)
        except (RedisError, OSError, ValueError):  # ValueError: the window has ended
            logger.warning("the cache is away; a login stays counted")


def begin_login(request: HttpRequest, email: str) -> Attempt:
    """Count one attempt to log in to the account ``email``, before the password is checked.

    Raises:
        TooManyAttempts: there were too many attempts; the message says when to try again.
    """
    browser = _browser(request, email)
    if browser:
        return Attempt([_require("login-browser", settings.ACCOUNT_RATE, browser)])
    address = network.address(request)
    _require("login-address", settings.LOGIN_RATE, address)
    here = _require("login-account", settings.ACCOUNT_RATE, f"{email.lower()} {address}")
    try:
        anywhere = _require("login-failures", settings.ACCOUNT_FAILURE_RATE, email)
    except TooManyAttempts as error:
        error.message = (
            "Too many wrong passwords were tried for this account. Log in with a browser in which "
            "you were logged in before, or set a new password by mail."
        )
        raise
    return Attempt([here, anywhere])


def known_browser(email: str) -> str:
    """Return the value of a new cookie: the browser has logged in to the account ``email``."""
    return signing.dumps([_digest(email), secrets.token_hex(8)], salt=_SALT)


def _browser(request: HttpRequest, email: str) -> str:
    """Return the identity of the browser if it has logged in to this account before, else ''."""
    try:
        account, browser = signing.loads(request.COOKIES[KNOWN_BROWSER_COOKIE], salt=_SALT)
    except (KeyError, signing.BadSignature):
        return ""
    return f"{account} {browser}" if account == _digest(email) else ""


def require_signup(request: HttpRequest, email: str) -> None:
    """Count one signup attempt for the caller's network address and one for ``email``.

    The limits are the settings ``SIGNUP_RATE`` (network address) and ``ACCOUNT_RATE`` (email).

    Raises:
        TooManyAttempts: there were too many attempts; the message says when to try again.
    """
    _require("signup-address", settings.SIGNUP_RATE, network.address(request))
    _require("signup-account", settings.ACCOUNT_RATE, email)


def require_exchange(request: HttpRequest) -> None:
    """Count one attempt to log in with tokens of an identity provider, for the network address.

    The account is known only after the provider was asked, so there is no count of accounts.

    Raises:
        TooManyAttempts: there were too many attempts; the message says when to try again.
    """
    _require("login-address", settings.LOGIN_RATE, network.address(request))


def _require(limit: str, rate: str, who: str) -> str:
    """Count one attempt of ``who``; return the key of the count.

    Raises:
        TooManyAttempts: the count is over ``rate``, such as ``10/min``.
    """
    found = count(limit, rate, who)
    if found.used > found.allowed:
        wait = found.reset_seconds
        error = TooManyAttempts(
            f"Too many attempts. Try again in {_duration(wait)}.", retry_after_seconds=wait
        )
        error.is_first = found.used == found.allowed + 1
        raise error
    return found.key


def require(found: Count, what: str) -> None:
    """Check that ``found`` is within its limit; ``what`` is the first sentence of the message.

    Raises:
        RateLimited: it is over the limit; the message says when to try again.
    """
    if found.used > found.allowed:
        wait = found.reset_seconds
        raise RateLimited(f"{what} Try again in {_duration(wait)}.", retry_after_seconds=wait)


def count(limit: str, rate: str, who: str) -> Count:
    """Count one more event of ``who`` under the limit named ``limit``, and return the count.

    ``rate`` is such as ``20/min``. Windows are fixed: each begins at a multiple of its length.
    """
    allowed, period = rate.split("/")
    seconds = _SECONDS[period[0]]
    # Fixed windows: the cache key contains the window's number, so each window has its own count.
    window, elapsed = divmod(time.time(), seconds)
    key = f"{limit}-{_digest(who)}-{window:.0f}"
    used = _count(key, seconds, limit)
    return Count(int(allowed), used, int(seconds - elapsed) + 1, key)


def _count(key: str, seconds: int, limit: str) -> int:
    """Add one to the count ``key`` and return the sum; return 0 while the cache is away.

    ``seconds`` is the length of the window, and ``limit`` the name that the warning logs.
    """
    global _paused_until
    if monotonic() < _paused_until:
        return 0
    try:
        # Twice the window's length, so that the key cannot expire between the two calls.
        cache.add(key, 0, timeout=2 * seconds)
        return cache.incr(key)
    except (RedisError, OSError):
        _paused_until = monotonic() + _CACHE_PAUSE_SECONDS
        logger.warning("the cache is away; not counting requests", limit=limit)
        return 0


def _digest(who: str) -> str:
    # Keeps email addresses out of the cache and bounds the length of its keys.
    return hashlib.sha256(who.lower().encode()).hexdigest()[:32]


def _duration(seconds: int) -> str:
    if seconds < 120:
        return f"{seconds} second{'s' if seconds > 1 else ''}"
    return f"{-(-seconds // 60)} minutes"  # rounded up
