"""Pages that list, create and revoke messaging users."""

import secrets

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect

from controlplane.console.access import tenant_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.spaces import ConfirmForm, MessagingUserForm
from controlplane.console.scope import TenantScope
from controlplane.console.views import space_frame
from tenants import queries
from tenants.actions import messaging_users
from tenants.permissions import Permission

_PASSWORD_BYTES = 24  # 192 random bits, as in an API token


@tenant_page(Permission.VIEW)
def user_list(scope: TenantScope, space: str) -> HttpResponseBase:
    """List the messaging users of a space, their permissions and their newest readings."""
    row = queries.get_space(scope.tenant, space)
    page = scope.page_of(queries.list_users(row))
    context = {
        **space_frame.frame(scope, row, "space_users"),
        "page": page,
        "readings": queries.users_readings(row, [user.name for user in page]),
        "next_step": space_frame.next_step(scope, row),
    }
    return scope.render("spaces/users.html", context)


@tenant_page(Permission.MANAGE_MESSAGING)
def new(scope: TenantScope, space: str) -> HttpResponseBase:
    """Show the form for a messaging user; on POST create the user with a generated password.

    The answer to the POST shows the password, once: only verifiers of it are stored.
    """
    row = queries.get_space(scope.tenant, space)
    form = MessagingUserForm(scope.request.POST or None)
    if form.is_valid():
        # Generated, never chosen: people reuse passwords, and this one goes into a program.
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
            # No redirect: it would need the password in a URL or in the session.
            return _shown_once(scope, row.name, made[0].name, password)
    context = {"form": form, "space": row, "first": not queries.list_users(row).exists()}
    return scope.render("spaces/user_new.html", context, form_status(form))


@tenant_page(Permission.MANAGE_MESSAGING)
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
        "back": scope.url("space_users", row.name),
        "back_label": row.name,
    }
    return scope.render("confirm.html", context, form_status(form))


def _shown_once(scope: TenantScope, space: str, name: str, password: str) -> HttpResponseBase:
    connect = f"{scope.url('space_connect', space)}?user={name}"
    return scope.render(
        "spaces/user_created.html",
        {"space_name": space, "name": name, "password": password, "connect_url": connect},
    )
