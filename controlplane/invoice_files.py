"""Answers requests for files of invoices and credit notes, in the API and in the portal."""

from typing import Any

from django.http import HttpResponse

from controlplane.core.downloads import attachment
from controlplane.core.errors import Conflict
from plans.invoice_formats import INFO, InvoiceFormat
from plans.invoicing import credit_note_rendering, document, rendering
from plans.models import CreditNote, Invoice


class NoDocument(Conflict):
    """The invoice has no document yet, because its period has not been closed successfully."""

    code = "invoice.no_document"


def of_invoice(invoice: Invoice, kind: InvoiceFormat) -> HttpResponse:
    """Return the answer with ``invoice`` as a file of the format ``kind``.

    Raises:
        NoDocument: the invoice has no document yet.
        Others: as the function of the format in ``rendering.RENDERERS`` raises them.
    """
    content = rendering.RENDERERS[kind](document_of(invoice))
    # A draft has no number yet.
    return attachment(content, INFO[kind].media_type, f"{invoice.number or invoice.pk}.{kind}")


def of_credit_note(note: CreditNote, kind: InvoiceFormat) -> HttpResponse:
    """Return the answer with ``note`` as a file of ``kind``, one of ``CREDIT_NOTE_FORMATS``.

    Raises:
        Others: as the function of the format in ``credit_note_rendering.RENDERERS`` raises them.
    """
    content = credit_note_rendering.RENDERERS[kind](document.loaded(note.document))
    return attachment(content, INFO[kind].media_type, f"{note.number}.{kind}")


def document_of(invoice: Invoice) -> dict[str, Any]:
    """Return the stored document of ``invoice`` as a dictionary.

    Raises:
        NoDocument: the invoice has no document yet.
    """
    if not invoice.document:
        raise NoDocument("This period is not closed yet. Preview the running period instead.")
    return document.loaded(invoice.document)
