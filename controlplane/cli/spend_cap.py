"""`waypost spend-cap`: what the tenant wants to pay at most in a month."""

from typing import Annotated

import typer

from controlplane.cli import calls, login_store, output
from controlplane.cli.options import Tenant, Yes
from controlplane.cli.output import Format, Output
from controlplane.client import models
from controlplane.client.api import spend_cap
from controlplane.client.types import UNSET
from controlplane.rest_client import Api, Refused

app = typer.Typer(
    no_args_is_help=True, help="What the tenant wants to pay at most in a month: a spend cap."
)
Amount = Annotated[int, typer.Argument(min=1, help="In minor units such as cents, with tax.")]
Action = Annotated[
    str,
    typer.Option(help="notify, throttle, withdraw_send or refuse_connections, when it is reached."),
]


@app.command()
def show(tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """Show the cap. `waypost quotas list` shows what is spent of it."""
    api, tenant = login_store.connect(tenant)
    answer = spend_cap.get_spend_cap.sync_detailed(tenant, client=api.client)
    output.show_one(calls.body(api, answer), form)


@app.command()
def simulate(
    amount: Amount,
    action: Action = "withdraw_send",
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Show when a cap would have acted last month, and what it had refused. It saves nothing."""
    api, tenant = login_store.connect(tenant)
    answer = spend_cap.simulate_spend_cap.sync_detailed(
        tenant,
        client=api.client,
        body=models.SpendCapChangeRequest.from_dict({"amount_minor": amount, "action": action}),
        idempotency_key=calls.new_key(),
    )
    found = calls.body(api, answer)
    if form.is_document:
        output.show_document(found, form)
        return
    # 31 days are too much for a table of fields; ``-o json`` has them.
    shown = {name: value for name, value in found.items() if name not in ("days", "affected")}
    affected = {f"affected {meter}": n for meter, n in found["affected"].items()}
    output.show_one({**shown, **affected}, form)


@app.command("set")
def set_cap(
    amount: Amount,
    action: Action = "withdraw_send",
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Set the cap, in place of an earlier one."""
    api, tenant = login_store.connect(tenant)
    # A PUT says which state it changes: the cap that was read, or that there is none.
    tag = _tag(api, tenant)
    answer = spend_cap.set_spend_cap.sync_detailed(
        tenant,
        client=api.client,
        body=models.SpendCapChangeRequest.from_dict({"amount_minor": amount, "action": action}),
        if_match=tag or UNSET,
        if_none_match=UNSET if tag else "*",
    )
    output.show_one(calls.body(api, answer), form)


@app.command()
def clear(yes: Yes = False, tenant: Tenant = None) -> None:
    """Remove the cap, and lift what it restricted."""
    if not yes:
        output.confirm("Remove the spend cap?")
    api, tenant = login_store.connect(tenant)
    spend_cap.remove_spend_cap.sync_detailed(tenant, client=api.client)
    output.say("there is no spend cap any more")


def _tag(api: Api, tenant: str) -> str | None:
    """Return the ETag of the cap; None if there is none."""
    try:
        return calls.tag(spend_cap.get_spend_cap.sync_detailed(tenant, client=api.client))
    except Refused as refused:
        if refused.http_status == 404:
            return None
        raise
