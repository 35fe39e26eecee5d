"""The list of a person's sessions: those of the portal in browsers, and those of the command.

The sessions themselves are rows of Django's session table. The rows of ``UserSession`` say whose
they are, and from where. ``controlplane.api.person_tokens`` makes sessions of the command.
"""

import ipaddress
from collections.abc import Sequence

from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.http import HttpRequest
from django.utils import timezone

from controlplane.core import network
from tenants.actions import account_access
from tenants.models import User

_LONGEST_AGENT = 200  # characters of a browser's name that are stored


def add(request: HttpRequest, user: User, session_key: str = "") -> None:
    """Add the request's session to the list of ``user``, or the one with ``session_key``."""
    if not session_key and not request.session.session_key:
        # A new session has no key until it is saved.
        request.session.save()
    UserSession.objects.update_or_create(
        session_key=session_key or request.session.session_key,
        defaults={
            "user": user,
            "ip": valid_address(request),
            "user_agent": request.META.get("HTTP_USER_AGENT", "")[:_LONGEST_AGENT],
            # Only the login of the command names a session other than the request's.
            "data": {"command": bool(session_key)},
        },
    )


def valid_address(request: HttpRequest) -> str:
    """Return the caller's network address, or ``0.0.0.0`` if a proxy sent no valid one."""
    try:
        return str(ipaddress.ip_address(network.address(request)))
    except ValueError:
        # The column takes network addresses only.
        return "0.0.0.0"


def seen(session_key: str) -> None:
    """Store that the session is in use."""
    UserSession.objects.filter(session_key=session_key).update(last_seen_at=timezone.now())


def list_sessions(user: User) -> Sequence[UserSession]:
    """Return the sessions of ``user`` that have not ended, newest first.

    Sessions that began before an upgrade to this list are not in it.
    """
    # A session that expires leaves its row behind.
    keys = Session.objects.filter(expire_date__gt=timezone.now()).values("session_key")
    return list(
        UserSession.objects.filter(user=user, session_key__in=keys).order_by("-created_at", "-pk")
    )


def end(user: User, pk: int) -> bool:
    """End one session of ``user``; return whether there was such a session."""
    return bool(account_access.end_sessions(UserSession.objects.filter(user=user, pk=pk)))


def end_others(user: User, session_key: str) -> int:
    """End all sessions of ``user`` but the one with ``session_key``; return their number."""
    others = UserSession.objects.filter(user=user).exclude(session_key=session_key)
    return account_access.end_sessions(others)
