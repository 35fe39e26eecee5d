"""Authenticates a request by a tenant's token, a person's token or the portal's session.

* A tenant's token (``wp_…``): ``request.user`` is a ``TokenPrincipal``.
* A person's token (``wps_…``) or the portal's session: ``request.user`` is the ``User``.

``request.auth`` is the text of the token, or None for a session of the portal. DRF authenticates
the portal's session; this module does the rest.
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
    "The token is unknown, expired or revoked. Create a new one in the portal under API tokens, or "
    "log in again."
)


@dataclass(frozen=True)
class TokenPrincipal:
    """A value: the caller of a request that was sent with a tenant's token.

    It stands for a program: it has no user account and is never staff.
    """

    token: ApiToken
    # Django and DRF read these attributes of every ``request.user``.
    is_authenticated: bool = True
    is_active: bool = True
    is_staff: bool = False

    @property
    def pk(self) -> str:
        """A key of the caller: ``token-<id of the token>``, unlike the ``pk`` of any user."""
        return f"token-{self.token.pk}"


class TokenAuthentication(BaseAuthentication):
    """DRF's authentication by ``Authorization: Bearer <token>`` (RFC 6750).

    It ignores every other scheme.
    """

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        """Return (``request.user``, text of the token); None if no bearer token was sent.

        Raises:
            AuthenticationFailed: the token is unknown, expired or revoked, or the account of its
                person is disabled.
        """
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        # The name of a scheme has no case (RFC 9110, 11.1).
        if scheme.lower() != "bearer":
            return None
        principal = principal_of(token.strip())
        if principal is None:
            raise AuthenticationFailed(_REFUSED)
        return principal, token.strip()

    def authenticate_header(self, request: Request) -> str:
        """Return the value of the header ``WWW-Authenticate`` of an answer 401."""
        # Without this header DRF would answer 403 in place of 401 (RFC 9110, 15.5.2).
        return 'Bearer realm="waypost"'


def principal_of(token: str) -> User | TokenPrincipal | None:
    """Return the user of a person's token, or the ``TokenPrincipal`` of a tenant's token.

    ``token`` is the text of the token. None if the token is unknown, expired or revoked, or if the
    account of its person is disabled.
    """
    # The prefix decides, so that a token is looked up in one table only.
    if token.startswith(person_tokens.PREFIX):
        return person_tokens.find(token)
    row = api_tokens.find(token)
    return TokenPrincipal(row) if row is not None else None


def caller(request: Request) -> User | TokenPrincipal:
    """Return ``request.user`` with its real type.

    Only for views that require a login: in others it may be an ``AnonymousUser``.
    """
    who: Any = request.user  # DRF's types allow only the user model
    return cast("User | TokenPrincipal", who)


def actor(request: Request) -> Actor:
    """Return the caller as the actor of audit events, with the caller's network address.

    The name is ``user:<email>``, ``token:<prefix>`` or, without a login, ``anonymous``.
    """
    source_ip = network.address(request)
    if isinstance(request.user, AnonymousUser):
        return Actor("anonymous", source_ip)
    who = caller(request)
    if isinstance(who, TokenPrincipal):
        return Actor(f"token:{who.token.prefix}", source_ip, str(who.token.pk))
    return Actor(f"user:{who.email}", source_ip)


def session_key(request: Request) -> str:
    """Return the key of the session that sent ``request``, a person's token or of the portal.

    Empty for a tenant's token, and without a login.
    """
    if request.auth is None:
        return str(request.session.session_key or "")
    token = str(request.auth)
    return person_tokens.row_key(token) if token.startswith(person_tokens.PREFIX) else ""
