"""Pages that list, create and revoke messaging users."""

import secrets
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect

from controlplane.console import as_command, shown_once
from controlplane.console.access import tenant_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.lists import UserListForm
from controlplane.console.forms.spaces import ConfirmForm, MessagingUserForm, NewPasswordForm
from controlplane.console.scope import TenantScope
from controlplane.console.views import space_frame
from tenants import queries
from tenants.actions import messaging_users
from tenants.models import MessagingUser
from tenants.permissions import Permission

# Of a generated password: 192 random bits, as in an API token. Nobody chooses one, because people
# reuse passwords, and this one goes into a program.
_PASSWORD_BYTES = 24


@tenant_page(Permission.VIEW)
def user_list(scope: TenantScope, space: str) -> HttpResponseBase:
    """List the messaging users of a space, their permissions and their newest readings."""
    row = queries.get_space(scope.tenant, space)
    listed = UserListForm(scope.request.GET)
    page = scope.page_of(listed.apply(queries.list_users(row)))
    context = {
        **space_frame.frame(scope, row, "space_users"),
        "filter": listed,
        "page": page,
        "readings": queries.users_readings(row, [user.name for user in page]),
        "next_step": space_frame.next_step(scope, row),
        "may_revoke": scope.may_end["manage_messaging"] and not row.deletion_requested_at,
    }
    return scope.render("spaces/users.html", context)


@tenant_page(Permission.MANAGE_MESSAGING)
def new(scope: TenantScope, space: str) -> HttpResponseBase:
    """Show the form for a messaging user; on POST create the user with a generated password.

    Then redirect to the page that shows the password, once: only verifiers of it are stored.
    """
    row = queries.get_space(scope.tenant, space)
    form = MessagingUserForm(scope.request.POST or None)
    if form.is_valid() and not scope.shows_command:
        password = secrets.token_urlsafe(_PASSWORD_BYTES)
        made = form.attempt(
            messaging_users.create,
            space=row,
            name=form.cleaned_data["name"],
            password=password,
            permissions=form.permissions(),
            by=scope.actor,
        )
        if made:
            return _to_password(scope, made[0], password)
    context = {
        "form": form,
        "space": row,
        "first": not queries.list_users(row).exists(),
        "same": as_command.create_user(
            scope.tenant.slug, row, form["name"].value() or "", form.permissions_now()
        ),
    }
    return scope.render("spaces/user_new.html", context, form_status(form))


@tenant_page(Permission.MANAGE_MESSAGING)
def password(scope: TenantScope, space: str, user: str) -> HttpResponseBase:
    """Show a password that was just generated, once; else offer a new one. POST generates it.

    The former password stops working when the workers have applied the new one.
    """
    row = queries.get_space(scope.tenant, space)
    found = queries.get_user(row, user)
    form = NewPasswordForm(scope.request.POST or None)
    if form.is_valid():
        generated = secrets.token_urlsafe(_PASSWORD_BYTES)
        if form.attempted(messaging_users.update, user=found, password=generated, by=scope.actor):
            return _to_password(scope, found, generated)
    context = {
        "form": form,
        "space": row,
        "user": found,
        "same": as_command.new_password(scope.tenant.slug, row.name, found.name, found.permissions),
        "password": shown_once.take(scope.request, found.pk),
        "connect_url": f"{scope.url('space_connect', row.name)}?{urlencode({'user': found.name})}",
    }
    return scope.render("spaces/user_password.html", context, form_status(form))


@tenant_page(Permission.MANAGE_MESSAGING, ends_access=True)
def revoke(scope: TenantScope, space: str, user: str) -> HttpResponseBase:
    """Ask for confirmation; on POST with the typed name, revoke the messaging user ``user``.

    The workers then close its connections.
    """
    row = queries.get_space(scope.tenant, space)
    found = queries.get_user(row, user)
    form = ConfirmForm(scope.request.POST or None, expected=found.name)
    if form.is_valid() and form.attempted(messaging_users.revoke, user=found, by=scope.actor):
        messages.success(scope.request, f"{found.name} is being revoked.")
        return redirect(scope.url("space_users", row.name))
    context = {
        "form": form,
        "question": f"Revoke {found.name}?",
        "consequence": "Its open connections are closed and its password no longer works.",
        "verb": "Revoke user",
        "same": as_command.revoke_user(scope.tenant.slug, row.name, found.name),
        "back": scope.url("space_users", row.name),
        "back_label": row.name,
    }
    return scope.render("confirm.html", context, form_status(form))


def _to_password(scope: TenantScope, user: MessagingUser, password: str) -> HttpResponseBase:
    """Redirect to the page that shows the password once. A reload there repeats no POST."""
    shown_once.put(scope.request, user.pk, password)
    return redirect(scope.url("user_password", user.space.name, user.name))
