"""The page for connecting clients: endpoint, certificate and example programs."""

from django.http import HttpResponse, HttpResponseBase

from controlplane.console import snippets
from controlplane.console.access import tenant_page
from controlplane.console.forms.spaces import ConnectForm
from controlplane.console.scope import TenantScope
from controlplane.console.views import space_frame
from controlplane.core.address_types import BY_SLUG
from controlplane.core.errors import Missing
from tenants import queries
from tenants.models import Address, AddressSpace, AddressType, Endpoint
from tenants.permissions import Permission

# The name of the first endpoint of a space. Further routers have endpoints of their own.
_NAME = "amqps"


@tenant_page(Permission.VIEW)
def page(scope: TenantScope, space: str) -> HttpResponseBase:
    """Show how clients connect to a space: endpoints, what they must trust, example programs.

    The programs appear once the space has an endpoint, an address and a messaging user.
    ``?address=`` and ``?user=`` choose which ones the programs use.
    """
    row = queries.get_space(scope.tenant, space)
    # The example programs send: they are of no use for an address that clients only receive from.
    addresses = [
        address for address in queries.name_addresses(row) if not BY_SLUG[address.type].is_read_only
    ]
    users = list(queries.list_users(row))
    context = {
        **space_frame.frame(scope, row, "space_connect"),
        "next_step": space_frame.next_step(scope, row),
        "endpoint": _endpoint(row),
        # One for each further router; clients use them if the first endpoint fails.
        "other_endpoints": [
            endpoint for endpoint in row.endpoints.order_by("name") if endpoint.name != _NAME
        ],
    }
    if _needs_file(row):
        context["ca_file"] = snippets.ca_file(row.name)
    if context["endpoint"] and addresses and users:
        context |= _examples(scope, row, addresses, [user.name for user in users])
    return scope.render("spaces/connect.html", context)


@tenant_page(Permission.VIEW)
def certificate(scope: TenantScope, space: str) -> HttpResponseBase:
    """Download the certificate that clients of the space must trust (PEM).

    Answers 404 if the space has no endpoint yet, or if clients trust its certificate already.
    """
    row = queries.get_space(scope.tenant, space)
    endpoint = _endpoint(row)
    if endpoint is None:
        raise Missing("The space has no certificate yet: wait until it is Active, then try again.")
    if not _needs_file(row):
        raise Missing(
            "Clients need no certificate file: their systems already trust the space certificate."
        )
    name = snippets.ca_file(row.name)
    return HttpResponse(
        endpoint.certificate_pem,
        content_type="application/x-pem-file",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _examples(
    scope: TenantScope, row: AddressSpace, addresses: list[Address], users: list[str]
) -> dict[str, object]:
    by_name = {address.address: address for address in addresses}
    query = scope.request.GET
    # A queue if there is one: its program receives what it sends. A topic needs a second program.
    first = next((a for a in addresses if a.type == AddressType.QUEUE), addresses[0])
    # Unknown names in the query string fall back to a default, so old links keep working.
    user = query["user"] if query.get("user") in users else users[0]
    chosen = by_name.get(query.get("address", ""), first)
    endpoint = _endpoint(row)
    assert endpoint is not None
    target = snippets.Target(
        row.name,
        endpoint.host,
        endpoint.port,
        user,
        chosen.address,
        chosen.type,
        _needs_file(row),
    )
    initial = {"user": user, "address": chosen.address}
    return {
        "form": ConnectForm(users=users, addresses=list(by_name), initial=initial),
        "snippets": snippets.build_all(target),
    }


def _needs_file(row: AddressSpace) -> bool:
    endpoint = _endpoint(row)
    return endpoint is not None and endpoint.certificate_pem != ""


def _endpoint(row: AddressSpace) -> Endpoint | None:
    return next((e for e in row.endpoints.all() if e.name == _NAME), None)
