"""Sets security headers of responses.

* HTML: content security policy and no caching. Pages load scripts, styles, images and frames from
  this site only (images also from ``data:`` URLs). Browsers and proxies must not store pages.
* All: no page may use devices of the visitor (Permissions-Policy). Where the portal has an https
  address, browsers use only https for it (Strict-Transport-Security), whichever proxy ends TLS.
"""

from collections.abc import Callable
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action {forms}; frame-src 'self'; frame-ancestors 'none'; "
    "base-uri 'none'"
)


_PERMISSIONS = ", ".join(
    f"{feature}=()"
    for feature in (
        "accelerometer",
        "camera",
        "display-capture",
        "geolocation",
        "gyroscope",
        "magnetometer",
        "microphone",
        "midi",
        "payment",
        "usb",
    )
)


class PageHeadersMiddleware:
    """Adds the headers of this module's docstring to responses that lack them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if response.headers.get("Content-Type", "").startswith("text/html"):
            response.headers.setdefault("Content-Security-Policy", _policy())
            response.headers.setdefault("Cache-Control", "no-store")
        response.headers.setdefault("Permissions-Policy", _PERMISSIONS)
        # Not by Django's SecurityMiddleware, which sees plain http behind a proxy that ends TLS.
        if settings.HSTS_SECONDS and settings.PUBLIC_URL.startswith("https://"):
            response.headers.setdefault(
                "Strict-Transport-Security", f"max-age={settings.HSTS_SECONDS}"
            )
        return response


def _policy() -> str:
    # The log-out form leads to the identity provider by a redirect, and browsers apply form-action
    # to redirects as well.
    # Without an explicit endpoint it is at the issuer (``Discovery.logout_endpoint``).
    leads_to = settings.OIDC_OP_LOGOUT_ENDPOINT or settings.OIDC_ISSUER
    provider = urlsplit(leads_to if settings.OIDC_ISSUER else "")
    # Only the origin: browsers ignore the path of a source after a redirect.
    forms = "'self'" + (f" {provider.scheme}://{provider.netloc}" if provider.netloc else "")
    return _POLICY.format(forms=forms)
