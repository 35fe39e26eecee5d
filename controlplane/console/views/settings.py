"""Views of a tenant's settings page: billing details and plan."""

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect

from controlplane.console import plan_reads
from controlplane.console.access import tenant_page
from controlplane.console.forms.accounts import PlanForm
from controlplane.console.forms.base import form_status
from controlplane.console.forms.organization import BillingForm
from controlplane.console.scope import TenantScope
from tenants import admission
from tenants.account_rules import BillingDetails
from tenants.actions import plan_subscriptions, tenants
from tenants.permissions import Permission


@tenant_page(Permission.VIEW_BILLING, change=Permission.MANAGE_BILLING)
def page(scope: TenantScope) -> HttpResponseBase:
    """Show the tenant's plan and billing details; on POST save the billing details.

    Only members who may manage billing see the forms.
    """
    form = BillingForm.of(scope.tenant, scope.request.POST or None)
    if form.is_valid():
        details = BillingDetails(**form.cleaned_data)
        if form.attempt(
            tenants.update_billing, tenant=scope.tenant, details=details, by=scope.actor
        ):
            messages.success(scope.request, "Your billing details are saved.")
            return redirect(scope.url("settings"))
    return _render(scope, form, PlanForm(offers=plan_reads.offered()))


@tenant_page(Permission.MANAGE_BILLING)
def plan(scope: TenantScope) -> HttpResponseBase:
    """Change the tenant's plan on POST; on an error show the settings page with the message."""
    form = PlanForm(scope.request.POST or None, offers=plan_reads.offered())
    if form.is_valid():
        changed = form.attempt(
            plan_subscriptions.change,
            tenant=scope.tenant,
            plan_key=form.cleaned_data["plan"],
            by=scope.actor,
        )
        if changed:
            messages.success(scope.request, "Your plan is changed as of now.")
            return redirect(scope.url("settings"))
    return _render(scope, BillingForm.of(scope.tenant), form)


def _render(scope: TenantScope, form: BillingForm, plan_form: PlanForm) -> HttpResponseBase:
    may = scope.may["manage_billing"]
    current = admission.plan_of(scope.tenant)
    plan_form.fields["plan"].initial = current.key
    context = {
        "plan": current,
        "form": form if may else None,
        "plan_form": plan_form if may else None,
    }
    return scope.render("team/settings.html", context, form_status(form, plan_form))
