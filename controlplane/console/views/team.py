"""Views of who may act for a tenant: members and API tokens."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from controlplane.console import as_command, buttons_as_command
from controlplane.console.access import tenant_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.organization import MemberForm, RoleForm, TokenForm
from controlplane.console.scope import TenantScope
from controlplane.core.errors import Missing
from tenants import permissions, queries
from tenants.actions import api_tokens, invitations, memberships
from tenants.models import ApiToken, Membership, Role
from tenants.permissions import Permission

ROLE_WORDS = {
    Role.OWNER: "Everything, including the organization itself.",
    Role.ADMIN: "Messaging, messages, billing, team, tokens, notifications and audit.",
    Role.DEVELOPER: (
        "Spaces, addresses, messaging users, alarms and maintenance windows; reads and changes "
        "stored messages."
    ),
    Role.BILLING: "Invoices, billing details and the plan; sees spaces, members and usage.",
    Role.VIEWER: "Sees spaces, members and usage, changes nothing.",
}
# Members and invitations on a page: each has buttons with their commands, 3 kB together.
_SHOWN = 25


@tenant_page(Permission.VIEW, change=Permission.MANAGE_TEAM)
def members(scope: TenantScope) -> HttpResponseBase:
    """List the tenant's members and open invitations; on POST invite a person by mail.

    Nobody can give a role with permissions that they lack themselves.
    """
    manages = permissions.has_permission(scope.role, Permission.MANAGE_TEAM)
    page = scope.page_of(queries.list_members(scope.tenant), _SHOWN)
    form = _member_form(scope, page.object_list)
    if form is not None and form.is_valid() and not scope.shows_command:
        # Beyond the permission to manage the team: nobody may give permissions that they lack.
        permissions.require_may_give(scope.role, form.cleaned_data["role"])
        invitation = form.attempt(
            invitations.invite, tenant=scope.tenant, by=scope.actor, **form.cleaned_data
        )
        if invitation is not None:
            role = Role(invitation.role).label
            text = f"An invitation is on its way to {invitation.email}. Its role is {role}."
            messages.success(scope.request, text)
            return redirect(scope.url("team"))
    slug = scope.tenant.slug
    invitations_page = (
        scope.page_of(queries.list_invitations(scope.tenant), _SHOWN, "invited")
        if manages
        else None
    )
    invited = invitations_page.object_list if invitations_page else []
    context = {
        "page": page,
        "invitations_page": invitations_page,
        "member_buttons": buttons_as_command.of_members(
            slug, page.object_list, hands_over=scope.may["manage_tenant"], own=scope.user.email
        ),
        "invitation_buttons": buttons_as_command.of_invitations(slug, invited),
        "leave_button": buttons_as_command.leave(slug),
        "now": timezone.now(),
        "roles": Role.choices,
        "role_words": [(role.label, ROLE_WORDS[role]) for role in Role],
        "form": form,
        "same": form
        and as_command.invite(
            scope.tenant.slug, form["email"].value() or "", str(form["role"].value())
        ),
    }
    return scope.render("team/members.html", context, form_status(form))


def _member_form(scope: TenantScope, members: Sequence[Membership]) -> MemberForm | None:
    """Return the form that invites a person; None if the caller may not manage the team."""
    if not scope.may["manage_team"]:
        return None
    # Staff who created a tenant for a customer are alone in it until they invite its owner.
    is_for_customer = scope.user.is_staff and len(members) == 1
    initial = {"role": Role.OWNER if is_for_customer else Role.DEVELOPER}
    return MemberForm(scope.request.POST or None, initial=initial)


@require_POST
@tenant_page(Permission.MANAGE_TEAM)
def invite_again(scope: TenantScope, invitation: int) -> HttpResponseBase:
    """Send an invitation again, with a new link; POST only."""
    row = queries.get_invitation(scope.tenant, invitation)
    # A new link lets the person in with this role, so the caller must be allowed to give it.
    permissions.require_may_give(scope.role, row.role)
    renewed = invitations.renew(invitation=row, by=scope.actor)
    messages.success(scope.request, f"A new invitation is on its way to {renewed.email}.")
    return redirect(scope.url("team"))


@require_POST
@tenant_page(Permission.MANAGE_TEAM, ends_access=True)
def revoke_invitation(scope: TenantScope, invitation: int) -> HttpResponseBase:
    """Revoke an invitation, whose link stops working; POST only."""
    row = queries.get_invitation(scope.tenant, invitation)
    invitations.revoke(invitation=row, by=scope.actor)
    messages.success(scope.request, f"The invitation of {row.email} is revoked.")
    return redirect(scope.url("team"))


@require_POST
@tenant_page(Permission.VIEW)
def leave(scope: TenantScope) -> HttpResponseBase:
    """Remove the caller from the tenant, then redirect to the start page; POST only."""
    # An operator who acts here is no member, and gets Missing.
    row = queries.membership(scope.user, scope.tenant.slug)
    memberships.remove(membership=row, by=scope.actor)
    messages.success(scope.request, f"You have left {scope.tenant.name}.")
    return redirect("console:home")


@require_POST
@tenant_page(Permission.MANAGE_TENANT)
def transfer(scope: TenantScope, member: int) -> HttpResponseBase:
    """Make another member the owner and the caller an admin; POST only, for owners."""
    row = memberships.transfer(
        owner=queries.membership(scope.user, scope.tenant.slug),
        to=_giveable_member(scope, member),
        by=scope.actor,
    )
    messages.success(scope.request, f"{row.user.email} is now the owner; you are an admin.")
    return redirect(scope.url("team"))


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
@tenant_page(Permission.MANAGE_TEAM, ends_access=True)
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
    if form.is_valid() and not scope.shows_command:
        permissions.require_may_give(scope.role, form.cleaned_data["role"])
        issued = form.attempt(
            api_tokens.issue,
            tenant=scope.tenant,
            name=form.cleaned_data["name"],
            role=form.cleaned_data["role"],
            expires_at=form.expires_at(timezone.now()),
            by=scope.actor,
            scope=form.scope(),
        )
        if issued:
            # No redirect: only the token's hash is stored, so this response must show it.
            secret, form = issued[1], TokenForm()
    return _render_tokens(scope, form, secret)


@require_POST
@tenant_page(Permission.MANAGE_TOKENS)
def rotate_token(scope: TenantScope, token: int) -> HttpResponseBase:
    """Replace a token's secret, and show the new one, once; POST only."""
    row = _own_token(scope, token)
    permissions.require_may_give(scope.role, row.role)
    _, secret = api_tokens.rotate(token=row, by=scope.actor)
    return _render_tokens(scope, TokenForm(), secret)


