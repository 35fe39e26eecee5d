"""Logs a person in after the identity provider has authenticated them by device.

The command gets tokens from the installation's provider (OAuth 2.0 Device Authorization Grant,
RFC 8628), as a public client with an id of its own, and sends them here. The tokens are checked,
and the account is found, as for a login in a browser. The login begins with a nonce that Waypost
signs. A token with any other nonce, or with one that was used before, logs nobody in.
"""

import secrets
from dataclasses import dataclass, replace
from datetime import timedelta

import structlog
from django.conf import settings
from django.contrib.sessions.backends.base import CreateError
from django.contrib.sessions.backends.db import SessionStore
from django.core import signing
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac

from controlplane.accounts import (
    login_audit,
    provider_groups,
    provider_identities,
    provider_tokens,
    providers,
)
from controlplane.accounts.provider_identities import LoginRefused
from controlplane.core import throttling
from controlplane.core.errors import Denied
from tenants.models import User

# Longer than providers wait for a person.
_NONCE_SECONDS = 3600
_SALT = "controlplane.accounts.device_login"
logger = structlog.get_logger(__name__)


class DeviceLoginOff(Denied):
    """The installation has no identity provider, or no client there for the command."""

    code = "login.no_device"


class TokenRefused(Denied):
    """The provider's token is not one for this login."""

    code = "login.token_refused"


@dataclass(frozen=True)
class Tokens:
    """The provider's answer to the command, and the nonce with which the login began."""

    id_token: str
    access_token: str
    nonce: str


@dataclass(frozen=True)
class LoggedIn:
    """A person who may have a session, and the id of the person's session at the provider."""

    user: User
    provider_session: str


def is_offered() -> bool:
    """Return whether people can log in by device here."""
    return bool(settings.OIDC_ISSUER and settings.OIDC_DEVICE_CLIENT_ID)


def new_nonce() -> str:
    """Return a nonce with which a login may begin within the next hour."""
    return signing.dumps(secrets.token_urlsafe(16), salt=_SALT)


def log_in(request: HttpRequest, tokens: Tokens) -> LoggedIn:
    """Return the person that ``tokens`` of the provider describe; start no session.

    Raises:
        DeviceLoginOff: ``is_offered`` is false. TooManyAttempts: over a limit of the network
            address. TokenRefused: a token is not valid, or was used. LoginRefused: see
            ``provider_identities``; or the account is disabled, or the two tokens describe
            different people. ProviderUnavailable: the provider does not answer.
    """
    if not is_offered():
        raise DeviceLoginOff(
            "This Waypost offers no login by device: log in with email and password, or store an "
            "API token with `waypost contexts add`."
        )
    throttling.require_exchange(request)
    try:
        found = _checked(tokens)
    except (SuspiciousOperation, signing.BadSignature) as error:
        logger.warning("login by device refused", reason=str(error))
        text = "The identity provider's token is not one for this login. Begin again."
        login_audit.record_refusal("login.refuse", "", request, f"device: {text}")
        raise TokenRefused(text) from None
    except LoginRefused as error:
        login_audit.record_refusal("login.refuse", "", request, f"device: {error.message}")
        raise
    login_audit.record("login.succeed", found.user, request, method="device")
    return found


def _checked(tokens: Tokens) -> LoggedIn:
    """Return who logs in; use the nonce up.

    Raises:
        SuspiciousOperation, BadSignature: the token is refused. LoginRefused: the person may not
            log in. ProviderUnavailable: the provider does not answer.
    """
    # Only signature and age count; the content is random.
    signing.loads(tokens.nonce, salt=_SALT, max_age=_NONCE_SECONDS)
    # A public client of its own: a program on people's machines keeps no secret (RFC 8628, 5.6).
    provider = replace(
        providers.installation(), client_id=settings.OIDC_DEVICE_CLIENT_ID, client_secret=""
    )
    claims = provider_tokens.identity_claims(provider, tokens.id_token, nonce=tokens.nonce)
    claims = provider_tokens.with_user_claims(provider, claims, tokens.access_token)
    # Only valid tokens use the nonce up: a try that fails before can be repeated.
    _use_up(tokens.nonce)
    user = provider_identities.sign_in(provider_groups.read_identity(claims))
    # The provider does not know who is disabled here.
    if not user.is_active:
        raise LoginRefused("Your account is disabled. Ask the operator.")
    provider_groups.apply(user, provider_groups.read(claims))
    return LoggedIn(user, str(claims.get("sid") or ""))


def _use_up(nonce: str) -> None:
    """Store that the nonce was used, in a row that ends when the nonce does.

    Raises:
        SuspiciousOperation: it was used before.
    """
    # In the database: the cache may be unreachable, or lose the row.
    row = SessionStore()
    row.set_expiry(timezone.now() + timedelta(seconds=_NONCE_SECONDS))
    # The row is a session like any other: whoever could name its key could end it, and use the
    # nonce again. Only the server can compute the key.
    row._session_key = salted_hmac(_SALT, nonce, algorithm="sha256").hexdigest()[:40]
    try:
        row.save(must_create=True)
    except CreateError:
        raise SuspiciousOperation("the nonce was used before") from None
