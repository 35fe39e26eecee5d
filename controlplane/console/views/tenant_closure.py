"""Views of the end of a tenant: download everything, close it, and undo that. For owners."""

import json

from django.conf import settings
from django.contrib import messages
from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from controlplane.console import buttons_as_command
from controlplane.console.access import tenant_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.spaces import ConfirmForm
from controlplane.console.scope import TenantScope
from tenants import exporting
from tenants.actions import closures
from tenants.permissions import Permission


@tenant_page(Permission.MANAGE_TENANT)
def page(scope: TenantScope) -> HttpResponseBase:
    """Show what closing means; on POST with the typed short name, request it."""
    form = ConfirmForm(scope.request.POST or None, expected=scope.tenant.slug)
    if form.is_valid() and form.attempted(closures.request, tenant=scope.tenant, by=scope.actor):
        messages.success(scope.request, "The organization is being closed.")
        return redirect(scope.url("tenant_close"))
    slug = scope.tenant.slug
    context = {
        "form": form,
        "days": settings.TENANT_ERASE_DAYS,
        "close": buttons_as_command.close_tenant(slug),
        "keep": buttons_as_command.keep_tenant(slug),
    }
    return scope.render("team/close.html", context, form_status(form))


@require_POST
@tenant_page(Permission.MANAGE_TENANT)
def undo(scope: TenantScope) -> HttpResponseBase:
    """Undo the request to close the tenant; POST only."""
    # ``MANAGE_TENANT`` stays changeable while the organization is being closed.
    closures.undo(tenant=scope.tenant, by=scope.actor)
    messages.success(scope.request, "The organization stays.")
    return redirect(scope.url("settings"))


@tenant_page(Permission.MANAGE_TENANT)
def export(scope: TenantScope) -> HttpResponseBase:
    """Download what Waypost stores about the tenant, as one JSON document."""
    body = json.dumps(exporting.document(scope.tenant), cls=DjangoJSONEncoder, indent=1)
    answer = HttpResponse(body, content_type="application/json")
    answer["Content-Disposition"] = f'attachment; filename="{scope.tenant.slug}.json"'
    # The middleware sets it for HTML only.
    answer["Cache-Control"] = "no-store"
    return answer
