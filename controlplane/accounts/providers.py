"""The identity providers: what Waypost knows of one before it calls it.

There is at most one of the installation, from the settings, and at most one of each organization
(``organization_providers``). The other modules of providers take a ``Provider`` and do not know
which one it is, but for where it may be: see ``is_trusted``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from django.conf import settings

from controlplane.core.errors import Unavailable


class ProviderUnavailable(Unavailable):
    """The identity provider does not answer, or not as OpenID says; the message is for people."""

    code = "identity_provider.unavailable"
    title = "The identity provider does not answer"


@dataclass(frozen=True)
class Provider:
    """A value: an OpenID provider, and Waypost as its client.

    ``explicit`` maps names of endpoints (``provider_discovery.FIELDS``) to URLs that take
    precedence over what the provider says. ``is_trusted`` says that the operator chose the
    provider: it may be in a private network. Without ``client_secret`` the client is public.
    """

    issuer: str
    client_id: str
    # Not in logs and error reports, which print values.
    client_secret: str = field(repr=False)
    # The default of OpenID Connect Core 3.1.3.7. Only the operator can set another one.
    sign_algorithm: str = "RS256"
    explicit: Mapping[str, str] = field(default_factory=dict)
    is_trusted: bool = False

    def trusts(self, url: str) -> bool:
        """Return whether ``url`` may be called although its host is in a private network.

        That holds for what the operator has set: the issuer's own host, and explicit endpoints. A
        document of the provider cannot lead Waypost to another private host.
        """
        is_own = origin(url) == origin(self.issuer) or url in self.explicit.values()
        return self.is_trusted and is_own


def installation() -> Provider:
    """Return the installation's provider; ``settings.OIDC_ISSUER`` must not be empty."""
    explicit = {
        "authorization": settings.OIDC_OP_AUTHORIZATION_ENDPOINT,
        "token": settings.OIDC_OP_TOKEN_ENDPOINT,
        "user": settings.OIDC_OP_USER_ENDPOINT,
        "keys": settings.OIDC_OP_JWKS_ENDPOINT,
        "logout": settings.OIDC_OP_LOGOUT_ENDPOINT,
    }
    return Provider(
        issuer=settings.OIDC_ISSUER,
        client_id=settings.OIDC_RP_CLIENT_ID,
        client_secret=settings.OIDC_RP_CLIENT_SECRET,
        sign_algorithm=settings.OIDC_RP_SIGN_ALGO,
        # An empty setting leaves its endpoint to discovery.
        explicit={name: url for name, url in explicit.items() if url},
        is_trusted=True,
    )


def origin(url: str) -> str:
    """Return scheme, host and port of ``url``, in lower case."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()
