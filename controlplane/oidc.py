"""Login through an OpenID provider: the one door to mozilla-django-oidc.

Authorization code with PKCE, nonce and state. On top of the library, which checks signature and
nonce only, the identity token must be ours (iss, aud, azp; OpenID Connect Core 3.1.3.7) and the
user-info answer must be about the same subject (5.3.2).

Who a login is:

    known issuer#sub                             -> that user, whatever the email says now
    email missing or not verified                -> refused
    verified email of nobody                     -> a new user
    verified email of a local account            -> linked, and its password is made unusable,
                                                    because whoever set it never proved the email
    verified email of staff, or of a user with
    another identity                             -> refused; the operator must sort it out

Where the provider sends people back to begins with PUBLIC_URL, never with what a request says of
itself: behind a proxy that ends TLS that is http, and its headers anybody may set.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import jwt
import requests
import structlog
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import SuspiciousOperation
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import resolve_url
from django.urls import include, path, reverse
from mozilla_django_oidc.auth import OIDCAuthenticationBackend
from mozilla_django_oidc.views import (
    OIDCAuthenticationCallbackView,
    OIDCAuthenticationRequestView,
)

from controlplane.core import audit
from controlplane.core.errors import Denied
from tenants.models import User

logger = structlog.get_logger(__name__)


class LoginRefused(Denied):
    """The provider vouches for somebody whom we may not let in; the message says why."""

    code = "login.refused"


@dataclass(frozen=True)
class Identity:
    """What the provider says about a person: ``subject`` is issuer#sub, ``email`` lower-case."""

    subject: str
    email: str
    email_verified: bool
    first_name: str
    last_name: str


