"""Remembers in a cookie that a browser has logged in to an account.

Guesses of a password from anywhere slow down logins to the account, but not those of its owner's
browser: ``core.throttling`` counts the attempts of a known browser separately.
"""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from controlplane.core import throttling

_YEAR_SECONDS = 365 * 24 * 3600  # how long a browser keeps the cookie


def remember(request: HttpRequest, email: str) -> None:
    """Have the middleware below set the cookie for the account in the response to ``request``."""
    request.known_browser_for = email  # type: ignore[attr-defined]


class KnownBrowserMiddleware:
    """Sets the cookie of a browser in which a person has just logged in."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        email = getattr(request, "known_browser_for", "")
        if email:
            # Here, because the receiver of the login signal has no response.
            response.set_cookie(
                throttling.KNOWN_BROWSER_COOKIE,
                throttling.known_browser(email),
                max_age=_YEAR_SECONDS,
                secure=settings.SESSION_COOKIE_SECURE,
                httponly=True,
                samesite="Lax",
            )
        return response
