"""Serves the docs site at /docs, to everyone: files that `make docs` or the image's build wrote."""

from django.conf import settings
from django.core.exceptions import SuspiciousFileOperation
from django.http import Http404, HttpRequest, HttpResponseBase
from django.views.decorators.http import require_safe
from django.views.static import serve

from controlplane.console.access import public_page
from controlplane.core.errors import Missing

# Like the policy of the portal's pages, but with inline styles: the theme of the site draws its
# icons by style attributes.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)


@require_safe
@public_page
def page(request: HttpRequest, path: str = "") -> HttpResponseBase:
    """Answer with the file at ``path`` of the docs site; the first page for an empty path.

    Raises:
        Missing: there is no such file, or the site is not built (``docs.not_built``).
    """
    if not (settings.DOCS_ROOT / "index.html").is_file():
        raise Missing(
            "The documentation is not built in this installation. Run `make docs` in the "
            "repository, or read the folder docs there.",
            code="docs.not_built",
        )
    try:
        answer = serve(request, path or "index.html", document_root=str(settings.DOCS_ROOT))
    except (Http404, SuspiciousFileOperation) as error:
        raise Missing("The documentation has no such page: begin at /docs/.") from error
    answer.headers["Content-Security-Policy"] = _POLICY
    # Browsers ask each time whether the file has changed: an upgrade brings other pages.
    answer.headers["Cache-Control"] = "no-cache"
    return answer
