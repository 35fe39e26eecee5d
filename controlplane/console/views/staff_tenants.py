"""The operator's pages of tenants: search, limits and overrides, close now."""

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from controlplane.console import invoice_reads, limits, tenant_reads
from controlplane.console.access import staff_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.staff import OverrideForm
from controlplane.console.scope import StaffScope
from plans import invoicing, usage
from tenants import admission, queries
from tenants.actions import quota_overrides


@staff_page
def tenant_list(scope: StaffScope) -> HttpResponseBase:
    """All tenants by name, or those whose name has the asked text."""
    asked = scope.request.GET.get("q", "").strip()
    rows = tenant_reads.listed(asked)
    page = scope.page_of(rows)
    return scope.render("staff/tenants.html", {"page": page, "q": asked})


@staff_page
def detail(scope: StaffScope, tenant: str) -> HttpResponseBase:
    """One tenant: limits with their use, invoices, spaces; set an override."""
    row = queries.get_tenant(tenant)
    shown = limits.of(row)
    form = OverrideForm(
        scope.request.POST or None, resources=[(each.resource.value, each.title) for each in shown]
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
            messages.success(scope.request, "The limit is set; it counts from now on.")
            return redirect("console:staff_tenant", row.slug)
    context = {
        "row": row,
        "plan": admission.plan_of(row).title,
        "limits": shown,
        "as_of": usage.as_of(),
        "form": form,
        "invoices": invoice_reads.of(row).select_related("tenant")[:12],
        "spaces": tenant_reads.spaces_of(row),
    }
    return scope.render("staff/tenant.html", context, form_status(form))


@require_POST
@staff_page
def clear_override(scope: StaffScope, tenant: str, resource: str) -> HttpResponseBase:
    """Let the plan's limit hold again."""
    row = queries.get_tenant(tenant)
    quota_overrides.clear_override(tenant=row, resource=resource, by=scope.actor)
    messages.success(scope.request, "The plan's own limit holds again.")
    return redirect("console:staff_tenant", row.slug)


@require_POST
@staff_page
def close_now(scope: StaffScope, tenant: str) -> HttpResponseBase:
    """Close the tenant's running period at this instant."""
    row = queries.get_tenant(tenant)
    invoice, _ = invoicing.close_now(tenant=row, by=scope.actor)
    messages.info(scope.request, "The period is being closed: reload in a minute.")
    return redirect("console:staff_invoice", invoice.id)
