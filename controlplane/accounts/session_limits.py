"""Ends sessions of the portal: after a time without use, and a time after their login."""

import time
from collections.abc import Callable

from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponseBase

from controlplane.accounts import person_sessions

_BEGAN, _SEEN = "session_began", "session_seen"
# The last use is stored at most this often, so that most requests do not write the session.
_STORED_EVERY_SECONDS = 300


class SessionLimitsMiddleware:
    """Logs a person out whose session is older or longer unused than the settings allow.

    A session without a stored beginning counts as begun at its next request.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        # Without the cookie there is no session, and the user is not looked up.
        if settings.SESSION_COOKIE_NAME in request.COOKIES and request.user.is_authenticated:
            self._limit(request, time.time())
        return self.get_response(request)

    def _limit(self, request: HttpRequest, now: float) -> None:
        session = request.session
        began, seen = session.get(_BEGAN, now), session.get(_SEEN, now)
        unused, age = now - seen, now - began
        if (
            unused > settings.SESSION_IDLE_HOURS * 3600
            or age > settings.SESSION_LONGEST_DAYS * 24 * 3600
        ):
            logout(request)
        elif _BEGAN not in session or unused > _STORED_EVERY_SECONDS:
            session[_BEGAN], session[_SEEN] = began, now
            person_sessions.seen(str(session.session_key))
