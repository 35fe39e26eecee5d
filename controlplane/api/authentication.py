"""Authentication of a request: by a tenant's token, a person's token or the portal's session.

* A tenant's token (``wp_…``): ``request.user`` is a ``TokenPrincipal``.
* A person's token (``wps_…``) or the portal's session: ``request.user`` is the ``User``.

``request.auth`` is the text of the token, or None for a session of the portal.
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
    "The token is unknown, expired or revoked. Create a new one in the portal under Tokens, or log "
    "in again."
)


@dataclass(frozen=True)
class TokenPrincipal:
    """The caller of a request with a tenant's token: never staff, and without a user account."""

    token: ApiToken
    # Django and DRF read these attributes of every ``request.user``.
    is_authenticated: bool = True
    is_active: bool = True
    is_staff: bool = False

    @property
    def pk(self) -> str:
        """A key that identifies the caller, like the ``pk`` of a ``User``."""
        return f"token-{self.token.pk}"


class TokenAuthentication(BaseAuthentication):
    """Reads ``Authorization: Bearer <token>`` (RFC 6750); ignores every other scheme."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        """Return (caller, text of the token), or None if no bearer token was sent.

        Raises:
            AuthenticationFailed: the bearer token is unknown, expired or revoked.
        """
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        principal = principal_of(token.strip())
        if principal is None:
            raise AuthenticationFailed(_REFUSED)
        return principal, token.strip()

    def authenticate_header(self, request: Request) -> str:
        """Return the value of ``WWW-Authenticate`` for an answer 401."""
        return 'Bearer realm="waypost"'


def principal_of(token: str) -> User | TokenPrincipal | None:
    """Return the person or the program that a bearer token belongs to.

    None if the token is unknown, expired or revoked.
    """
    # The prefix decides, so that a token is looked up in one table only.
    if token.startswith(person_tokens.PREFIX):
        return person_tokens.find(token)
    row = api_tokens.find(token)
    return TokenPrincipal(row) if row is not None else None


def caller(request: Request) -> User | TokenPrincipal:
    """Return the caller. Only for views that require a login: others may have an anonymous user."""
    who: Any = request.user  # DRF's types allow only the user model
    return cast("User | TokenPrincipal", who)


def actor(request: Request) -> Actor:
    """Return the caller as the actor of audit events, with its network address."""
    source_ip = network.address(request)
    if isinstance(request.user, AnonymousUser):
        return Actor("anonymous", source_ip)
    who = caller(request)
    if isinstance(who, TokenPrincipal):
        return Actor(f"token:{who.token.prefix}", source_ip)
    return Actor(f"user:{who.email}", source_ip)
