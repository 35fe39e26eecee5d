"""`waypost addresses`: queues, topics and direct addresses of a space."""

from typing import Annotated

import typer

from controlplane.cli import login_store, output, slow
from controlplane.cli.options import Tenant, Yes
from controlplane.cli.output import Format, Output
from controlplane.rest_client import last_segments, segment

app = typer.Typer(no_args_is_help=True, help="Addresses of a space: list, create, show, delete.")
Plan = Annotated[str, typer.Option(help="An address plan, such as brokered-small-queue.")]


@app.command("list")
def list_addresses(space: str, tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """List the addresses of a space."""
    api, tenant = login_store.connect(tenant)
    rows = list(api.pages(f"/tenants/{tenant}/address-spaces/{segment(space)}/addresses"))
    output.show_rows(rows, ["address", "type", "plan", "phase"], form)


@app.command()
@slow.change
def create(
    space: str,
    address: str,
    plan: Plan,
    type: Annotated[str, typer.Option(help="queue, topic, anycast, multicast, …")] = "queue",
    *,
    how: slow.How,
) -> None:
    """Create an address and wait until a message goes through it."""
    body = {"address": address, "type": type, "plan": plan}
    slow.follow(
        f"creating address {address}",
        how,
        lambda api, tenant: api.post(f"{tenant}/address-spaces/{segment(space)}/addresses", body),
    )


@app.command()
def show(space: str, address: str, tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """Show an address: phase, settings, conditions."""
    api, tenant = login_store.connect(tenant)
    path = f"/tenants/{tenant}/address-spaces/{segment(space)}/addresses/{last_segments(address)}"
    output.show_one(api.get(path), form)


@app.command()
@slow.change
def delete(
    space: str,
    address: str,
    yes: Yes = False,
    *,
    how: slow.How,
) -> None:
    """Delete an address with what is stored in it; what it used is still billed."""
    if not yes:
        output.confirm(f"Delete address {address} and every message in it?")
    path = f"/address-spaces/{segment(space)}/addresses/{last_segments(address)}"
    slow.follow(
        f"deleting address {address}", how, lambda api, tenant: api.delete(f"{tenant}{path}")
    )
