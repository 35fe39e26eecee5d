"""Sets the security headers of HTML responses: content security policy and no caching.

Pages load scripts, styles, images and frames from this site only. Browsers and proxies must not
store pages.
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


class PageHeadersMiddleware:
    """Adds Content-Security-Policy and Cache-Control to HTML responses that lack them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if response.headers.get("Content-Type", "").startswith("text/html"):
            response.headers.setdefault("Content-Security-Policy", _policy())
            response.headers.setdefault("Cache-Control", "no-store")
        return response


def _policy() -> str:
    # The log-out form leads to the identity provider by a redirect, and browsers apply form-action
    # to redirects as well.
    provider = urlsplit(settings.OIDC_OP_LOGOUT_ENDPOINT if settings.OIDC_ISSUER else "")
    # Only the origin: browsers ignore the path of a source after a redirect.
    forms = "'self'" + (f" {provider.scheme}://{provider.netloc}" if provider.netloc else "")
    return _POLICY.format(forms=forms)
