"""The operator's views of tenants: search, limits with overrides, and immediate close."""

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from controlplane.console import invoice_reads, limits, tenant_reads
from controlplane.console.access import staff_page
from controlplane.console.forms.base import ConsoleForm, form_status
from controlplane.console.forms.staff import ActingForm, NoteForm, OverrideForm, TenantListForm
from controlplane.console.scope import StaffScope
from plans.invoicing import invoice_closing
from plans.usage import reading
from tenants import queries, support_consents
from tenants.actions import quota_overrides


@staff_page
def tenant_list(scope: StaffScope) -> HttpResponseBase:
    """List the tenants that the filter selects, each with its plan, use and last invoice."""
    form = TenantListForm(scope.request.GET)
    found = form.cleaned_data
    rows = tenant_reads.listed(
        # A value that is not valid is missing in ``cleaned_data``, and does not select.
        found.get("q", "").strip(),
        found.get("plan", ""),
        found.get("show", ""),
        found.get("sort", ""),
    )
    context = {"page": scope.page_of(rows), "filter": form, "count": rows.count()}
    return scope.render("staff/tenants.html", context)


@staff_page
def detail(scope: StaffScope, tenant: str) -> HttpResponseBase:
    """Show a tenant's limits, twelve newest invoices, spaces, notes; on POST override a limit.

    ``tenant`` is the slug. A tenant without a plan, such as an erased one, has no limits.
    """
    row = queries.get_tenant(tenant)
    shown = limits.of(row)
    form = OverrideForm(
        scope.request.POST or None,
        resources=[(limit.resource.value, limit.title) for limit in shown],
    )
    if form.is_valid():
        override = form.attempt(
            quota_overrides.set_override,
            tenant=row,
            resource=form.cleaned_data["resource"],
            amount=form.cleaned_data["amount"],
            reason=form.cleaned_data["reason"],
            expires_at=form.expires_at(),
            by=scope.actor,
        )
        if override:
            messages.success(scope.request, "The limit is set and applies from now on.")
            return redirect("console:staff_tenant", row.slug)
    context = {
        "row": row,
        "subscription": tenant_reads.subscription_of(row),
        "limits": shown,
        "as_of": reading.as_of(),
        "form": form,
        "invoices": invoice_reads.of(row).select_related("tenant")[:12],
        "spaces": tenant_reads.spaces_of(row),
        "notes": row.notes.order_by("-created_at", "-id")[:50],
        "note_form": NoteForm(),
        "provider": tenant_reads.provider_of(row),
        "consent": support_consents.of(row, timezone.now()),
        # The form of the limit has a field ``reason`` too, and an id must be unique.
        "acting_form": ActingForm(auto_id="acting_%s"),
    }
    return scope.render("staff/tenant.html", context, form_status(form))


@require_POST
@staff_page
def clear_override(scope: StaffScope, tenant: str, resource: str) -> HttpResponseBase:
    """Remove a tenant's override of ``resource``, so that the plan's limit applies; POST only."""
    row = queries.get_tenant(tenant)
    quota_overrides.clear_override(tenant=row, resource=resource, by=scope.actor)
    messages.success(scope.request, "The plan's limit applies again.")
    return redirect("console:staff_tenant", row.slug)


@staff_page
def close_now(scope: StaffScope, tenant: str) -> HttpResponseBase:
    """Ask whether to end the tenant's running period now; on POST end it and request its close.

    Then redirect to the period's invoice.
    """
    row = queries.get_tenant(tenant)
    form = ConsoleForm(scope.request.POST if scope.request.method == "POST" else None)
    if form.is_valid():
        closed = form.attempt(invoice_closing.close_now, tenant=row, by=scope.actor)
        if closed is not None:
            messages.info(scope.request, "The period is being closed. Reload the page in a minute.")
            return redirect("console:staff_invoice", closed[0].id)
    context = {
        "form": form,
        "question": f"Close the running period of {row.name} now?",
        "consequence": "It ends the running billing month at this instant and splits it into two "
        "invoices: one until now, and one for the rest of the month. It cannot be undone. The "
        "audit log records it.",
        "verb": "Close now",
        "back": reverse("console:staff_tenant", args=[row.slug]),
        "back_label": row.name,
    }
    return scope.render("confirm.html", context, form_status(form))
