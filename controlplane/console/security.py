"""One middleware: the headers that keep the portal's pages to themselves.

Scripts, styles, pictures and frames come from this site only; nothing is cached by anyone between.
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-src 'self'; frame-ancestors 'none'; "
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
            response.headers.setdefault("Content-Security-Policy", _POLICY)
            response.headers.setdefault("Cache-Control", "no-store")
        return response
