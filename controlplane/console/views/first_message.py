"""The last step of a new space: a test message that goes through its brokers."""

from collections.abc import Sequence

from django.http import HttpResponseBase
from django.shortcuts import redirect

from controlplane.console import as_command
from controlplane.console.access import tenant_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.spaces import FirstMessageForm
from controlplane.console.scope import TenantScope
from controlplane.core.models import Operation
from tenants import queries
from tenants.actions import message_requests
from tenants.models import Address, MessageRequestKind
from tenants.permissions import OF_MESSAGES

_TEXT = "Hello from Waypost"


@tenant_page(OF_MESSAGES[MessageRequestKind.SEND])
def page(scope: TenantScope, space: str) -> HttpResponseBase:
    """Ask where to send a test message; on POST request it. ``?request=`` shows how far it is.

    A worker sends the message to a broker of the space, as a client would.
    """
    row = queries.get_space(scope.tenant, space)
    addresses = [one for one in queries.list_addresses(row) if message_requests.can_send(one)]
    form = FirstMessageForm(scope.request.POST or None, addresses=addresses)
    if form.is_valid() and not scope.shows_command:
        chosen = next(one for one in addresses if one.pk == form.cleaned_data["address"])
        operation = form.attempt(message_requests.send, address=chosen, body=_TEXT, by=scope.actor)
        if operation is not None:
            own = scope.url("first_message", row.name)
            return redirect(f"{own}?request={operation.subject_id}")
    asked = scope.request.GET.get("request", "")
    # Only what this page requests: another kind of request has a page of its own.
    requests = queries.list_message_requests(row).filter(kind=MessageRequestKind.SEND)
    sent = requests.filter(pk=asked).first() if asked else None
    operations = Operation.objects.filter(subject_type=message_requests.SUBJECT)
    context = {
        "space": row,
        "form": form,
        "addresses": addresses,
        "text": _TEXT,
        "sent": sent,
        "operation": operations.filter(subject_id=sent.pk).first() if sent else None,
        "same": _as_command(scope, form, addresses),
    }
    return scope.render("spaces/first_message.html", context, form_status(form))


def _as_command(
    scope: TenantScope, form: FirstMessageForm, addresses: Sequence[Address]
) -> as_command.Equivalent | None:
    """Return the equivalent of sending the message to the address that the form shows now.

    None if the form shows no address.
    """
    shown = form["address"].value()
    chosen = next((one for one in addresses if one.pk == shown), None)
    if chosen is None:
        return None
    return as_command.send_message(scope.tenant.slug, chosen, _TEXT, {}, durable=True)
