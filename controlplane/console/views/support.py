"""The tenant's page about help by the operator: give and revoke the consent to act here."""

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from controlplane.console.access import tenant_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.organization import ConsentForm
from controlplane.console.scope import TenantScope
from tenants import support_consents
from tenants.actions import support_access
from tenants.permissions import Permission


@tenant_page(Permission.MANAGE_TENANT)
def page(scope: TenantScope) -> HttpResponseBase:
    """Show the consent in force; on POST give one."""
    form = ConsentForm(scope.request.POST or None)
    if form.is_valid() and form.attempted(
        support_access.give_consent,
        tenant=scope.tenant,
        role=form.cleaned_data["role"],
        hours=form.cleaned_data["hours"],
        by=scope.actor,
    ):
        messages.success(scope.request, "The operator may help you now. You can end it here.")
        return redirect(scope.url("support"))
    consent = support_consents.of(scope.tenant, timezone.now())
    return scope.render("team/support.html", {"form": form, "consent": consent}, form_status(form))


@require_POST
@tenant_page(Permission.MANAGE_TENANT)
def revoke(scope: TenantScope) -> HttpResponseBase:
    """End the consent at once; POST only."""
    support_access.revoke_consent(tenant=scope.tenant, by=scope.actor)
    messages.success(scope.request, "The operator can no longer act in your pages.")
    return redirect(scope.url("support"))
