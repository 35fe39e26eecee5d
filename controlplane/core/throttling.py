"""Rate limits of signup and login, which need no authentication.

API and portal share the counts. Signup and login each have one count for each network address and
one for each email address. The counts are in the cache (Redis). While the cache is away, nothing is
limited and a warning is logged: a lost cache must not lock people out, and the slow password hash
still limits guessing. ADR 14 says why no library does this.
"""

import hashlib
import time

import structlog
from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from redis.exceptions import RedisError

from controlplane.core import network
from controlplane.core.errors import RateLimited

logger = structlog.get_logger(__name__)

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def require_login(request: HttpRequest, email: str) -> None:
    """Count one login attempt for the caller's network address and one for ``email``.

    Call it before the password is checked: successful logins count too. The limits are the settings
    ``LOGIN_RATE`` (network address) and ``ACCOUNT_RATE`` (email).

    Raises:
        RateLimited: there were too many attempts; the message says when to try again.
    """
    _require("login-address", settings.LOGIN_RATE, network.address(request))
    _require("login-account", settings.ACCOUNT_RATE, email)


def require_signup(request: HttpRequest, email: str) -> None:
    """Count one signup attempt for the caller's network address and one for ``email``.

    The limits are the settings ``SIGNUP_RATE`` (network address) and ``ACCOUNT_RATE`` (email).

    Raises:
        RateLimited: there were too many attempts; the message says when to try again.
    """
    _require("signup-address", settings.SIGNUP_RATE, network.address(request))
    _require("signup-account", settings.ACCOUNT_RATE, email)


def _require(limit: str, rate: str, who: str) -> None:
    allowed, period = rate.split("/")
    seconds = _SECONDS[period[0]]
    # Fixed windows: the cache key contains the window's number, so each window has its own count.
    window, elapsed = divmod(time.time(), seconds)
    if _count(f"{limit}-{_digest(who)}-{window:.0f}", seconds, limit) > int(allowed):
        wait = int(seconds - elapsed) + 1
        raise RateLimited(
            f"Too many attempts. Try again in {_duration(wait)}.", retry_after_seconds=wait
        )


def _count(key: str, seconds: int, limit: str) -> int:
    """Add one to the count ``key`` and return the sum; return 0 while the cache is away.

    ``seconds`` is the length of the window, and ``limit`` the name that the warning logs.
    """
    try:
        # Twice the window's length, so that the key cannot expire between the two calls.
        cache.add(key, 0, timeout=2 * seconds)
        return cache.incr(key)
    except (RedisError, OSError):
        logger.warning("the cache is away; not counting requests", limit=limit)
        return 0


def _digest(who: str) -> str:
    # Keeps email addresses out of the cache and bounds the length of its keys.
    return hashlib.sha256(who.lower().encode()).hexdigest()[:32]


def _duration(seconds: int) -> str:
    if seconds < 120:
        return f"{seconds} second{'s' if seconds > 1 else ''}"
    return f"{-(-seconds // 60)} minutes"  # rounded up
