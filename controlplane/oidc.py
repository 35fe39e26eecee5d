"""Login through an OpenID provider. No other module uses mozilla-django-oidc.

The flow is authorization code with PKCE, nonce and state; the library keeps these in the session.
``controlplane.accounts`` finds the provider's endpoints (``provider_discovery``), checks what the
provider says (``provider_tokens``), and decides whose login it is (``provider_identities``).

The redirect URI begins with PUBLIC_URL and never depends on the request. Behind a proxy that ends
TLS, the request's scheme is http, and a client can forge the headers that name the real one.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import jwt
import structlog
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.urls import include, path, reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from mozilla_django_oidc.auth import OIDCAuthenticationBackend
from mozilla_django_oidc.views import (
    OIDCAuthenticationCallbackView,
    OIDCAuthenticationRequestView,
)

from controlplane.accounts import (
    login_audit,
    provider_groups,
    provider_http,
    provider_identities,
    provider_logout,
    provider_tokens,
    providers,
)
from controlplane.accounts.provider_discovery import discovery
from controlplane.accounts.provider_identities import LoginRefused
from controlplane.accounts.providers import Provider, ProviderUnavailable
from tenants.models import IdentityProvider, User

# Pages of ``console.urls`` that people without a tenant may open: links of invitations, and the
# connection with the login of an organization.
_WITHOUT_TENANT = ("/invitations/", "/login/connect")
logger = structlog.get_logger(__name__)


class OidcBackend(OIDCAuthenticationBackend):  # type: ignore[misc]  # the library has no types
    """The Django authentication backend for OpenID: the library's flow, with our own checks."""

    def authenticate(self, request: HttpRequest | None, **kwargs: Any) -> User | None:
        """Return the user that the provider authenticated; None if this is no login callback.

        ``kwargs`` of a login callback are ``nonce`` and ``code_verifier``. The returned user may be
        disabled (``is_active``). Fetches the tokens from the provider.

        Raises:
            LoginRefused: see ``provider_identities``, or the user-info answer is about another
                subject.
            SuspiciousOperation: the identity token is invalid or not issued for this client.
            ProviderUnavailable: the provider does not answer.
        """
        return None if organization_of(request) else self.finish(request, **kwargs)

    def finish(self, request: HttpRequest | None, **kwargs: Any) -> User | None:
        """Return the user that ``provider`` authenticated; see ``authenticate``."""
        # Django tries every backend. Only the callback view passes these two: without them this is
        # a password login, even if the URL of the login form has ``code`` and ``state`` in it.
        if not (kwargs.get("nonce") and kwargs.get("code_verifier")):
            return None
        user: User | None = super().authenticate(request, **kwargs)
        return user

    @property
    def provider(self) -> Provider:
        """The provider that this backend asks."""
        return providers.installation()

    @property
    def callback(self) -> str:
        """The redirect URI with which the login began."""
        return callback_url()

    def get_token(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Exchange the authorization code in ``payload`` for tokens; return the provider's answer.

        Replaces the redirect URI of ``payload`` by ``callback`` (RFC 6749, 4.1.3).

        Raises:
            ProviderUnavailable: the provider refuses the code, or does not answer.
        """
        url = discovery.endpoint(self.provider, "token")
        form = {**payload, "redirect_uri": self.callback}
        answer = provider_http.post_form(self.provider, url, form)
        tokens = answer.members()
        if answer.status != 200 or not {"id_token", "access_token"} <= set(tokens):
            logger.warning(
                "the identity provider gave no token",
                status=answer.status,
                error=str(tokens.get("error"))[:100],
            )
            raise ProviderUnavailable("The identity provider did not answer correctly. Try again.")
        return tokens

    def verify_token(self, token: str, **kwargs: Any) -> dict[str, Any]:
        """Return the claims of the identity token ``token`` of a login with ``kwargs["nonce"]``.

        Raises:
            SuspiciousOperation, ProviderUnavailable: see ``provider_tokens.identity_claims``.
        """
        return provider_tokens.identity_claims(
            self.provider, token, nonce=str(kwargs.get("nonce") or "")
        )

    def get_or_create_user(
        self, access_token: str, id_token: str, payload: Mapping[str, Any]
    ) -> User:
        """Return the user of the authenticated person; create or link a user if needed.

        ``payload`` are the checked claims of the identity token. The answer of the provider's
        user-info endpoint replaces claims of the same name.

        Raises:
            LoginRefused: see ``authenticate``.
        """
        claims = provider_tokens.with_user_claims(self.provider, payload, access_token)
        return sign_in(claims)

    def get_user(self, user_id: int) -> User | None:
        """Return the user of a session; None if the account is gone or disabled since."""
        # The library checks only that the account exists, so a disabled user's session would go on.
        return User.objects.filter(pk=user_id, is_active=True).first()


def sign_in(claims: Mapping[str, Any]) -> User:
    """Return the user that ``claims`` of the installation's provider describe; set their roles.

    Raises:
        LoginRefused: see ``provider_identities``.
    """
    user = provider_identities.sign_in(provider_groups.read_identity(claims))
    provider_groups.apply(user, provider_groups.read(claims))
    return user


def callback_url() -> str:
    """Return the absolute redirect URI, which must be registered with the provider."""
    return absolute(reverse("oidc_authentication_callback"))


def absolute(path: str) -> str:
    """Return the public URL of ``path``."""
    return f"{settings.PUBLIC_URL}{path}"


def organization_of(request: HttpRequest | None) -> IdentityProvider | None:
    """Return the provider of the organization whose login the request ends; None: another login."""
    return getattr(request, "organization_provider", None)


class AuthenticateView(OIDCAuthenticationRequestView):  # type: ignore[misc]  # no types
    """The view that begins a login: it redirects the browser to the provider.

    If the provider is away, it redirects to the login page, which shows a message.
    """

    def get(self, request: HttpRequest) -> HttpResponse:
        """Redirect to the provider's page, or to the login page with a message."""
        try:
            self.OIDC_OP_AUTH_ENDPOINT = discovery.endpoint(self.provider, "authorization")
        except ProviderUnavailable as error:
            return refuse(request, unavailable(error))
        answer: HttpResponse = super().get(request)
        return answer

    @property
    def provider(self) -> Provider:
        """The provider to redirect to."""
        return providers.installation()

    @property
    def callback(self) -> str:
        """Where the provider sends the browser back."""
        return callback_url()

    def get_extra_params(self, request: HttpRequest) -> dict[str, str]:
        """Return additional parameters of the authorization request to the provider.

        Among them is ``redirect_uri``, which replaces the library's value: that one depends on the
        request.
        """
        return {**super().get_extra_params(request), "redirect_uri": self.callback}


class CallbackView(OIDCAuthenticationCallbackView):  # type: ignore[misc]  # no types
    """The view at the redirect URI, to which the provider sends the browser: it ends a login.

    After a refusal, an invalid answer or no answer of the provider, it redirects to the login page,
    which shows a message.
    """

    def get(self, request: HttpRequest) -> HttpResponse:
        """Log the user in and redirect to ``success_url``, or to the login page with a message."""
        try:
            self._require_own_login(request)
            answer: HttpResponse = super().get(request)
        except LoginRefused as refusal:
            return self.refused(refusal)
        except (SuspiciousOperation, KeyError) as error:
            logger.warning("login refused", reason=str(error))
            return self._refuse(
                "This login was started in another browser, or it took too long. Try again."
            )
        except ProviderUnavailable as error:
            return self._refuse(unavailable(error))
        return answer

    def _require_own_login(self, request: HttpRequest) -> None:
        """Check that the login began at the provider that ends it.

        Raises:
            SuspiciousOperation: it did not.
        """
        states = request.session.get("oidc_states", {})
        begun, row = states.get(request.GET.get("state", "")), organization_of(request)
        if begun is not None and begun.get("organization") != (row.pk if row else None):
            raise SuspiciousOperation("the login began at another provider")

    def refused(self, refusal: LoginRefused) -> HttpResponse:
        """Answer a login that the rules about accounts refuse."""
        return self._refuse(refusal.message)

    def login_success(self) -> HttpResponse:
        """Start the session, and remember which session at the provider it belongs to."""
        answer: HttpResponse = super().login_success()
        token = self.request.session.get("oidc_id_token")
        # The signature of this token was checked when the login ended.
        claims = jwt.decode(token, options={"verify_signature": False}) if token else {}
        key = str(self.request.session.session_key)
        provider_logout.remember(key, str(claims.get("sid") or ""))
        return answer

    @property
    def success_url(self) -> str:
        """The URL to redirect to after a login: the page that was requested before it.

        It is the home page if none was requested. For a user who belongs to no tenant and is not
        staff, it is the signup page, unless an invitation or the connection with an organization's
        login was requested.
        """
        user: User = self.user
        url: str = super().success_url
        is_invited = url.startswith(_WITHOUT_TENANT)
        if not is_invited and not user.is_staff and not user.memberships.exists():
            return resolve_url(settings.SIGNUP_URL)
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
        return refuse(self.request, text)


def refuse(request: HttpRequest, text: str) -> HttpResponse:
    """Audit that a login was refused; redirect to the login page, which shows ``text``."""
    # Who it was is not known: the provider named nobody, or somebody who may not log in.
    login_audit.record_refusal("login.refuse", "", request, f"single sign-on: {text}")
    messages.error(request, text)
    return redirect(settings.LOGIN_URL)


def unavailable(error: ProviderUnavailable) -> str:
    """Return the message of ``error`` for a page, with the code, for a question to the operator."""
    return f"{error.message} (Code: {error.error_code}.)"


@csrf_exempt
@require_POST
def log_out_by_provider(request: HttpRequest) -> HttpResponse:
    """End the sessions of a person who has logged out at the provider, which calls this.

    Answers 400 to a token that is not valid, and 503 if the provider's keys cannot be had.
    """
    try:
        token = request.POST.get("logout_token", "")
        claims = provider_tokens.signed_claims(providers.installation(), token)
        provider_logout.end_sessions(request, claims)
    except SuspiciousOperation as error:
        logger.warning("logout by the provider refused", reason=str(error))
        return HttpResponse("invalid_request", status=400, headers={"Cache-Control": "no-store"})
    except ProviderUnavailable:
        return HttpResponse("unavailable", status=503, headers={"Cache-Control": "no-store"})
    return HttpResponse(headers={"Cache-Control": "no-store"})


def logout_url(request: HttpRequest) -> str:
    """Return the URL to which the portal's log-out redirects. Call it before the session ends.

    The URL makes the provider end its own session too (OpenID Connect RP-Initiated Logout 1.0). It
    is the URL of the login page if the provider has no such endpoint or does not answer, or if the
    user logged in with a password.
    """
    home = resolve_url(settings.LOGOUT_REDIRECT_URL)
    token = request.session.get("oidc_id_token")
    endpoint = discovery.logout_endpoint(providers.installation()) if token else ""
    if not endpoint:
        return home
    query = {"id_token_hint": token, "post_logout_redirect_uri": f"{settings.PUBLIC_URL}{home}"}
    return f"{endpoint}?{urlencode(query)}"


# Last: the library's routes import the view classes above by the names in the settings.
urlpatterns = [
    path("backchannel-logout", log_out_by_provider, name="oidc_backchannel_logout"),
    path("", include("mozilla_django_oidc.urls")),
]
