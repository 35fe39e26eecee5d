"""Who is calling: a tenant's token (``wp_…``), a person's (``wps_…``), or the portal's session.

A tenant's token appears as ``TokenPrincipal`` in ``request.user`` and as the row in
``request.auth``; the other two as the ``User`` itself.
"""

from dataclasses import dataclass
from typing import Any, cast

from django.contrib.auth.models import AnonymousUser
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from controlplane.api import person_tokens
from controlplane.core import network
from controlplane.core.audit import Actor
from tenants.actions import api_tokens
from tenants.models import ApiToken, User

_REFUSED = (
    "The token is unknown, has ended or was revoked. Make a new one in the portal under Tokens, "
    "or log in again."
)


@dataclass(frozen=True)
class TokenPrincipal:
    """A program that holds a tenant's token: authenticated, never staff, nobody's account."""

    token: ApiToken
    is_authenticated: bool = True
    is_active: bool = True
    is_staff: bool = False

    @property
    def pk(self) -> str:
        """A key for throttles."""
        return f"token-{self.token.pk}"


class TokenAuthentication(BaseAuthentication):
    """``Authorization: Bearer <token>`` (RFC 6750). Anything but Bearer is left to others."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        """Return (principal, token), or None when no bearer token was sent.

        Raises:
            AuthenticationFailed: a bearer token was sent and opens nothing.
        """
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        principal = _principal(token.strip())
        if principal is None:
            raise AuthenticationFailed(_REFUSED)
        return principal, token.strip()

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge of a 401."""
        return 'Bearer realm="waypost"'


def _principal(token: str) -> User | TokenPrincipal | None:
    if token.startswith(person_tokens.PREFIX):
        return person_tokens.find(token)
    row = api_tokens.find(token)
    return TokenPrincipal(row) if row is not None else None


def caller(request: Request) -> User | TokenPrincipal:
    """Return who calls; only views that ask for a login may call this."""
    who: Any = request.user  # DRF's types know only the user model
    return cast("User | TokenPrincipal", who)


def actor(request: Request) -> Actor:
    """Return who acts, in the words of the audit log."""
    source_ip = network.address(request)
    if isinstance(request.user, AnonymousUser):
        return Actor("anonymous", source_ip)
    who = caller(request)
    if isinstance(who, TokenPrincipal):
        return Actor(f"token:{who.token.prefix}", source_ip)
    return Actor(f"user:{who.email}", source_ip)
