"""Views of who may act for a tenant, and of who did what: members, API tokens, audit log."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from controlplane.console.access import tenant_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.organization import MemberForm, RoleForm, TokenForm
from controlplane.console.scope import TenantScope
from controlplane.core.errors import Missing
from tenants import permissions, queries
from tenants.actions import api_tokens, memberships
from tenants.models import Membership, Role
from tenants.permissions import Permission

_ROLE_WORDS = {
    Role.OWNER: "Everything, including the organization itself.",
    Role.ADMIN: "Messaging, billing, team, tokens and audit.",
    Role.DEVELOPER: "Spaces, addresses and messaging users.",
    Role.BILLING: "Invoices, billing details and the plan; reads everything else.",
    Role.VIEWER: "Sees spaces and usage, changes nothing.",
}


@tenant_page(Permission.VIEW, change=Permission.MANAGE_TEAM)
def members(scope: TenantScope) -> HttpResponseBase:
    """List the tenant's members; on POST add a member.

    Nobody can give a role with permissions that they lack themselves.
    """
    form = MemberForm(scope.request.POST or None) if scope.may["manage_team"] else None
    if form is not None and form.is_valid():
        # Beyond the permission to manage the team: nobody may give permissions that they lack.
        permissions.require_may_give(scope.role, form.cleaned_data["role"])
        added = form.attempt(
            memberships.add,
            tenant=scope.tenant,
            email=form.cleaned_data["email"],
            role=form.cleaned_data["role"],
            by=scope.actor,
        )
        if added:
            messages.success(scope.request, f"{form.cleaned_data['email']} is now in the team.")
            return redirect(scope.url("team"))
    context = {
        "members": queries.list_members(scope.tenant),
        "roles": Role.choices,
        "role_words": [(role.label, _ROLE_WORDS[role]) for role in Role],
        "form": form,
    }
    return scope.render("team/members.html", context, form_status(form))


@require_POST
@tenant_page(Permission.MANAGE_TEAM)
def change_role(scope: TenantScope, member: int) -> HttpResponseBase:
    """Change a member's role, then redirect to the list; an unknown role changes nothing.

    POST only. Answers 403 if the old or the new role has permissions that the caller's lacks.
    """
    form = RoleForm(scope.request.POST)
    if form.is_valid():
        row = _giveable_member(scope, member)
        permissions.require_may_give(scope.role, form.cleaned_data["role"])
        row = memberships.change_role(
            membership=row, role=form.cleaned_data["role"], by=scope.actor
        )
        messages.success(scope.request, f"{row.user.email} now has the role {row.role}.")
    return redirect(scope.url("team"))


@require_POST
@tenant_page(Permission.MANAGE_TEAM)
def remove(scope: TenantScope, member: int) -> HttpResponseBase:
    """Remove a member from the tenant, then redirect; POST only.

    Answers 403 if the member's role has permissions that the caller's lacks.
    """
    row = _giveable_member(scope, member)
    memberships.remove(membership=row, by=scope.actor)
    messages.success(scope.request, f"{row.user.email} is no longer in the team.")
    # Whoever removed themselves cannot see the team any more.
    return redirect(scope.url("team") if row.user != scope.user else "console:home")


@tenant_page(Permission.MANAGE_TOKENS)
def tokens(scope: TenantScope) -> HttpResponseBase:
    """List the tenant's API tokens; on POST issue a token and show its secret, once.

    Nobody can issue a token with a role that has permissions that they lack themselves.
    """
    form = TokenForm(scope.request.POST or None)
    secret = ""
    if form.is_valid():
        permissions.require_may_give(scope.role, form.cleaned_data["role"])
        issued = form.attempt(
            api_tokens.issue,
            tenant=scope.tenant,
            name=form.cleaned_data["name"],
            role=form.cleaned_data["role"],
            expires_at=form.expires_at(timezone.now()),
            by=scope.actor,
        )
        if issued:
            # No redirect: only the token's hash is stored, so this response must show it.
            secret, form = issued[1], TokenForm()
    context: dict[str, Any] = {
        "tokens": queries.list_tokens(scope.tenant),
        "form": form,
        "secret": secret,
    }
    return scope.render("team/tokens.html", context, form_status(form))


@require_POST
@tenant_page(Permission.MANAGE_TOKENS)
def revoke_token(scope: TenantScope, token: int) -> HttpResponseBase:
    """Revoke an API token of the tenant, which stops working immediately; POST only."""
    # Only this tenant's tokens: the id in the URL comes from the browser.
    row = queries.list_tokens(scope.tenant).filter(pk=token).first()
    if row is None:
        raise Missing("There is no such token; it may be revoked already.")
    api_tokens.revoke(token=row, by=scope.actor)
    messages.success(scope.request, f"The token {row.name} is revoked.")
    return redirect(scope.url("tokens"))


@tenant_page(Permission.VIEW_AUDIT)
def audit(scope: TenantScope) -> HttpResponseBase:
    """List the tenant's audit events, newest first, in pages."""
    events = queries.list_audit(scope.tenant)
    page = scope.page_of(events)
    return scope.render("team/audit.html", {"page": page})


def _giveable_member(scope: TenantScope, member: int) -> Membership:
    """Return the member with the id ``member``, if the caller may take the member's role away.

    Raises:
        Missing: no such member. Denied: the member's role has permissions that the caller's lacks.
    """
    row = queries.list_members(scope.tenant).filter(pk=member).first()
    if row is None:
        raise Missing("There is no such member; see the list of members.")
    permissions.require_may_give(scope.role, row.role)
    return row
