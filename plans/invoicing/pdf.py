"""Makes PDF files of complete HTML pages, plain ones and Factur-X (PDF/A-3 with embedded XML)."""

import hashlib
import logging
from datetime import datetime
from importlib import resources
from types import ModuleType
from typing import Any

from controlplane.core.errors import Unavailable

_ATTACHED = "factur-x.xml"  # the name that Factur-X 1.0, section 6.2.2, prescribes


def of_page(page: str) -> bytes:
    """Return a complete HTML page as PDF.

    Raises:
        Unavailable: the Pango libraries, which WeasyPrint needs, are not installed.
    """
    made: bytes = _library().HTML(string=page, url_fetcher=refuse).write_pdf()
    return made


def factur_x(page: str, xml: bytes, at: datetime) -> bytes:
    """Return a complete HTML page as PDF/A-3 that carries ``xml`` as Factur-X demands.

    ``at`` stands in for the time of rendering, so equal inputs give equal bytes.

    Raises:
        Unavailable: as ``of_page`` does.
    """
    library = _library()
    attachment = library.Attachment(
        string=xml,
        name=_ATTACHED,
        description="The invoice by EN 16931",
        created=at,
        modified=at,
        relationship="Alternative",  # page and XML say the same: Factur-X 1.0, section 6.2.2
    )
    rendered = library.HTML(string=page, url_fetcher=refuse).render(pdf_variant="pdf/a-3b")
    rendered.metadata.attachments = [attachment]
    metadata = resources.files("plans.invoicing").joinpath("factur_x_metadata.xml").read_bytes()
    rendered.metadata.xmp_metadata = [metadata]
    made: bytes = rendered.write_pdf(
        pdf_variant="pdf/a-3b",
        # By default the identifier is random.
        pdf_identifier=hashlib.sha256(page.encode() + xml).digest()[:16],
    )
    return made


def _library() -> ModuleType:
    try:
        # Imported here because the import fails without the native libraries.
        import weasyprint
    except (ImportError, OSError):
        raise Unavailable(
            "PDF needs the Pango libraries (Debian: libpango-1.0-0, libpangoft2-1.0-0); the page, "
            "CSV and JSON work without them.",
            code="invoice.pdf_unavailable",
        ) from None
    logging.getLogger("weasyprint").setLevel(logging.ERROR)  # it logs every step otherwise
    library: ModuleType = weasyprint
    return library


def refuse(url: str, *_args: Any, **_kwargs: Any) -> Any:
    """Raise ValueError: tenants write some of a page's texts, and those must not cause requests.

    WeasyPrint calls it for each URL in a page.
    """
    raise ValueError(f"an invoice must not load anything: {url}")
