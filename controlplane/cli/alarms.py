"""`waypost alarms`: alarms of addresses."""

from typing import Annotated

import typer

from controlplane.cli import login_store, output
from controlplane.cli.options import Tenant
from controlplane.cli.output import Format, Output
from controlplane.core.errors import Invalid
from controlplane.rest_client import segment

app = typer.Typer(no_args_is_help=True, help="Alarms of addresses: list, create, update, delete.")
_COLUMNS = [
    "id",
    "address",
    "metric",
    "threshold",
    "for_seconds",
    "clear_below",
    "raised_at",
    "last_value",
]
Address = Annotated[str, typer.Option("--address", "-a", help="Only those of this address.")]
Limits = Annotated[
    list[str],
    typer.Argument(help="THRESHOLD [for SECONDS] [below VALUE], such as: 1000 for 60 below 800."),
]
_WORDS = {"for": "for_seconds", "below": "clear_below"}


@app.command("list")
def list_alarms(
    space: str, address: Address = "", tenant: Tenant = None, form: Output = Format.TABLE
) -> None:
    """List the alarms of a space, or of one address, with their state."""
    api, tenant = login_store.connect(tenant)
    query = {"address": address} if address else {}
    rows = api.pages(f"{_path(tenant, space)}", **query)
    output.show_rows(list(rows), _COLUMNS, form)


@app.command()
def create(
    space: str,
    address: str,
    metric: Annotated[str, typer.Argument(help="depth: messages; age: seconds of the oldest.")],
    limits: Limits,
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Set an alarm of an address, such as: create main orders depth 1000 for 60."""
    api, tenant = login_store.connect(tenant)
    path = _path(tenant, space)
    body = {"address": address, "metric": metric, **parsed(limits)}
    output.show_one(api.post(path, body), form)


@app.command()
def update(
    space: str, alarm: str, limits: Limits, tenant: Tenant = None, form: Output = Format.TABLE
) -> None:
    """Replace the limits of an alarm."""
    api, tenant = login_store.connect(tenant)
    path = f"{_path(tenant, space)}/{segment(alarm)}"
    output.show_one(api.put(path, parsed(limits)), form)


@app.command()
def delete(space: str, alarm: str, tenant: Tenant = None) -> None:
    """Delete an alarm by its id."""
    api, tenant = login_store.connect(tenant)
    api.delete(f"{_path(tenant, space)}/{segment(alarm)}")
    output.say(f"deleted {alarm}")


def parsed(limits: list[str]) -> dict[str, int]:
    """Return the limits of an alarm from words: ``1000 for 60 below 800``.

    Raises:
        Invalid: the words have another form.
    """
    values = dict(zip(["threshold", *limits[1::2]], [limits[0], *limits[2::2]], strict=False))
    is_whole = len(limits) % 2 == 1 and all(value.isdecimal() for value in values.values())
    if not is_whole or not values.keys() <= {"threshold", *_WORDS}:
        raise Invalid("Write the limits like: 1000 for 60 below 800.", code="alarm.invalid")
    return {_WORDS.get(word, word): int(value) for word, value in values.items()}


def _path(tenant: str, space: str) -> str:
    return f"/tenants/{tenant}/address-spaces/{segment(space)}/alarms"
