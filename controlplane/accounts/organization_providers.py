"""Finds the identity provider of an organization, for the login page and the routes of its login.

The answer reveals only whether a login can begin. It is the same for an organization without a
provider, for one that does not exist, and if the feature is off.
"""

from django.conf import settings
from django.http import HttpRequest

from controlplane.accounts.provider_identities import LoginRefused
from controlplane.accounts.providers import Provider
from controlplane.core import secrets, throttling
from tenants.models import IdentityProvider

NOT_FOUND = (
    "There is no such login. Check the name of your organization, or log in with your email "
    "address and password."
)


def find(request: HttpRequest, text: str) -> IdentityProvider:
    """Return the provider for what a person typed: a short name, a domain or an email address.

    A domain finds the organization for which the operator has confirmed it.

    Raises:
        LoginRefused: there is none. TooManyAttempts: over a limit of the network address.
    """
    # Before the search, so that nobody tries out names quickly.
    throttling.require_exchange(request)
    # Of an email address, only the domain is searched. A text without @ is searched as it is.
    name = text.strip().lower().rpartition("@")[2]
    rows = IdentityProvider.objects.select_related("tenant").filter(tenant__erase_at=None)
    if "." in name:
        # Anybody can enter a domain: only a confirmed one leads to its organization.
        rows = rows.filter(domains__name=name, domains__confirmed_at__isnull=False)
    else:
        rows = rows.filter(tenant__slug=name)
    row = rows.first() if settings.ORGANIZATION_LOGIN_ENABLED else None
    if row is None:
        raise LoginRefused(NOT_FOUND)
    return row


def provider_of(row: IdentityProvider) -> Provider:
    """Return the provider that ``row`` describes. Waypost calls it only at public addresses."""
    return Provider(row.issuer, row.client_id, secrets.decrypt(row.sealed_secret))
