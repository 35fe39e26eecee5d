"""`waypost whoami` and `waypost open`: show the caller, and open a tenant's page in the portal."""

import sys
from typing import Annotated

import typer

from controlplane.cli import calls, login_store, output
from controlplane.cli.options import Tenant
from controlplane.cli.output import Format, Output
from controlplane.client.api import me
from controlplane.rest_client import segment


def whoami(form: Output = Format.TABLE) -> None:
    """Show as who the commands act: the installation, the account or token, its tenants."""
    api, login = login_store.connect_staff(), login_store.load()
    caller = calls.body(api, me.say_who_i_am.sync_detailed(client=api.client))
    tenants = caller.pop("tenants")
    name = login_store.name_to_save()
    shown = {**caller, "url": login.url, "context": name, "tenant": login.tenant or None}
    if form.is_table:
        roles = [f"{one['slug']} ({one['role']})" for one in tenants]
        output.show_one({**shown, "tenants": roles}, form)
    else:
        output.show_one({**shown, "tenants": tenants}, form)


def open_portal(
    space: Annotated[str, typer.Argument(help="A space, for its own page.")] = "",
    tenant: Tenant = None,
    only_print: Annotated[
        bool, typer.Option("--print", help="Only print the address of the page.")
    ] = False,
) -> None:
    """Print the address of the tenant's page in the portal, and open it in a browser."""
    api, slug = login_store.connect(tenant)
    page = f"/spaces/{segment(space)}/" if space else "/"
    address = f"{api.url.rstrip('/')}/t/{segment(slug)}{page}"
    output.show_text(address)
    # In a pipe, a script wants the address only.
    if not only_print and sys.stdout.isatty():
        typer.launch(address)
