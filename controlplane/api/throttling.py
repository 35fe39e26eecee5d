"""Simple rate limits of the two doors that anyone may knock at: signup and login.

Counts live in the cache. With the cache away the door stays open and says so in the log: a lost
cache must not lock people out, and passwords are still hashed slowly.
"""

from typing import Any

import structlog
from django.conf import settings
from redis.exceptions import RedisError
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

logger = structlog.get_logger(__name__)


class _PerAddress(SimpleRateThrottle):
    """So many requests per network address."""

    setting: str

    def get_rate(self) -> str:
        return str(getattr(settings, self.setting))

    def get_cache_key(self, request: Request, view: Any) -> str:
        return f"throttle-{self.setting}-{self.get_ident(request)}"

    def allow_request(self, request: Request, view: Any) -> bool:
        try:
            return super().allow_request(request, view)
        except (RedisError, OSError):
            logger.warning("the cache is away; not counting requests", limit=self.setting)
            return True


class SignupThrottle(_PerAddress):
    """POST /signup, by WAYPOST_SIGNUP_RATE."""

    setting = "SIGNUP_RATE"


class LoginThrottle(_PerAddress):
    """POST /session, by WAYPOST_LOGIN_RATE."""

    setting = "LOGIN_RATE"
