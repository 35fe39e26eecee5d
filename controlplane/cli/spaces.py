"""`waypost spaces`: isolated messaging spaces."""

from functools import partial
from typing import Annotated, Any

import typer

from controlplane.cli import calls, labels, listing, login_store, output, plans, slow
from controlplane.cli.names import SpaceName
from controlplane.cli.options import Tenant, Yes
from controlplane.cli.output import Format, Output
from controlplane.client import models
from controlplane.client.api import address_spaces, plan_subscription
from controlplane.client.types import Response
from controlplane.core.address_types import ADVISED_SPACE_TYPE, SPACE_TYPES
from controlplane.core.errors import Missing
from controlplane.rest_client import Api, Json

app = typer.Typer(
    no_args_is_help=True,
    help="Address spaces: list, create, show, trust, label, change-plan, delete.",
)


@app.command("list")
@slow.change
def list_spaces(*, how: listing.TenantRows) -> None:
    """List the tenant's spaces."""
    columns = ["name", "type", "plan", "phase", "send_withdrawn", "labels"]
    read = calls.tenant_list(address_spaces.list_spaces.sync_detailed)
    listing.show(how, read, columns, labels.shown)


@app.command()
@slow.change
def create(
    name: str,
    type: Annotated[
        str,
        typer.Option(
            help=f"One of: {', '.join(SPACE_TYPES)}. It never changes. Choose standard for more "
            "connections, queues over several brokers, or direct messages between programs.",
        ),
    ] = ADVISED_SPACE_TYPE,
    plan: Annotated[str, typer.Option(help="A space plan; default: the type's cheapest.")] = "",
    dead_letters: Annotated[
        bool | None,
        typer.Option(
            help="Create the address dead-letters for rejected and expired messages of new queues "
            "and topics. Default: if your plan includes one.",
        ),
    ] = None,
    label: labels.Labels = None,
    *,
    how: slow.How,
) -> None:
    """Create a space and wait until clients can connect."""
    wanted: dict[str, Any] = {"name": name, "type": type, **labels.given(label)}
    if dead_letters is not None:  # an older server does not know the field
        wanted["dead_letters"] = dead_letters

    def post(api: Api, tenant: str) -> Json:
        chosen = plan or plans.default_space_plan(api, tenant, type)
        answer = address_spaces.create_space.sync_detailed(
            tenant,
            client=api.client,
            body=models.AddressSpaceCreateRequest.from_dict({**wanted, "plan": chosen}),
            idempotency_key=calls.new_key(),
        )
        return calls.body(api, answer)

    slow.follow(f"creating space {name}", how, post)


@app.command()
def show(
    name: SpaceName,
    watch: listing.Watch = False,
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Show a space: phase, endpoints, conditions, what clients must trust."""
    api, tenant = login_store.connect(tenant)

    def read() -> Json:
        space = get(api, tenant, name)
        if form.is_table:
            for endpoint in space.pop("endpoints"):  # a line each instead of a nested value
                address = f"{endpoint['protocol']}://{endpoint['host']}:{endpoint['port']}"
                space[f"endpoint {endpoint['name']}"] = address
        return space

    if watch:
        output.watch(read, form)
    output.show_one(read(), form)


@app.command()
def trust(name: SpaceName, tenant: Tenant = None) -> None:
    """Print the certificates (PEM) that clients of the space must trust.

    If they trust its certificate already, say so instead.
    """
    api, tenant = login_store.connect(tenant)
    space = get(api, tenant, name)
    # A set, because most endpoints have the same certificate.
    for certificate in {endpoint["certificate_pem"] for endpoint in space["endpoints"]}:
        if certificate:
            output.show_text(certificate)
        else:
            output.say(f"Clients need no file: they already trust the issuer of {name}.")


@app.command()
def label(
    name: SpaceName,
    changes: labels.Changes,
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Set or remove labels of a space, such as team=shop; costs can be divided by them."""
    calls.named(name)

    def write(api: Api, slug: str, wanted: dict[str, str], tag: str) -> Response[Any]:
        body = models.PatchedAddressSpaceChangeRequest.from_dict({"labels": wanted})
        return address_spaces.change_space_plan.sync_detailed(
            slug, name, client=api.client, body=body, if_match=tag
        )

    read = partial(_answer, name=name)
    labels.change(read, write, changes, tenant, form)


@app.command("change-plan")
@slow.change
def change_plan(name: SpaceName, plan: str, yes: Yes = False, *, how: slow.How) -> None:
    """Change a space's plan within its type: its price at once, its size by rolling restarts."""
    if not yes:
        _confirm_plan(name, plan, how.tenant)

    def patch(api: Api, tenant: str) -> Json:
        present = _answer(api, tenant, name)
        answer = address_spaces.change_space_plan.sync_detailed(
            tenant,
            name,
            client=api.client,
            body=models.PatchedAddressSpaceChangeRequest(plan=plan),
            if_match=calls.tag(present),
        )
        return calls.body(api, answer)

    slow.follow(f"moving space {name} to {plan}", how, patch)


def _confirm_plan(name: str, plan: str, tenant: str | None) -> None:
    api, tenant = login_store.connect(tenant)
    present = get(api, tenant, name)["plan"]
    # The price in the currency of the tenant's invoices.
    answer = plan_subscription.get_plan_subscription.sync_detailed(tenant, client=api.client)
    currency = calls.body(api, answer).get("currency", "")
    prices = {
        one["key"]: plans.hour_price(one["definition"], currency) for one in plans.space_offers(api)
    }
    # The API would refuse it later. The question could name no price.
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
    name: SpaceName,
    yes: Yes = False,
    keep_volumes: Annotated[
        bool, typer.Option("--keep-volumes", help="Keep the volumes, for the operator.")
    ] = False,
    *,
    how: slow.How,
) -> None:
    """Delete a space with all stored messages; its usage until then is still billed."""
    calls.named(name)
    volumes: models.DeleteSpaceVolumes = "keep" if keep_volumes else "delete"
    if not yes:
        stored = "" if keep_volumes else " and every message in it"
        output.confirm(f"Delete space {name}{stored}?")

    def remove(api: Api, tenant: str) -> Json:
        answer = address_spaces.delete_space.sync_detailed(
            tenant, name, client=api.client, volumes=volumes
        )
        return calls.body(api, answer)

    slow.follow(f"deleting space {name}", how, remove)


def get(api: Api, tenant: str, name: str) -> Json:
    """Return a space as the API shows it."""
    return calls.body(api, _answer(api, tenant, name))


def _answer(api: Api, tenant: str, name: str) -> "Response[models.AddressSpace]":
    return address_spaces.get_space.sync_detailed(tenant, calls.named(name), client=api.client)
