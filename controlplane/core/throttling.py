"""Rate limits of the two doors that anyone may knock at: signup and login.

The API and the portal share the counts, by network address and by account. They live in the cache.
With the cache away the doors stay open and the log says so: a lost cache must not lock people out,
and passwords are still hashed slowly.
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
    """Count one login; return while there are few enough from this address and to this account.

    Raises:
        RateLimited: too many; says when to try again.
    """
    _require("login-address", settings.LOGIN_RATE, network.address(request))
    _require("login-account", settings.ACCOUNT_RATE, email)


def require_signup(request: HttpRequest, email: str) -> None:
    """Count one signup; return while there are few enough from this address and to this account.

    Raises:
        RateLimited: too many; says when to try again.
    """
    _require("signup-address", settings.SIGNUP_RATE, network.address(request))
    _require("signup-account", settings.ACCOUNT_RATE, email)


def _require(limit: str, rate: str, who: str) -> None:
    allowed, period = rate.split("/")
    seconds = _SECONDS[period[0]]
    window, elapsed = divmod(time.time(), seconds)
    if _count(f"{limit}-{_digest(who)}-{window:.0f}", seconds, limit) > int(allowed):
        wait = int(seconds - elapsed) + 1
        raise RateLimited(f"Too many tries. Try again in {_words(wait)}.", retry_after_seconds=wait)


def _count(key: str, seconds: int, limit: str) -> int:
    """Return how many came in this window, this one included."""
    try:
        # Twice the window, so that the key cannot end between the two calls.
        cache.add(key, 0, timeout=2 * seconds)
        return cache.incr(key)
    except (RedisError, OSError):
        logger.warning("the cache is away; not counting requests", limit=limit)
        return 0


def _digest(who: str) -> str:
    # An address in a shared cache is nobody's business, and a key's length is bounded.
    return hashlib.sha256(who.lower().encode()).hexdigest()[:32]


def _words(seconds: int) -> str:
    if seconds < 120:
        return f"{seconds} second{'s' if seconds > 1 else ''}"
    return f"{-(-seconds // 60)} minutes"
