"""`waypost spaces`: isolated messaging spaces."""

from typing import Annotated, Any

import typer

from controlplane.cli import login_store, output, slow
from controlplane.cli.options import Tenant, Yes
from controlplane.cli.output import Format, Output
from controlplane.core.address_types import SPACE_TYPES
from controlplane.core.errors import Missing
from controlplane.rest_client import segment

app = typer.Typer(
    no_args_is_help=True, help="Address spaces: list, create, show, trust, change-plan, delete."
)


@app.command("list")
def list_spaces(tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """List the tenant's spaces."""
    api, tenant = login_store.connect(tenant)
    rows = list(api.pages(f"/tenants/{tenant}/address-spaces"))
    output.show_rows(rows, ["name", "type", "plan", "phase", "send_withdrawn"], form)


@app.command()
@slow.change
def create(
    name: str,
    type: Annotated[
        str, typer.Option(help=f"One of: {', '.join(SPACE_TYPES)}. It never changes.")
    ] = "brokered",
    plan: Annotated[str, typer.Option(help="A space plan; default: the type's small one.")] = "",
    dead_letters: Annotated[
        bool | None,
        typer.Option(
            help="Create the address dead-letters for rejected and expired messages of new queues "
            "and topics. Default: if your plan includes one.",
        ),
    ] = None,
    *,
    how: slow.How,
) -> None:
    """Create a space and wait until clients can connect."""
    body: dict[str, Any] = {"name": name, "type": type, "plan": plan or f"{type}-small"}
    if dead_letters is not None:  # an older server does not know the field
        body["dead_letters"] = dead_letters
    slow.follow(
        f"creating space {name}",
        how,
        lambda api, tenant: api.post(f"{tenant}/address-spaces", body),
    )


@app.command()
def show(name: str, tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """Show a space: phase, endpoints, conditions, what clients must trust."""
    api, tenant = login_store.connect(tenant)
    space = api.get(f"/tenants/{tenant}/address-spaces/{segment(name)}")
    if form is Format.TABLE:
        for endpoint in space.pop("endpoints"):  # a line each instead of a nested value
            address = f"{endpoint['protocol']}://{endpoint['host']}:{endpoint['port']}"
            space[f"endpoint {endpoint['name']}"] = address
    output.show_one(space, form)


@app.command()
def trust(name: str, tenant: Tenant = None) -> None:
    """Print the certificates (PEM) that clients of the space must trust.

    If they trust its certificate already, say so instead.
    """
    api, tenant = login_store.connect(tenant)
    space = api.get(f"/tenants/{tenant}/address-spaces/{segment(name)}")
    # A set, because most endpoints have the same certificate.
    for certificate in {endpoint["certificate_pem"] for endpoint in space["endpoints"]}:
        if certificate:
            output.show_text(certificate)
        else:
            output.say(f"Clients need no file: they already trust the issuer of {name}.")


@app.command("change-plan")
@slow.change
def change_plan(name: str, plan: str, yes: Yes = False, *, how: slow.How) -> None:
    """Change a space's plan within its type: its price at once, its size by rolling restarts."""
    if not yes:
        _confirm_plan(name, plan, how.tenant)
    slow.follow(
        f"moving space {name} to {plan}",
        how,
        lambda api, tenant: api.patch(f"{tenant}/address-spaces/{segment(name)}", {"plan": plan}),
    )


def _confirm_plan(name: str, plan: str, tenant: str | None) -> None:
    api, tenant = login_store.connect(tenant)
    present = api.get(f"/tenants/{tenant}/address-spaces/{segment(name)}")["plan"]
    offers: Any = api.get("/space-plans")  # a list, and not paged: plans are few
    prices = {offer["key"]: offer["definition"]["hour_price"] for offer in offers}
    if plan not in prices:
        offered = ", ".join(prices) or "none"
        raise Missing(f"No space plan {plan} is offered; there are: {offered}.")
    output.confirm(
        f"Move space {name} from {present} to {plan}? Brokers and routers that the plan changes "
        f"restart one at a time, and it costs {prices[plan]} an hour from now on, in the currency "
        "of your tenant's plan."
    )


@app.command()
@slow.change
def delete(
    name: str,
    yes: Yes = False,
    keep_volumes: Annotated[
        bool, typer.Option("--keep-volumes", help="Keep the volumes, for the operator.")
    ] = False,
    *,
    how: slow.How,
) -> None:
    """Delete a space with all stored messages; its usage until then is still billed."""
    path = f"/address-spaces/{segment(name)}?volumes={'keep' if keep_volumes else 'delete'}"
    if not yes:
        stored = "" if keep_volumes else " and every message in it"
        output.confirm(f"Delete space {name}{stored}?")
    slow.follow(f"deleting space {name}", how, lambda api, tenant: api.delete(f"{tenant}{path}"))
