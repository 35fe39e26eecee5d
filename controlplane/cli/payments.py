"""`waypost payments`, `waypost staff payments` and `waypost staff dunning`."""

from collections.abc import Iterator
from functools import partial
from typing import Annotated

import typer

from controlplane.cli import calls, listing, login_store, output, slow, tokens
from controlplane.cli.options import Tenant, Yes
from controlplane.cli.output import Format, Output
from controlplane.client import models
from controlplane.client.api import invoices, payments, staff
from controlplane.client.models.list_payment_events_state import check_list_payment_events_state
from controlplane.client.types import UNSET
from controlplane.rest_client import Api, Json

app = typer.Typer(no_args_is_help=True, help="Pay invoices, and list payments.")
staff_app = typer.Typer(no_args_is_help=True, help="Payments of all tenants, and refunds.")
dunning_app = typer.Typer(no_args_is_help=True, help="Overdue invoices and what happens then.")
Slug = Annotated[str, typer.Argument(metavar="TENANT", help="The tenant's short name.")]


@app.command("list")
@slow.change
def list_payments(*, how: listing.TenantRows) -> None:
    """List the tenant's payments, the newest first."""
    columns = ["received_on", "invoice", "amount_minor", "source", "reference"]
    listing.show(how, calls.tenant_list(payments.list_tenant_payments.sync_detailed), columns)


@app.command()
def pay(invoice: str, tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """Open a page of the payment provider for an invoice, by number or id, and show its URL."""
    api, tenant = login_store.connect(tenant)
    answer = invoices.pay_invoice.sync_detailed(
        tenant, calls.named(invoice), client=api.client, idempotency_key=calls.new_key()
    )
    output.show_one(calls.body(api, answer), form)


@staff_app.command("list")
@slow.change
def list_all(
    tenant: Annotated[str, typer.Option(help="Only those of this tenant.")] = "",
    source: Annotated[str, typer.Option(help="Only those from here, such as stripe.")] = "",
    *,
    how: listing.Rows,
) -> None:
    """List the payments of all tenants, the newest first."""

    def read(api: Api) -> Iterator[Json]:
        page = partial(
            staff.list_all_payments.sync_detailed,
            client=api.client,
            tenant=calls.given(tenant),
            source=calls.given(source),
        )
        return calls.rows(api, page)

    columns = ["id", "tenant", "invoice", "amount_minor", "source", "reference", "received_on"]
    listing.show_shared(how, read, columns)


@staff_app.command()
def refund(
    payment: Annotated[int, typer.Argument(help="The id, as `payments list` shows it.")],
    amount: Annotated[int, typer.Argument(min=1, help="In minor units, such as cents.")],
    reason: Annotated[str, typer.Option(help="Why; the tenant reads it.")],
    reference: Annotated[
        str, typer.Option(help="The bank's reference, if you sent the money back.")
    ] = "",
    reopen: Annotated[
        bool, typer.Option("--reopen", help="What exceeds the tenant's credit is due again.")
    ] = False,
    yes: Yes = False,
) -> None:
    """Send money of a payment back. The tenant's credit pays it first."""
    if not yes:
        output.confirm(f"Refund {amount} minor units of payment {payment}?")
    body = {
        "amount_minor": amount,
        "reason": reason,
        "reference": reference,
        "reopens": reopen,
    }
    api = login_store.connect_staff()
    answer = staff.refund_payment.sync_detailed(
        payment,
        client=api.client,
        body=models.RefundCreateRequest.from_dict(body),
        idempotency_key=calls.new_key(),
    )
    output.show_one(calls.body(api, answer), Format.TABLE)


@staff_app.command()
@slow.change
def events(
    state: Annotated[str, typer.Option(help="Only those in this state, such as refused.")] = "",
    *,
    how: listing.Rows,
) -> None:
    """List what payment providers reported, the newest first; refused events need a look."""

    def read(api: Api) -> Iterator[Json]:
        chosen = check_list_payment_events_state(state) if state else UNSET
        page = partial(staff.list_payment_events.sync_detailed, client=api.client, state=chosen)
        return calls.rows(api, page)

    columns = ["received_at", "provider", "kind", "state", "invoice", "message"]
    listing.show_shared(how, read, columns)


@dunning_app.command("list")
@slow.change
def overdue(*, how: listing.Rows) -> None:
    """List the overdue invoices of all tenants, the oldest first."""
    columns = ["tenant", "number", "due_at", "outstanding_minor", "limit_at", "suspend_at", "pause"]

    def read(api: Api) -> Iterator[Json]:
        return calls.rows(
            api, partial(staff.list_overdue_invoices.sync_detailed, client=api.client)
        )

    listing.show_shared(how, read, columns)


@dunning_app.command()
def pause(
    slug: Slug,
    reason: Annotated[str, typer.Option(help="Why, for the audit log.")],
    until: Annotated[
        str, typer.Option(help="When it ends: 30d, a date or a time; never.")
    ] = "never",
    form: Output = Format.TABLE,
) -> None:
    """Let a tenant's unpaid invoices rest: no reminders, and clients send and connect."""
    api = login_store.connect_staff()
    body = {"reason": reason, "until": tokens.expiry(until)}
    answer = staff.pause_dunning.sync_detailed(
        calls.named(slug),
        client=api.client,
        body=models.PauseRequest.from_dict(body),
        idempotency_key=calls.new_key(),
    )
    output.show_one(calls.body(api, answer), form)


@dunning_app.command()
def resume(slug: Slug) -> None:
    """End the pause of a tenant: it is told again before anything happens."""
    api = login_store.connect_staff()
    staff.resume_dunning.sync_detailed(
        calls.named(slug), client=api.client, idempotency_key=calls.new_key()
    )
    output.say(f"dunning of {slug} goes on")
