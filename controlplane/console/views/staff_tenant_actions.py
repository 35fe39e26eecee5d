"""What an operator does with a tenant: suspend, restore, notes, and acting in its pages."""

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from controlplane.console import acting
from controlplane.console.access import staff_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.staff import ActingForm, NoteForm, SuspensionForm
from controlplane.console.scope import StaffScope
from controlplane.core.errors import Missing
from tenants import queries
from tenants.actions import identity_providers, support_access, suspensions, tenant_notes


@staff_page
def suspend(scope: StaffScope, tenant: str) -> HttpResponseBase:
    """Ask why to suspend the tenant; on POST suspend it. ``tenant`` is the slug."""
    row = queries.get_tenant(tenant)
    form = SuspensionForm(scope.request.POST or None)
    if form.is_valid() and form.attempted(
        suspensions.suspend, tenant=row, reason=form.cleaned_data["reason"], by=scope.actor
    ):
        messages.success(scope.request, f"{row.name} is suspended.")
        return redirect("console:staff_tenant", row.slug)
    context = {
        "form": form,
        "question": f"Suspend {row.name}?",
        "consequence": "Its programs can no longer send. Its members can look at everything and "
        "pay, but they and their tokens change nothing else. Stored messages stay and can be "
        "received. Owners, admins and members with the role billing get a mail with your reason. "
        "You can restore it at any time.",
        "verb": "Suspend",
        "back": f"/staff/tenants/{row.slug}/",
        "back_label": row.name,
    }
    return scope.render("confirm.html", context, form_status(form))


@require_POST
@staff_page
def restore(scope: StaffScope, tenant: str) -> HttpResponseBase:
    """End the tenant's suspension; POST only."""
    row = queries.get_tenant(tenant)
    suspensions.restore(tenant=row, by=scope.actor)
    messages.success(scope.request, f"{row.name} is restored. Sending works again in a moment.")
    return redirect("console:staff_tenant", row.slug)


@require_POST
@staff_page
def confirm_domains(scope: StaffScope, tenant: str) -> HttpResponseBase:
    """Confirm that the domains which the page showed are the tenant's; POST only."""
    row = queries.get_tenant(tenant)
    identity_providers.confirm_domains(
        # Only the domains that the page showed: the owner may have added others since.
        tenant=row,
        domains=scope.request.POST.getlist("domains"),
        by=scope.actor,
    )
    messages.success(scope.request, "The domains are confirmed.")
    return redirect("console:staff_tenant", row.slug)


@require_POST
@staff_page
def add_note(scope: StaffScope, tenant: str) -> HttpResponseBase:
    """Store a note about the tenant; POST only."""
    row = queries.get_tenant(tenant)
    form = NoteForm(scope.request.POST)
    if form.is_valid():
        tenant_notes.write(tenant=row, text=form.cleaned_data["text"], by=scope.actor)
        messages.success(scope.request, "The note is stored.")
    else:
        messages.error(scope.request, "The note is empty or too long: write 1 to 4,000 characters.")
    return redirect("console:staff_tenant", row.slug)


@require_POST
@staff_page
def delete_note(scope: StaffScope, tenant: str, note: int) -> HttpResponseBase:
    """Delete a note about the tenant; POST only."""
    row = queries.get_tenant(tenant)
    tenant_notes.delete(tenant=row, note_id=note, by=scope.actor)
    messages.success(scope.request, "The note is deleted.")
    return redirect("console:staff_tenant", row.slug)


@require_POST
@staff_page
def act(scope: StaffScope, tenant: str) -> HttpResponseBase:
    """Begin to act in the tenant's pages, with its consent; POST only."""
    row = queries.get_tenant(tenant)
    form = ActingForm(scope.request.POST)
    # ``begin`` refuses an empty reason, so an invalid form needs no branch.
    reason = form.cleaned_data["reason"] if form.is_valid() else ""
    # The decorator shows an error, such as a missing consent, as a page.
    consent = support_access.begin(tenant=row, reason=reason, by=scope.actor)
    acting.begin(scope.request, consent)
    return redirect("console:overview", row.slug)


@require_POST
@staff_page
def stop_acting(scope: StaffScope) -> HttpResponseBase:
    """Stop acting in a tenant's pages, and redirect to the operator's page of it; POST only."""
    slug = acting.end(scope.request)
    if not slug:
        raise Missing("You do not act in the pages of any organization.")
    row = queries.get_tenant(slug)
    support_access.end(tenant=row, by=scope.actor)
    messages.success(scope.request, f"You no longer act in the pages of {row.name}.")
    return redirect("console:staff_tenant", row.slug)