class OidcBackend(OIDCAuthenticationBackend):  # type: ignore[misc]  # the library has no types
    """mozilla-django-oidc with the checks it leaves out, and our linking rules."""

    def authenticate(self, request: HttpRequest | None, **kwargs: Any) -> User | None:
        """Return the user of a callback; None for anything that is not one.

        Raises:
            LoginRefused: see the module's table.
            SuspiciousOperation: a token or an answer is not for us.
        """
        # A password form may be posted to a URL with code and state in it: not a login of ours.
        if not (kwargs.get("nonce") and kwargs.get("code_verifier")):
            return None
        user: User | None = super().authenticate(request, **kwargs)
        return user

    def get_token(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Return the tokens of a code; names the callback as the login did (RFC 6749, 4.1.3)."""
        tokens: dict[str, Any] = super().get_token({**payload, "redirect_uri": callback_url()})
        return tokens

    def verify_token(self, token: str, **kwargs: Any) -> dict[str, Any]:
        """Return the claims of a signed identity token that was made for us."""
        try:
            claims: dict[str, Any] = super().verify_token(token, **kwargs)
        except jwt.InvalidTokenError as error:
            raise SuspiciousOperation(f"identity token refused: {error}") from error
        require_ours(claims, issuer=settings.OIDC_ISSUER, client_id=settings.OIDC_RP_CLIENT_ID)
        return claims

    def get_or_create_user(
        self, access_token: str, id_token: str, payload: Mapping[str, Any]
    ) -> User:
        """Return the user whom the provider names, by the module's table."""
        told = self.get_userinfo(access_token, id_token, payload)
        if told.get("sub") != payload["sub"]:
            raise LoginRefused("The identity provider answered about somebody else. Try again.")
        return sign_in(read_identity({**payload, **told}))


def require_ours(claims: Mapping[str, Any], *, issuer: str, client_id: str) -> None:
    """Return when the token was issued by ``issuer`` for ``client_id`` and can expire.

    Raises:
        SuspiciousOperation: it was not (OpenID Connect Core 3.1.3.7, steps 2 to 5 and 9).
    """
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    authorized = claims.get("azp", client_id if len(audiences) == 1 else None)
    if claims.get("iss") != issuer:
        raise SuspiciousOperation("identity token of another issuer")
    if client_id not in audiences or authorized != client_id:
        raise SuspiciousOperation("identity token for another client")
    if "exp" not in claims or not claims.get("sub"):
        raise SuspiciousOperation("identity token without expiry or subject")


def read_identity(claims: Mapping[str, Any]) -> Identity:
    """Return the identity that merged claims describe; only a true ``email_verified`` counts."""
    return Identity(
        subject=f"{claims['iss']}#{claims['sub']}",
        email=str(claims.get("email") or "").strip().lower(),
        email_verified=claims.get("email_verified") is True,
        first_name=str(claims.get("given_name") or "")[:150],
        last_name=str(claims.get("family_name") or "")[:150],
    )


def sign_in(identity: Identity) -> User:
    """Return the user of ``identity``, made or linked if need be; idempotent.

    Raises:
        LoginRefused: see the module's table.
    """
    try:
        with transaction.atomic():
            return _known(identity) or _linked(identity) or _created(identity)
    except IntegrityError:
        # The same person logged in twice at once and the other login made the row.
        user = _known(identity)
        if user is None:
            raise
        return user


def _known(identity: Identity) -> User | None:
    user = User.objects.filter(oidc_subject=identity.subject).first()
    names = (identity.first_name, identity.last_name)
    if user is not None and (user.first_name, user.last_name) != names:
        user.first_name, user.last_name = names
        user.save(update_fields=["first_name", "last_name"])
    return user


def _linked(identity: Identity) -> User | None:
    if not (identity.email and identity.email_verified):
        raise LoginRefused(
            "Your identity provider has not verified your email address. Verify it there, then "
            "log in again."
        )
    user = User.objects.select_for_update().filter(email__iexact=identity.email).first()
    if user is None:
        return None
    if user.oidc_subject or user.is_staff or user.is_superuser:
        raise LoginRefused(
            "This email address belongs to an account that is not linked to your identity "
            "provider. Ask the operator to link it."
        )
    user.oidc_subject = identity.subject
    user.set_unusable_password()
    user.save(update_fields=["oidc_subject", "password"])
    _record("user.link_identity", user)
    return user


def _created(identity: Identity) -> User:
    user = User.objects.create_user(
        username=identity.email,
        email=identity.email,
        oidc_subject=identity.subject,
        first_name=identity.first_name,
        last_name=identity.last_name,
    )
    _record("user.create", user)
    return user


def _record(action: str, user: User) -> None:
    audit.record(
        audit.Actor(f"user:{user.email}"),
        action,
        audit.Subject("user", str(user.pk), user.email),
        after={"identity": user.oidc_subject},
    )


def callback_url() -> str:
    """Return the one address that is registered with the provider for the end of a login."""
    return f"{settings.PUBLIC_URL}{reverse('oidc_authentication_callback')}"


class AuthenticateView(OIDCAuthenticationRequestView):  # type: ignore[misc]  # no types
    """Where a login begins."""

    def get_extra_params(self, request: HttpRequest) -> dict[str, str]:
        """Return what stands in the request to the provider over what the library puts there."""
        return {**super().get_extra_params(request), "redirect_uri": callback_url()}


class CallbackView(OIDCAuthenticationCallbackView):  # type: ignore[misc]  # no types
    """Where the provider sends people back to; every failure ends on the login page, in words."""

    def get(self, request: HttpRequest) -> HttpResponse:
        """Finish the login."""
        try:
            answer: HttpResponse = super().get(request)
        except LoginRefused as refusal:
            return self._refuse(refusal.message)
        except (SuspiciousOperation, KeyError) as error:
            logger.warning("login refused", reason=str(error))
            return self._refuse(
                "This login was begun in another browser, or took too long. Try again."
            )
        except (requests.RequestException, jwt.InvalidTokenError) as error:
            logger.warning("the identity provider failed", reason=type(error).__name__)
            return self._refuse("The identity provider did not answer as it should. Try again.")
        return answer

    @property
    def success_url(self) -> str:
        """Return the page asked for; without a tenant, the one that makes the first."""
        user: User = self.user
        if not user.is_staff and not user.memberships.exists():
            return resolve_url(settings.SIGNUP_URL)
        url: str = super().success_url
        return url

    @property
    def failure_url(self) -> str:
        """Return the login page."""
        return resolve_url(settings.LOGIN_URL)

    def login_failure(self) -> HttpResponse:
        """Answer a provider's refusal, or an account that was switched off."""
        return self._refuse("The login was not completed. Try again, or ask the operator.")

    def _refuse(self, text: str) -> HttpResponse:
        messages.error(self.request, text)
        answer: HttpResponse = super().login_failure()
        return answer


def logout_url(request: HttpRequest) -> str:
    """Return where to end the provider's session too (OpenID Connect RP-Initiated Logout 1.0)."""
    home = resolve_url(settings.LOGOUT_REDIRECT_URL)
    token = request.session.get("oidc_id_token")
    if not (settings.OIDC_OP_LOGOUT_ENDPOINT and token):
        return home
    query = {"id_token_hint": token, "post_logout_redirect_uri": f"{settings.PUBLIC_URL}{home}"}
    return f"{settings.OIDC_OP_LOGOUT_ENDPOINT}?{urlencode(query)}"


# Last, because including the library's routes looks up the views above by name.
urlpatterns = [path("", include("mozilla_django_oidc.urls"))]
