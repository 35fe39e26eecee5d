"""`waypost users`: the messaging users of a space."""

import secrets
from typing import Annotated

import typer

from controlplane.cli import login_store, output, slow
from controlplane.cli.options import Tenant, Yes
from controlplane.cli.output import Format, Output
from controlplane.rest_client import segment

app = typer.Typer(
    no_args_is_help=True, help="Messaging users of a space: list, create, show, revoke."
)
_COLUMNS = ("name", "permissions", "phase", "connections", "sent_per_second", "received_per_second")
Patterns = Annotated[list[str] | None, typer.Option(help="Address patterns; repeat for more.")]


@app.command("list")
def list_users(space: str, tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """List the messaging users of a space."""
    api, tenant = login_store.connect(tenant)
    rows = list(api.pages(f"/tenants/{tenant}/address-spaces/{segment(space)}/users"))
    if form is Format.TABLE:
        rows = [
            {**row, **row.get("live", {}), "permissions": _readable(row["permissions"])}
            for row in rows
        ]
    output.show_rows(rows, _COLUMNS, form)


@app.command()
def show(
    space: str,
    name: str,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show it again every few seconds until Ctrl-C.")
    ] = False,
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Show a messaging user: phase, permissions, and what its open connections add up to."""
    api, tenant = login_store.connect(tenant)
    path = f"/tenants/{tenant}/address-spaces/{segment(space)}/users/{segment(name)}"
    if watch:
        output.watch(lambda: api.get(path), form)
    else:
        output.show_one(api.get(path), form)


@app.command()
@slow.change
def create(
    space: str,
    name: str,
    send: Patterns = None,
    recv: Patterns = None,
    password: Annotated[
        str, typer.Option(envvar="WAYPOST_USER_PASSWORD", help="Generated and shown if omitted.")
    ] = "",
    *,
    how: slow.How,
) -> None:
    """Create a messaging user; without --send or --recv it may use every address."""
    chosen = password or secrets.token_urlsafe(15)
    body = {"name": name, "password": chosen, "permissions": _permissions(send, recv)}
    slow.follow(
        f"creating user {name}",
        how,
        lambda api, tenant: api.post(f"{tenant}/address-spaces/{segment(space)}/users", body),
        # The API never returns a password, so only this output can show a generated one.
        once={} if password else {"password": chosen},
    )


@app.command()
@slow.change
def revoke(
    space: str,
    name: str,
    yes: Yes = False,
    *,
    how: slow.How,
) -> None:
    """Revoke a user; its open connections are closed."""
    path = f"/address-spaces/{segment(space)}/users/{segment(name)}"
    if not yes:
        output.confirm(f"Revoke user {name} and close its connections?")
    slow.follow(f"revoking user {name}", how, lambda api, tenant: api.delete(f"{tenant}{path}"))


def _readable(permissions: list[dict[str, list[str]]]) -> list[str]:
    return [
        f"{' and '.join(permission['operations'])} on {' '.join(permission['addresses'])}"
        for permission in permissions
    ]


def _permissions(send: list[str] | None, recv: list[str] | None) -> list[dict[str, list[str]]]:
    if not send and not recv:  # "#" matches every address
        return [{"addresses": ["#"], "operations": ["send", "recv"]}]
    granted = []
    if send:
        granted.append({"addresses": send, "operations": ["send"]})
    if recv:
        granted.append({"addresses": recv, "operations": ["recv"]})
    return granted
