"""Pages that list the open connections of a space's clients, and close some of them."""

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect

from controlplane.console import as_command
from controlplane.console.access import tenant_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.spaces import CloseConnectionsForm
from controlplane.console.scope import TenantScope
from controlplane.console.views import space_frame
from tenants import queries
from tenants.actions import connections
from tenants.permissions import Permission
from tenants.queries import ConnectionFilter

_CONSEQUENCE = (
    "The clients are disconnected, and may connect again at once. To keep a client out, revoke its "
    "messaging user instead."
)


@tenant_page(Permission.VIEW)
def page(scope: TenantScope, space: str) -> HttpResponseBase:
    """List a space's client connections, as metering read them last.

    ``?user=`` and ``?address=`` filter the list. The totals count all connections, also those that
    are not listed.
    """
    row = queries.get_space(scope.tenant, space)
    wanted = ConnectionFilter(
        user=_given(scope, "user"),
        address=_given(scope, "address"),
    )
    instances = list(queries.list_instance_connections(row))
    context = {
        **space_frame.frame(scope, row, "space_connections"),
        "page": scope.page_of(queries.list_connections(row, wanted)),
        "wanted": wanted,
        "instances": instances,
        "total": sum(one.total for one in instances),
        "unlisted": sum(one.total - one.listed for one in instances),
    }
    return scope.render("spaces/connections.html", context)


@tenant_page(Permission.MANAGE_MESSAGING)
def close(scope: TenantScope, space: str) -> HttpResponseBase:
    """Ask for confirmation; on POST request that connections of a space are closed.

    The parameters ``ids`` name them, or ``user``, a messaging user whose connections are all meant.
    """
    row = queries.get_space(scope.tenant, space)
    sent = scope.request.POST if scope.request.method == "POST" else scope.request.GET
    chosen, user = sent.getlist("ids"), sent.get("user", "")
    if not (chosen or user):
        messages.error(scope.request, "Choose the connections to close.")
        return redirect(scope.url("space_connections", row.name))
    form = CloseConnectionsForm(scope.request.POST or None, chosen=chosen, user=user)
    if form.is_valid() and form.attempted(
        connections.close,
        space=row,
        by=scope.actor,
        # A user means all connections, also those that the list does not have.
        ids=[] if user else chosen,
        user=user,
    ):
        messages.success(scope.request, "The connections are being closed.")
        return redirect(scope.url("space_connections", row.name))
    count = f"{len(chosen)} connection{'' if len(chosen) == 1 else 's'}"
    context = {
        "form": form,
        "question": f"Close all connections of {user}?" if user else f"Close {count}?",
        "consequence": _CONSEQUENCE,
        "verb": "Close connections",
        "same": as_command.close_connections(scope.tenant.slug, row.name, chosen, user),
        "back": scope.url("space_connections", row.name),
        "back_label": row.name,
    }
    return scope.render("confirm.html", context, form_status(form))


def _given(scope: TenantScope, name: str) -> str:
    return scope.request.GET.get(name, "").strip()
