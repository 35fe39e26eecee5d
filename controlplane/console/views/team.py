"""Pages about who acts for a tenant: members, API tokens, the audit."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from controlplane.console.access import tenant_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.organisation import MemberForm, RoleForm, TokenForm
from controlplane.console.scope import TenantScope
from controlplane.core.errors import Missing
from tenants import permissions, queries
from tenants.actions import api_tokens, memberships
from tenants.models import Membership, Role
from tenants.permissions import Permission

_ROLE_WORDS = (
    ("Owner", "Everything, and the organisation itself."),
    ("Admin", "Messaging, billing, team, tokens and audit."),
    ("Developer", "Spaces, addresses and messaging users."),
    ("Billing", "Invoices, billing details and the plan; sees the rest."),
    ("Viewer", "Sees spaces and usage, changes nothing."),
)


@tenant_page(Permission.VIEW, change=Permission.MANAGE_TEAM)
def members(scope: TenantScope) -> HttpResponseBase:
    """Who is in the team; adding somebody."""
    form = MemberForm(scope.request.POST or None) if scope.may["manage_team"] else None
    if form is not None and form.is_valid():
        permissions.require_may_give(scope.role, form.cleaned_data["role"])
        added = form.attempt(
            memberships.add,
            tenant=scope.tenant,
            email=form.cleaned_data["email"],
            role=form.cleaned_data["role"],
            by=scope.actor,
        )
        if added:
            messages.success(scope.request, f"{form.cleaned_data['email']} is in the team now.")
            return redirect(scope.url("team"))
    context = {
        "members": queries.list_members(scope.tenant),
        "roles": Role.choices,
        "role_words": _ROLE_WORDS,
        "form": form,
    }
    return scope.render("team/members.html", context, form_status(form))


@require_POST
@tenant_page(Permission.MANAGE_TEAM)
def change_role(scope: TenantScope, member: int) -> HttpResponseBase:
    """Give a member another role."""
    form = RoleForm(scope.request.POST)
    if form.is_valid():
        row = _giveable_member(scope, member)
        permissions.require_may_give(scope.role, form.cleaned_data["role"])
        row = memberships.change_role(
            membership=row, role=form.cleaned_data["role"], by=scope.actor
        )
        messages.success(scope.request, f"{row.user.email} is {row.role} now.")
    return redirect(scope.url("team"))


@require_POST
@tenant_page(Permission.MANAGE_TEAM)
def remove(scope: TenantScope, member: int) -> HttpResponseBase:
    """Take a member out of the team."""
    row = _giveable_member(scope, member)
    memberships.remove(membership=row, by=scope.actor)
    messages.success(scope.request, f"{row.user.email} is not in the team any more.")
    return redirect(scope.url("team") if row.user != scope.user else "console:home")


@tenant_page(Permission.MANAGE_TOKENS)
def tokens(scope: TenantScope) -> HttpResponseBase:
    """The tokens of programs; a new one is shown in the answer to its form, and never again."""
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
    """End a token at once."""
    row = queries.list_tokens(scope.tenant).filter(pk=token).first()
    if row is None:
        raise Missing("There is no such token; it may be revoked already.")
    api_tokens.revoke(token=row, by=scope.actor)
    messages.success(scope.request, f"The token {row.name} is revoked.")
    return redirect(scope.url("tokens"))


@tenant_page(Permission.VIEW_AUDIT)
def audit(scope: TenantScope) -> HttpResponseBase:
    """Who changed what, newest first."""
    events = queries.list_audit(scope.tenant)
    page = scope.page_of(events)
    return scope.render("team/audit.html", {"page": page})


def _giveable_member(scope: TenantScope, member: int) -> Membership:
    """Return a member whose present role the caller may give and so take."""
    row = queries.list_members(scope.tenant).filter(pk=member).first()
    if row is None:
        raise Missing("There is no such member; the list shows those that there are.")
    permissions.require_may_give(scope.role, row.role)
    return row
