"""Views of a tenant's invoices: list, details, preview, downloads and verification."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from controlplane import invoice_files
from controlplane.console import buttons_as_command, invoice_reads, payment_reads
from controlplane.console.access import tenant_page
from controlplane.console.scope import Scope, TenantScope
from controlplane.core.errors import Missing
from plans.invoice_formats import CREDIT_NOTE_FORMATS, INFO, InvoiceFormat
from plans.invoicing import (
    document,
    invoice_verification,
    previewing,
    receiving,
    rendering,
    replacing,
)
from plans.models import CreditNote, Invoice
from tenants.permissions import Permission


@tenant_page(Permission.VIEW_BILLING)
def invoice_list(scope: TenantScope) -> HttpResponseBase:
    """List the tenant's invoices, newest period first, below the preview of the current period."""
    page = scope.page_of(invoice_reads.of(scope.tenant))
    context = {
        "preview": invoice_reads.running(scope.tenant),
        "page": page,
        "invoices": page.object_list,
    }
    return scope.render("invoices/list.html", context)


@tenant_page(Permission.VIEW_BILLING)
def preview(scope: TenantScope) -> HttpResponseBase:
    """Show what the current period costs so far, as an invoice without a number."""
    made = previewing.preview(scope.tenant).document
    context = {"crumb": "This period so far", **rendering.context(made)}
    return scope.render("invoices/preview.html", context)


@tenant_page(Permission.VIEW_BILLING)
def detail(scope: TenantScope, invoice: str) -> HttpResponseBase:
    """Show one invoice of the tenant, by id or number, with history, payments and verification."""
    row = find(scope, invoice)
    context = {
        **detail_context(
            row,
            lambda page, *args: scope.url(page, row.pk, *args),
            lambda number, kind: scope.url("credit_note_file", number, kind),
        ),
        "back": scope.url("invoices"),
        "buttons": buttons_as_command.verify_invoice(scope.tenant.slug, row.pk),
        "history": invoice_reads.tenant_history(row),
        "due_minor": receiving.due_minor(row) if row.state in receiving.UNPAID else 0,
        "dunning": payment_reads.dunning_of(row),
        # The provider has led the payer back; its report of the payment may still be on its way.
        "is_back": "paid" in scope.request.GET,
        "needs_details": any(
            reason["code"] == "billing_details.missing" for reason in row.held_reasons
        ),
    }
    return scope.render("invoices/detail.html", context)


@tenant_page(Permission.VIEW_BILLING)
def file(scope: TenantScope, invoice: str, kind: str) -> HttpResponseBase:
    """Download an invoice in the format ``kind``, one of ``plans.invoice_formats``.

    Answers 404 if the format is unknown or the invoice has no document yet.
    """
    return file_of(find(scope, invoice), kind)


@tenant_page(Permission.VIEW_BILLING)
def note_file(scope: TenantScope, credit_note: str, suffix: str) -> HttpResponseBase:
    """Download a credit note of the tenant in a format of credit notes; 404 if there is none."""
    return file_of_note(invoice_reads.get_credit_note(scope.tenant, credit_note), suffix)


@require_POST
@tenant_page(Permission.VIEW_BILLING)
def verify(scope: TenantScope, invoice: str) -> HttpResponseBase:
    """Request a verification: a worker recomputes the invoice and compares it with the stored one.

    With the field ``files``, whole files are checked too.
    Then redirect to the invoice's page, which shows the result later. POST only.
    """
    row = find(scope, invoice)
    begin_verification(scope, row)
    return redirect(scope.url("invoice", row.id))


def begin_verification(scope: Scope, row: Invoice) -> None:
    """Request the verification that the form of the invoice's page asks for, and say so."""
    files = "files" in scope.request.POST
    invoice_verification.request_verify(invoice=row, by=scope.actor, files=files)
    messages.info(scope.request, "The invoice is being recomputed; the result appears below.")


def file_of(row: Invoice, kind: str) -> HttpResponse:
    """Return the answer with the invoice as a file of the format ``kind``.

    Raises:
        Missing: the format is unknown or the invoice has no document yet.
    """
    # An invoice that is still closing, or held, may have no document yet.
    if kind not in INFO or not row.document:
        raise Missing("There is no such file; an invoice has files once its period is closed.")
    return invoice_files.of_invoice(row, InvoiceFormat(kind))


def file_of_note(note: CreditNote, kind: str) -> HttpResponse:
    """Return the answer with the credit note as a file of the format ``kind``.

    Raises:
        Missing: credit notes have no such format.
    """
    if kind not in CREDIT_NOTE_FORMATS:
        raise Missing("There is no such file; an invoice's page lists its credit notes.")
    return invoice_files.of_credit_note(note, InvoiceFormat(kind))


def detail_context(
    row: Invoice, link: Callable[..., str], note_link: Callable[[str, str], str]
) -> dict[str, Any]:
    """Return the template context of one invoice, for its tenant's page or the operators' page.

    ``link`` returns the URL of one of the invoice's pages: invoice_line (with its position),
    invoice_samples, invoice_change, invoice_verify, invoice_file (with its format). ``note_link``
    returns the URL of the file of a credit note, by its number and format.

    An invoice without a document (still closing, or held) lacks the entries that
    ``rendering.context`` makes from the document.
    """
    made = document.loaded(row.document) if row.document else None
    shown = rendering.context(made) if made else {}
    for line in shown.get("lines", []):
        line["url"] = link("invoice_line", line["position"])
    outstanding_minor = receiving.outstanding_minor(row) if row.number else 0
    replacement = replacing.replacement_of(row)
    return {
        "row": row,
        "replacement": replacement,
        "can_replace": not replacement and replacing.is_possible(row),
        "left_minor": outstanding_minor if row.state in receiving.UNPAID else 0,
        "crumb": row.number or "Not numbered yet",
        "events": invoice_reads.events(row),
        "payments": invoice_reads.payments(row),
        "notes": [
            (note, [(note_link(note.number, str(k)), INFO[k].title) for k in CREDIT_NOTE_FORMATS])
            for note in invoice_reads.credit_notes(row)
        ],
        "outstanding_minor": outstanding_minor,
        "proof": invoice_reads.proof(row),
        "formats": [
            (link("invoice_file", str(kind)), info.title)
            for kind, info in INFO.items()
            if row.number or not info.is_final
        ],
        "can_recompute": bool(row.number),
        "verify_url": link("invoice_verify"),
        "samples_url": link("invoice_samples"),
        "change_url": link("invoice_change"),
        **shown,
    }


def find(scope: TenantScope, invoice: str) -> Invoice:
    """Return the tenant's invoice with this id or number, or raise Missing."""
    return invoice_reads.get(scope.tenant, invoice)
