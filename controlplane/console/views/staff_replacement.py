"""The operator's page that replaces an invoice whose buyer or tax is wrong."""

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from controlplane.console import invoice_reads
from controlplane.console.access import staff_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.staff import ReplaceForm
from controlplane.console.scope import StaffScope
from plans.invoicing import document, rendering, replacing


@staff_page
def replace(scope: StaffScope, invoice: str) -> HttpResponseBase:
    """Show the old and the new buyer, tax and total; on POST replace the invoice.

    An invoice that cannot be replaced answers 409, with the reason.
    """
    row, data = invoice_reads.get(None, invoice), scope.request.POST
    form = ReplaceForm(data if scope.request.method == "POST" else None)
    if form.is_valid() and form.attempted(
        replacing.replace,
        invoice=row,
        reason=form.cleaned_data["reason"],
        confirmed=data.get("confirmed", ""),
        by=scope.actor,
    ):
        made = replacing.replacement_of(invoice_reads.get(None, invoice))
        assert made is not None  # it was just issued
        messages.success(scope.request, f"{made.number} replaces {row.number}.")
        return redirect("console:staff_invoice", made.id)
    new = replacing.preview(row)
    sides = [
        (row.number, rendering.context(document.loaded(row.document))),
        ("The new invoice", rendering.context(new)),
    ]
    notes = invoice_reads.credit_notes(row)  # the last one of a voided invoice voided it
    context = {
        "row": row,
        "form": form,
        "sides": sides,
        "confirmed": replacing.digest(new),
        "notes": notes[:-1] if row.state == row.State.VOIDED else notes,
        "back": reverse("console:staff_invoice", args=[row.id]),
        "tenant_url": reverse("console:staff_tenant", args=[row.tenant.slug]),
    }
    return scope.render("staff/replace.html", context, form_status(form))
