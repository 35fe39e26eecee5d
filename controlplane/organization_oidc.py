"""Login through the identity provider of an organization.

The views are those of ``controlplane.oidc`` with another provider and other rules about accounts
(``accounts.organization_identities``). Each organization has a redirect URI of its own, and the
session remembers with which provider a login began. So the answer of one provider cannot complete a
login that began at another one.
"""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils.http import urlencode

from controlplane import oidc
from controlplane.accounts import organization_identities, organization_providers, provider_tokens
from controlplane.accounts.organization_identities import ProofNeeded
from controlplane.accounts.provider_identities import LoginRefused
from controlplane.accounts.providers import Provider
from controlplane.core.throttling import TooManyAttempts
from tenants.models import IdentityProvider, User


class _OrganizationSettings:
    """Settings of the library for views and backends of organizations."""

    @staticmethod
    def get_settings(name: str, *default: Any) -> Any:
        """Return the setting ``name``."""
        # The library makes a redirect URI of the route with this name, and ``callback`` replaces
        # it. Without a provider of the installation, the library's own route does not exist.
        if name == "OIDC_AUTHENTICATION_CALLBACK_URL":
            return "console:login"
        return oidc.OidcBackend.get_settings(name, *default)


class OrganizationBackend(_OrganizationSettings, oidc.OidcBackend):
    """The Django authentication backend for the providers of organizations.

    Sessions that it began end as soon as ``organization_identities.is_open`` is false: for example
    if the account has become staff, or a member of another organization.
    """

    row: IdentityProvider

    def authenticate(self, request: HttpRequest | None, **kwargs: Any) -> User | None:
        """Return the user that the provider of ``request.organization_provider`` authenticated.

        None if the request is no callback of such a login. Raises as ``OidcBackend`` does.
        """
        row = oidc.organization_of(request)
        if row is None:
            return None
        self.row = row
        self.OIDC_RP_CLIENT_ID = self.provider.client_id
        self.OIDC_RP_CLIENT_SECRET = self.provider.client_secret
        return self.finish(request, **kwargs)

    @property
    def provider(self) -> Provider:
        return organization_providers.provider_of(self.row)

    @property
    def callback(self) -> str:
        return callback_url(self.row)

    def store_tokens(self, access_token: str, id_token: str) -> None:
        """Store nothing: a log-out ends the session here, not the one at the provider."""

    def get_or_create_user(
        self, access_token: str, id_token: str, payload: Mapping[str, Any]
    ) -> User:
        """Return the user of the authenticated person; see ``organization_identities.sign_in``."""
        claims = provider_tokens.with_user_claims(self.provider, payload, access_token)
        return organization_identities.sign_in(self.row, claims)

    def get_user(self, user_id: int) -> User | None:
        """Return the user of a session, if the organization's provider may still log them in."""
        user = super().get_user(user_id)
        return user if user is not None and organization_identities.is_open(user) else None


def callback_url(row: IdentityProvider) -> str:
    """Return the absolute redirect URI of the organization, to register with its provider."""
    return oidc.absolute(reverse("organization_callback", args=[row.tenant.slug]))


class AuthenticateView(_OrganizationSettings, oidc.AuthenticateView):
    """The view that begins a login: it redirects the browser to the organization's provider."""

    row: IdentityProvider

    def get(self, request: HttpRequest, organization: str = "") -> HttpResponse:
        """Redirect to the provider's page, or to the login page with a message."""
        try:
            self.row = organization_providers.find(request, organization)
        except (LoginRefused, TooManyAttempts) as error:
            return oidc.refuse(request, error.message)
        self.OIDC_RP_CLIENT_ID = self.row.client_id
        former = set(request.session.get("oidc_states", {}))
        answer = super().get(request)
        # From the session, not from the URL, which may have a ``state`` of the provider's own too.
        states = request.session.get("oidc_states", {})
        for state in states.keys() - former:
            states[state]["organization"] = self.row.pk
            request.session.modified = True
        return answer

    @property
    def provider(self) -> Provider:
        return organization_providers.provider_of(self.row)

    @property
    def callback(self) -> str:
        return callback_url(self.row)


class CallbackView(oidc.CallbackView):
    """The view at the organization's redirect URI: it ends a login, or asks for proof."""

    def get(self, request: HttpRequest, organization: str = "") -> HttpResponse:
        """Log the user in, or redirect to the login page: with a message, or for proof."""
        try:
            row = organization_providers.find(request, organization)
        except (LoginRefused, TooManyAttempts) as error:
            return oidc.refuse(request, error.message)
        request.organization_provider = row  # type: ignore[attr-defined]
        return super().get(request)

    def refused(self, refusal: LoginRefused) -> HttpResponse:
        """Answer a login that is refused; one that needs proof waits in the session."""
        if not isinstance(refusal, ProofNeeded):
            return super().refused(refusal)
        self.request.session[organization_identities.PENDING] = organization_identities.store(
            refusal.pending
        )
        url = reverse("console:connect_login")
        if self.request.user.is_authenticated:
            return redirect(url)
        messages.info(self.request, refusal.message)
        return redirect(f"{reverse('console:login')}?{urlencode({'next': url})}")

    def login_success(self) -> HttpResponse:
        """Start the session, but not in place of another account's."""
        # A link to this login alone must not put the organization's account into the browser.
        current = self.request.user
        if current.is_authenticated and current.pk != self.user.pk:
            return self._refuse(
                f"You are logged in as {current.email}. Log out first, then log in through your "
                "organization."
            )
        return super().login_success()


urlpatterns = [
    path("<slug:organization>/login", AuthenticateView.as_view(), name="organization_login"),
    path("<slug:organization>/callback", CallbackView.as_view(), name="organization_callback"),
]
