"""Login through an OpenID provider. No other module uses mozilla-django-oidc.

The flow is authorization code with PKCE, nonce and state. Of the identity token, the library checks
the signature, the nonce, and the expiry if there is one. This module also checks that the token has
an expiry and was issued by our issuer for this client (iss, aud, azp; OpenID Connect Core 3.1.3.7),
and that the user-info answer names the same subject (5.3.2).

Which user an identity logs in; the first line that fits counts:

    known issuer#sub                             -> its user, whatever the email is now
    email missing or not verified                -> refused
    verified email without an account            -> a new user
    verified email of a local account            -> linked, and its password is made unusable,
                                                    because whoever set it never proved the email
    verified email of staff, or of a user with
    another identity                             -> refused; the operator must link it

The redirect URI begins with PUBLIC_URL and never depends on the request. Behind a proxy that ends
TLS, the request's scheme is http, and a client can forge the headers that name the real one.
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
    """The provider authenticated a person, but the login is refused here; the message says why."""

    code = "login.refused"


@dataclass(frozen=True)
class Identity:
    """A value: what the provider says about a person who logs in.

    ``subject`` is ``<issuer>#<sub>``, which never changes for a person. ``email`` is in lower case,
    and empty if the provider sends none. Names are empty if the provider sends none.
    """

    subject: str
    email: str
    email_verified: bool
    first_name: str
    last_name: str


class OidcBackend(OIDCAuthenticationBackend):  # type: ignore[misc]  # the library has no types
    """The Django authentication backend for OpenID: the library's, with stricter checks.

    It checks more of the identity token, and finds or creates the user by the table at the top of
    this module.
    """

    def authenticate(self, request: HttpRequest | None, **kwargs: Any) -> User | None:
        """Return the user that the provider authenticated; None if this is no login callback.

        ``kwargs`` of a login callback are ``nonce`` and ``code_verifier``. The returned user may be
        disabled (``is_active``). Fetches the tokens from the provider.

        Raises:
            LoginRefused: by the table at the top of this module, or the user-info answer is about
                another subject.
            SuspiciousOperation: the identity token is invalid or not issued for this client.
            RequestException: the provider does not answer.
        """
        # Django tries every backend. Only the callback view passes these two: without them this is
        # a password login, even if the URL of the login form has ``code`` and ``state`` in it.
        if not (kwargs.get("nonce") and kwargs.get("code_verifier")):
            return None
        user: User | None = super().authenticate(request, **kwargs)
        return user

    def get_token(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Exchange the authorization code in ``payload`` for tokens; return the provider's answer.

        Replaces the redirect URI of ``payload`` by ``callback_url()``, with which the login began
        (RFC 6749, 4.1.3).
        """
        tokens: dict[str, Any] = super().get_token({**payload, "redirect_uri": callback_url()})
        return tokens

    def verify_token(self, token: str, **kwargs: Any) -> dict[str, Any]:
        """Return the claims of the identity token ``token`` after the library's and our checks.

        Raises:
            SuspiciousOperation: the token is invalid, expired, or not issued by the configured
                issuer for this client.
        """
        try:
            claims: dict[str, Any] = super().verify_token(token, **kwargs)
        except jwt.InvalidTokenError as error:
            raise SuspiciousOperation(f"identity token refused: {error}") from error
        require_ours(claims, issuer=settings.OIDC_ISSUER, client_id=settings.OIDC_RP_CLIENT_ID)
        return claims

    def get_or_create_user(
        self, access_token: str, id_token: str, payload: Mapping[str, Any]
    ) -> User:
        """Return the user of the authenticated person; create or link a user if needed.

        ``payload`` are the checked claims of the identity token. The answer of the provider's
        user-info endpoint replaces claims of the same name.

        Raises:
            LoginRefused: by the table at the top of this module, or the user-info answer is about
                another subject.
        """
        userinfo = self.get_userinfo(access_token, id_token, payload)
        if userinfo.get("sub") != payload["sub"]:
            raise LoginRefused("The identity provider returned another person's data. Try again.")
        return sign_in(read_identity({**payload, **userinfo}))


def require_ours(claims: Mapping[str, Any], *, issuer: str, client_id: str) -> None:
    """Check that ``issuer`` issued the token for ``client_id``, with an expiry and a subject.

    ``claims`` are those of the token. Checks that there is an expiry, not that it is in the future,
    because the library has done so.

    Raises:
        SuspiciousOperation: a check failed (OpenID Connect Core 3.1.3.7, steps 2 to 5 and 9).
    """
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    # Only a token with a single audience may leave out ``azp``.
    authorized = claims.get("azp", client_id if len(audiences) == 1 else None)
    if claims.get("iss") != issuer:
        raise SuspiciousOperation("identity token of another issuer")
    if client_id not in audiences or authorized != client_id:
        raise SuspiciousOperation("identity token for another client")
    if "exp" not in claims or not claims.get("sub"):
        raise SuspiciousOperation("identity token without expiry or subject")


