"""One middleware: the headers that keep the portal's pages to themselves.

Scripts, styles, pictures and frames come from this site only; nothing is cached by anyone between.
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
# An invoice is a document of its own with its style inside; it runs nothing and may be framed here.
DOCUMENT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; sandbox"
)


class PageHeadersMiddleware:
    """Adds the content security policy to every HTML answer that has none of its own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if response.headers.get("Content-Type", "").startswith("text/html"):
            response.headers.setdefault("Content-Security-Policy", _policy())
            response.headers.setdefault("Cache-Control", "no-store")
        return response


def _policy() -> str:
    # "Log out" is a form whose answer redirects to the provider, and browsers check that too.
    provider = urlsplit(settings.OIDC_OP_LOGOUT_ENDPOINT if settings.OIDC_ISSUER else "")
    forms = "'self'" + (f" {provider.scheme}://{provider.netloc}" if provider.netloc else "")
    return _POLICY.format(forms=forms)