@require_POST
@tenant_page(Permission.MANAGE_TOKENS, ends_access=True)
def revoke_token(scope: TenantScope, token: int) -> HttpResponseBase:
    """Revoke an API token of the tenant, which stops working immediately; POST only."""
    row = _own_token(scope, token)
    api_tokens.revoke(token=row, by=scope.actor)
    messages.success(scope.request, f"The token {row.name} is revoked.")
    return redirect(scope.url("tokens"))


def _render_tokens(scope: TenantScope, form: TokenForm, secret: str) -> HttpResponseBase:
    page = scope.page_of(queries.list_tokens(scope.tenant))
    context: dict[str, Any] = {
        "page": page,
        "token_buttons": buttons_as_command.of_tokens(scope.tenant.slug, page.object_list),
        "form": form,
        "secret": secret,
        "same": as_command.issue_token(
            scope.tenant.slug,
            form["name"].value() or "",
            str(form["role"].value()),
            form.days_now(),
            form.scope_now(),
            timezone.now(),
        ),
    }
    return scope.render("team/tokens.html", context, form_status(form))


def _own_token(scope: TenantScope, token: int) -> ApiToken:
    """Return the tenant's token with this id; raise Missing if there is none, or it is revoked."""
    # Only this tenant's tokens: the id in the URL comes from the browser.
    row = queries.list_tokens(scope.tenant).filter(pk=token).first()
    if row is None:
        raise Missing("There is no such token; it may be revoked already.")
    return row


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
