"""`waypost addresses`: queues, topics and direct addresses of a space."""

from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from controlplane.cli import login_store, output, slow
from controlplane.cli.options import Tenant, Yes
from controlplane.cli.output import Format, Output
from controlplane.rest_client import last_segments, segment

app = typer.Typer(no_args_is_help=True, help="Addresses of a space: list, create, show, delete.")
Plan = Annotated[str, typer.Option(help="An address plan, such as brokered-small-queue.")]
Whole = Annotated[int | None, typer.Option(min=0, help="Default: the plan's value.")]


@dataclass(frozen=True)
class Settings:
    """The settings of an address, by their names in the API."""

    topic: Annotated[str | None, typer.Option(help="The topic of a subscription.")] = None
    message_ttl_ms: Whole = None
    max_delivery_attempts: Whole = None
    redelivery_delay_ms: Whole = None
    max_bytes: Whole = None
    dead_letter: Annotated[
        str | None, typer.Option(help="A queue of the space for undeliverable messages.")
    ] = None


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
    type: Annotated[
        str, typer.Option(help="queue, topic, subscription, anycast or multicast.")
    ] = "queue",
    *,
    settings: Settings,
    how: slow.How,
) -> None:
    """Create an address and wait until a message goes through it."""
    # An omitted setting is not sent, so that the plan's value applies.
    chosen = {name: value for name, value in asdict(settings).items() if value is not None}
    body = {"address": address, "type": type, "plan": plan, **chosen}
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
    """Delete an address with its stored messages; its usage until then is still billed."""
    path = f"/address-spaces/{segment(space)}/addresses/{last_segments(address)}"
    if not yes:
        output.confirm(f"Delete address {address} and every message in it?")
    slow.follow(
        f"deleting address {address}", how, lambda api, tenant: api.delete(f"{tenant}{path}")
    )
