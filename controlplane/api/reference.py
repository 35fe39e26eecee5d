"""The reference of the API as a page: /api/docs renders the OpenAPI document with Redoc.

All of it comes from this server: Redoc is in the package ``drf-spectacular-sidecar``.
"""

from django.http import HttpRequest, HttpResponse
from django.templatetags.static import static
from django.utils.html import format_html
from django.views.decorators.http import require_safe

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Waypost API</title>
<link rel="icon" href="data:,">
</head>
<body>
<redoc spec-url="/api/v1/openapi.json" hide-hostname hide-download-button="false"></redoc>
<noscript>
<p>The reference needs JavaScript. The document itself is at
<a href="/api/v1/openapi.json">/api/v1/openapi.json</a>.</p>
</noscript>
<script src="{}"></script>
</body>
</html>
"""
# Redoc writes styles into the page, and searches in a worker that it makes from a blob.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; worker-src 'self' blob:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Answer with the reference; no login is needed."""
    script = static("drf_spectacular_sidecar/redoc/bundles/redoc.standalone.js")
    return HttpResponse(format_html(_PAGE, script), headers={"Content-Security-Policy": _POLICY})
