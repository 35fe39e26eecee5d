"""Ends the sessions of people who have logged out at the identity provider.

The provider calls ``controlplane.oidc`` with a logout token (OpenID Connect Back-Channel Logout
1.0). This module decides what the checked claims of such a token mean.
"""

import time
from collections.abc import Mapping
from typing import Any

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.exceptions import SuspiciousOperation
from django.db import transaction
from django.http import HttpRequest

from controlplane.accounts import login_audit
from tenants.models import User

_EVENT = "http://schemas.openid.net/event/backchannel-logout"
_OLDEST_SECONDS = 300  # of a logout token, for clocks that are off
_SID = "provider_session"


def remember(session_key: str, sid: str) -> None:
    """Store the provider's id of the session with which our session ``session_key`` began."""
    row = UserSession.objects.filter(session_key=session_key).first()
    if row is not None and sid:
        row.data = {**(row.data or {}), _SID: sid}
        row.save(update_fields=["data"])


def end_sessions(request: HttpRequest, claims: Mapping[str, Any], now: float | None = None) -> int:
    """End the sessions that the logout token is about; return how many. Idempotent.

    The caller has checked the signature of ``claims``. With ``sid`` the token is about one
    session at the provider, without it about all sessions of the person ``sub``.

    Raises:
        SuspiciousOperation: it is no logout token for a client of this installation, it is old, or
            it has neither ``sid`` nor ``sub``.
    """
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    # A client that is not configured must not match an empty audience.
    ours = {settings.OIDC_RP_CLIENT_ID, settings.OIDC_DEVICE_CLIENT_ID} - {""}
    if claims.get("iss") != settings.OIDC_ISSUER or not ours.intersection(map(str, audiences)):
        raise SuspiciousOperation("a logout token of another issuer, or for another client")
    events = claims.get("events")
    # A logout token has no nonce (2.4 of the specification), and an identity token has one.
    if not isinstance(events, Mapping) or _EVENT not in events or "nonce" in claims:
        raise SuspiciousOperation("this is no logout token")
    issued_at = claims.get("iat")
    now = time.time() if now is None else now
    # In both directions: the clock of the provider may be ahead.
    if not isinstance(issued_at, (int, float)) or abs(now - issued_at) > _OLDEST_SECONDS:
        raise SuspiciousOperation("the logout token is old")
    # Only people of the installation's provider have a subject here.
    rows = UserSession.objects.exclude(user__oidc_subject=None)
    if claims.get("sub"):
        rows = rows.filter(user__oidc_subject=f"{claims['iss']}#{claims['sub']}")
    if claims.get("sid"):
        rows = rows.filter(**{f"data__{_SID}": str(claims["sid"])})
    if not (claims.get("sub") or claims.get("sid")):
        raise SuspiciousOperation("the logout token names nobody")
    ended = list(rows.select_related("user"))
    # In one transaction with the audit events: a repeated token finds no session and records none.
    with transaction.atomic():
        keys = [row.session_key for row in ended]
        Session.objects.filter(session_key__in=keys).delete()
        UserSession.objects.filter(session_key__in=keys).delete()
        # A person with several sessions has logged out once.
        people: dict[int, User] = {row.user_id: row.user for row in ended}
        for user in people.values():
            login_audit.record("login.end", user, request, by="identity provider")
    return len(ended)