def read_identity(claims: Mapping[str, Any]) -> Identity:
    """Return the identity that checked ``claims`` describe; they must have ``iss`` and ``sub``.

    The email counts as verified only if ``email_verified`` is the JSON value ``true``. Names are
    cut to the length of their columns.
    """
    return Identity(
        subject=f"{claims['iss']}#{claims['sub']}",
        email=str(claims.get("email") or "").strip().lower(),
        email_verified=claims.get("email_verified") is True,
        # 150 is the length of the name columns.
        first_name=str(claims.get("given_name") or "")[:150],
        last_name=str(claims.get("family_name") or "")[:150],
    )


def sign_in(identity: Identity) -> User:
    """Return the user of ``identity``, by the table at the top of this module. Idempotent.

    Creates a user, or links the identity to a local account, and audits either. Stores the names
    that the provider sends now for a known user. Starts no session.

    Raises:
        LoginRefused: the table refuses the identity.
    """
    try:
        with transaction.atomic():
            return _known(identity) or _linked(identity) or _created(identity)
    except IntegrityError:
        # A concurrent login of the same person has created the row.
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
    # Whoever set the password never proved that the email address is theirs.
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
    """Return the absolute redirect URI, which must be registered with the provider."""
    return f"{settings.PUBLIC_URL}{reverse('oidc_authentication_callback')}"


class AuthenticateView(OIDCAuthenticationRequestView):  # type: ignore[misc]  # no types
    """The view that begins a login: it redirects the browser to the provider."""

    def get_extra_params(self, request: HttpRequest) -> dict[str, str]:
        """Return additional parameters of the authorization request to the provider.

        Among them is ``redirect_uri``, which replaces the library's value: that one depends on the
        request.
        """
        return {**super().get_extra_params(request), "redirect_uri": callback_url()}


class CallbackView(OIDCAuthenticationCallbackView):  # type: ignore[misc]  # no types
    """The view at the redirect URI, to which the provider sends the browser: it ends a login.

    After a refusal, an invalid answer or no answer of the provider, it redirects to the login page,
    which shows a message.
    """

    def get(self, request: HttpRequest) -> HttpResponse:
        """Log the user in and redirect to ``success_url``, or to the login page with a message."""
        try:
            answer: HttpResponse = super().get(request)
        except LoginRefused as refusal:
            return self._refuse(refusal.message)
        except (SuspiciousOperation, KeyError) as error:
            logger.warning("login refused", reason=str(error))
            return self._refuse(
                "This login was started in another browser, or it took too long. Try again."
            )
        except (requests.RequestException, jwt.InvalidTokenError) as error:
            logger.warning("the identity provider failed", reason=type(error).__name__)
            return self._refuse("The identity provider did not answer correctly. Try again.")
        return answer

    @property
    def success_url(self) -> str:
        """The URL to redirect to after a login: the page that was requested before it.

        It is the home page if none was requested. For a user who belongs to no tenant and is not
        staff, it is always the signup page.
        """
        user: User = self.user
        if not user.is_staff and not user.memberships.exists():
            return resolve_url(settings.SIGNUP_URL)
        url: str = super().success_url
        return url

    @property
    def failure_url(self) -> str:
        """The URL to redirect to after a failed login: the login page."""
        return resolve_url(settings.LOGIN_URL)

    def login_failure(self) -> HttpResponse:
        """Redirect to the login page with a message.

        The library calls this if the provider refused the login, the request has no login to
        finish, or the account is disabled.
        """
        return self._refuse("The login was not completed. Try again, or ask the operator.")

    def _refuse(self, text: str) -> HttpResponse:
        messages.error(self.request, text)
        answer: HttpResponse = super().login_failure()
        return answer


def logout_url(request: HttpRequest) -> str:
    """Return the URL to which the portal's log-out redirects. Call it before the session ends.

    The URL makes the provider end its own session too (OpenID Connect RP-Initiated Logout 1.0). It
    is the URL of the login page if ``OIDC_OP_LOGOUT_ENDPOINT`` is empty or the user logged in with
    a password.
    """
    home = resolve_url(settings.LOGOUT_REDIRECT_URL)
    token = request.session.get("oidc_id_token")
    if not (settings.OIDC_OP_LOGOUT_ENDPOINT and token):
        return home
    query = {"id_token_hint": token, "post_logout_redirect_uri": f"{settings.PUBLIC_URL}{home}"}
    return f"{settings.OIDC_OP_LOGOUT_ENDPOINT}?{urlencode(query)}"


# Last: the library's routes import the view classes above by the names in the settings.
urlpatterns = [path("", include("mozilla_django_oidc.urls"))]
