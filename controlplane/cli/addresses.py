"""`waypost addresses`: queues, topics and direct addresses of a space."""

from typing import Annotated

import typer

from controlplane.cli import login_store, output, slow
from controlplane.cli.options import NoWait, Tenant, Yes
from controlplane.cli.output import Format, Output

app = typer.Typer(no_args_is_help=True, help="Addresses of a space: list, create, show, delete.")
Plan = Annotated[str, typer.Option(help="An address plan, such as brokered-small-queue.")]


@app.command("list")
def list_addresses(space: str, tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """List the addresses of a space."""
    api, tenant = login_store.connect(tenant)
    rows = list(api.pages(f"/tenants/{tenant}/address-spaces/{space}/addresses"))
    output.show_rows(rows, ["address", "type", "plan", "phase"], form)


@app.command()
def create(
    space: str,
    address: str,
    plan: Plan,
    type: Annotated[str, typer.Option(help="queue, topic, anycast, multicast, …")] = "queue",
    tenant: Tenant = None,
    no_wait: NoWait = False,
    form: Output = Format.TABLE,
) -> None:
    """Create an address and wait until a message goes through it."""
    api, tenant = login_store.connect(tenant)
    body = {"address": address, "type": type, "plan": plan}
    slow.follow(
        api,
        tenant,
        f"creating address {address}",
        lambda: api.post(f"/tenants/{tenant}/address-spaces/{space}/addresses", body),
        form,
        wait=not no_wait,
    )


@app.command()
def show(space: str, address: str, tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """Show an address: phase, settings, conditions."""
    api, tenant = login_store.connect(tenant)
    path = f"/tenants/{tenant}/address-spaces/{space}/addresses/{address}"
    output.show_one(api.get(path), form)


@app.command()
def delete(
    space: str,
    address: str,
    yes: Yes = False,
    tenant: Tenant = None,
    no_wait: NoWait = False,
    form: Output = Format.TABLE,
) -> None:
    """Delete an address with what is stored in it; what it used is still billed."""
    api, tenant = login_store.connect(tenant)
    if not yes:
        typer.confirm(f"Delete address {address} and every message in it?", abort=True)
    path = f"/tenants/{tenant}/address-spaces/{space}/addresses/{address}"
    slow.follow(
        api,
        tenant,
        f"deleting address {address}",
        lambda: api.delete(path),
        form,
        wait=not no_wait,
    )
