"""Login through an organization: its start, the connection of an account, and its settings."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from controlplane.accounts import organization_identities, organization_providers
from controlplane.accounts.organization_identities import PENDING
from controlplane.console.access import login_page, public_page, tenant_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.login import OrganizationLoginForm, ProviderForm
from controlplane.console.scope import Scope, TenantScope
from controlplane.core.errors import Missing
from tenants.actions import identity_providers
from tenants.models import IdentityProvider
from tenants.permissions import Permission


@public_page
def begin(request: HttpRequest) -> HttpResponseBase:
    """Ask for the organization; on POST show the way to its identity provider.

    The page leads on by itself. A redirect would not do: browsers hold a form to the policy of its
    page (form-action), which permits no other site.
    """
    if not settings.ORGANIZATION_LOGIN_ENABLED:
        raise Missing("There is no such page.")
    form = OrganizationLoginForm(request.POST or None)
    context = {"form": form, "next": request.POST.get("next", request.GET.get("next", ""))}
    if form.is_valid():
        row = form.attempt(
            organization_providers.find,
            request=request,
            text=form.cleaned_data["organization"],
        )
        if row is not None:
            context["leads_to"] = reverse("organization_login", args=[row.tenant.slug])
    page = "console/accounts/organization_login.html"
    return render(request, page, context, status=form_status(form))


@login_page
def connect(scope: Scope) -> HttpResponseBase:
    """Ask whether to connect the account with the login that waits; on POST connect them."""
    pending = organization_identities.read_pending(scope.request.session.get(PENDING))
    rows = IdentityProvider.objects.select_related("tenant")
    # The organization may have removed its provider while the login waited.
    row = rows.filter(pk=pending.provider).first() if pending else None
    if pending is None or row is None:
        messages.info(scope.request, "No login waits to be connected. Begin on the login page.")
        return redirect("console:home")
    if scope.request.method != "POST":
        context = {"organization": row.tenant, "pending": pending}
        return render(scope.request, "console/accounts/connect_login.html", context)
    # One try: after a refusal, the login begins again at the provider.
    del scope.request.session[PENDING]
    organization_identities.connect(row, scope.user, pending)
    messages.success(scope.request, f"From now on you can log in through {row.tenant.name}.")
    return redirect("console:overview", row.tenant.slug)


@tenant_page(Permission.MANAGE_TENANT)
def provider(scope: TenantScope) -> HttpResponseBase:
    """Show the organization's identity provider; on POST set it."""
    row = IdentityProvider.objects.filter(tenant=scope.tenant).first()
    form = ProviderForm.of(row, scope.request.POST or None)
    if form.is_valid() and form.attempted(
        identity_providers.save, tenant=scope.tenant, wish=form.wish(), by=scope.actor
    ):
        messages.success(scope.request, "The identity provider is saved.")
        return redirect(scope.url("login_provider"))
    context = {
        "form": form,
        "row": row,
        "shown": identity_providers.shown(row) if row else None,
        "callback": settings.PUBLIC_URL
        + reverse("organization_callback", args=[scope.tenant.slug]),
    }
    return scope.render("team/login_provider.html", context, form_status(form))


@require_POST
@tenant_page(Permission.MANAGE_TENANT)
def remove(scope: TenantScope) -> HttpResponseBase:
    """Remove the organization's identity provider; POST only."""
    identity_providers.remove(tenant=scope.tenant, by=scope.actor)
    messages.success(scope.request, "The identity provider is removed.")
    return redirect(scope.url("login_provider"))
