"""`waypost tokens`: bearer tokens for programs."""

from typing import Annotated

import typer

from controlplane.cli import login_store, output
from controlplane.cli.options import Tenant
from controlplane.cli.output import Format, Output
from controlplane.rest_client import segment

app = typer.Typer(no_args_is_help=True, help="API tokens of a tenant: list, issue, revoke.")


@app.command("list")
def list_tokens(tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """List the tokens without their secrets, which are shown only when issued."""
    api, tenant = login_store.connect(tenant)
    rows = list(api.pages(f"/tenants/{tenant}/tokens"))
    output.show_rows(rows, ["id", "name", "role", "prefix", "last_used_at", "expires_at"], form)


@app.command()
def issue(
    name: str,
    role: Annotated[str, typer.Option(help="owner, admin, developer, billing, viewer")] = "viewer",
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Issue a token that does not expire, and print it; it is shown only once."""
    api, tenant = login_store.connect(tenant)
    issued = api.post(f"/tenants/{tenant}/tokens", {"name": name, "role": role})
    output.show_one(issued, form)


@app.command()
def revoke(token: str, tenant: Tenant = None) -> None:
    """Revoke a token by its id."""
    api, tenant = login_store.connect(tenant)
    api.delete(f"/tenants/{tenant}/tokens/{segment(token)}")
    output.say(f"revoked {token}")
