"""`waypost staff invoices`: what operators do with the invoices of all tenants."""

from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

import typer

from controlplane.cli import billing, calls, listing, login_store, output, slow
from controlplane.cli.options import Reason, Slug, Yes
from controlplane.cli.output import Format, Output
from controlplane.client import models
from controlplane.client.api import staff
from controlplane.client.models.list_all_invoices_state import check_list_all_invoices_state
from controlplane.client.types import UNSET
from controlplane.rest_client import Api, Json, segment
from plans.invoice_formats import INFO

app = typer.Typer(no_args_is_help=True, help="Invoices of all tenants.")
_COLUMNS = [
    "id", "tenant", "number", "state", "starts_at", "ends_at", "total_minor", "outstanding_minor",
]  # fmt: skip
Invoice = Annotated[str, typer.Argument(help="The number or the id of the invoice.")]


@app.command("list")
@slow.change
def list_invoices(
    state: Annotated[str, typer.Option(help="Only those in this state, such as held.")] = "",
    *,
    how: listing.Rows,
) -> None:
    """List the invoices of all tenants, the newest period first."""

    def read(api: Api) -> Iterator[Json]:
        chosen = check_list_all_invoices_state(state) if state else UNSET
        page = partial(staff.list_all_invoices.sync_detailed, client=api.client, state=chosen)
        return calls.rows(api, page)

    listing.show_shared(how, read, _COLUMNS)


@app.command()
def show(invoice: Invoice, form: Output = Format.TABLE) -> None:
    """Show an invoice of any tenant, with its lines."""
    api = login_store.connect_staff()
    answer = staff.get_invoice_staff.sync_detailed(calls.named(invoice), client=api.client)
    billing.show_invoice(calls.body(api, answer), form)


@app.command()
def download(invoice: Invoice, file: billing.File, kind: billing.Kind = None) -> None:
    """Write an invoice to a file: as PDF, Factur-X, UBL, CII or JSON, or its lines as CSV."""
    kind = billing.kind_of(file, kind)  # refuses a wrong name before anything is requested
    api = login_store.connect_staff()
    # The registry of formats names the function of the generated client.
    operation: Any = getattr(staff, INFO[kind].staff_operation)
    answer = operation.sync_detailed(calls.named(invoice), client=api.client)
    file.write_bytes(answer.content)
    output.say(f"wrote {file}")


@app.command()
@slow.change
def verify(invoice: Invoice, *, files: billing.Files = False, how: slow.StaffHow) -> None:
    """Recompute an invoice from the samples behind it; the exit code is 1 if anything differs."""

    def post(api: Api) -> Json:
        answer = staff.verify_invoice_staff.sync_detailed(
            calls.named(invoice),
            client=api.client,
            idempotency_key=calls.new_key(),
            files="true" if files else UNSET,
        )
        return calls.body(api, answer)

    below = f"/staff/invoices/{segment(invoice)}/verifications"
    slow.follow_staff(f"invoice {invoice}", how, post, below=below, done=billing.VERIFIED)


@app.command()
def approve(invoice: str, reason: Reason = "", form: Output = Format.TABLE) -> None:
    """Approve a draft invoice, by its id."""
    api = login_store.connect_staff()
    answer = staff.approve_invoice.sync_detailed(
        calls.named(invoice),
        client=api.client,
        body=models.ApproveRequest(reason=reason),
        idempotency_key=calls.new_key(),
    )
    output.show_one(calls.body(api, answer), form)


@app.command()
def issue(invoice: str, form: Output = Format.TABLE) -> None:
    """Issue an approved invoice, by its id: it gets its number."""
    api = login_store.connect_staff()
    answer = staff.issue_invoice.sync_detailed(
        calls.named(invoice), client=api.client, idempotency_key=calls.new_key()
    )
    output.show_one(calls.body(api, answer), form)


@app.command("close-now")
def close_now(slug: Slug, yes: Yes = False, form: Output = Format.TABLE) -> None:
    """End the running period of a tenant at this instant, and begin to close it."""
    if not yes:
        output.confirm(f"End the billing period of {slug} now? The next one begins at once.")
    api = login_store.connect_staff()
    answer = staff.close_tenant_running_period_now.sync_detailed(
        client=api.client, body=models.CloseNowRequest(tenant=slug), idempotency_key=calls.new_key()
    )
    _say_closing(calls.body(api, answer), form)


@app.command("close")
def close_again(invoice: str, form: Output = Format.TABLE) -> None:
    """Begin to close the period of a held or draft invoice again, by its id."""
    api = login_store.connect_staff()
    answer = staff.close_held_or_draft_invoice_again.sync_detailed(
        calls.named(invoice), client=api.client, idempotency_key=calls.new_key()
    )
    _say_closing(calls.body(api, answer), form)


@app.command()
def release(invoice: str, reason: Reason, form: Output = Format.TABLE) -> None:
    """Release a held invoice whose samples are gone for good, by its id, and close it again."""
    api = login_store.connect_staff()
    answer = staff.release_held_invoice.sync_detailed(
        calls.named(invoice),
        client=api.client,
        body=models.ReleaseRequest(reason=reason),
        idempotency_key=calls.new_key(),
    )
    _say_closing(calls.body(api, answer), form)


@app.command()
def pay(
    invoice: Invoice,
    amount: Annotated[int, typer.Argument(min=1, help="In minor units, such as cents.")],
    reference: Annotated[str, typer.Option(help="The bank's reference: a payment counts once.")],
    received: Annotated[str, typer.Option(help="The day, such as 2026-11-30.")],
    surplus: Annotated[
        bool, typer.Option("--keep-surplus", help="What exceeds the amount due becomes credit.")
    ] = False,
    form: Output = Format.TABLE,
) -> None:
    """Record a payment of an issued invoice."""
    body = {
        "amount_minor": amount,
        "reference": reference,
        "received_on": received,
        "surplus_to_credit": surplus,
    }
    api = login_store.connect_staff()
    answer = staff.record_payment.sync_detailed(
        calls.named(invoice),
        client=api.client,
        body=models.PaymentCreateRequest.from_dict(body),
        idempotency_key=calls.new_key(),
    )
    output.show_one(calls.body(api, answer), form)


@app.command("credit-note")
def credit_note(
    invoice: Invoice,
    lines: Annotated[
        list[str], typer.Option("--line", help="POSITION=AMOUNT before tax, in minor units.")
    ],
    reason: Annotated[str, typer.Option(help="Why; the credit note prints it.")],
    form: Output = Format.TABLE,
) -> None:
    """Take back parts of lines of an issued invoice."""
    api = login_store.connect_staff()
    body = {"reason": reason, "lines": [_line(line) for line in lines]}
    answer = staff.issue_credit_note.sync_detailed(
        calls.named(invoice),
        client=api.client,
        body=models.CreditNoteCreateRequest.from_dict(body),
        idempotency_key=calls.new_key(),
    )
    output.show_one(calls.body(api, answer), form)


def _line(text: str) -> dict[str, int]:
    position, _, amount = text.partition("=")
    if not (position.isdecimal() and amount.isdecimal()):
        raise typer.BadParameter(f"{text!r} is not POSITION=AMOUNT, such as 1=500.")
    return {"position": int(position), "amount_minor": int(amount)}


@app.command()
def void(
    invoice: Invoice,
    reason: Annotated[str, typer.Option(help="Why; the credit note prints it.")],
    yes: Yes = False,
    form: Output = Format.TABLE,
) -> None:
    """Take back all that is left of an issued invoice."""
    if not yes:
        output.confirm(f"Void {invoice}? It cannot be undone.")
    api = login_store.connect_staff()
    answer = staff.void_invoice.sync_detailed(
        calls.named(invoice),
        client=api.client,
        body=models.InvoiceReasonRequest(reason=reason),
        idempotency_key=calls.new_key(),
    )
    output.show_one(calls.body(api, answer), form)


@app.command()
def replace(
    invoice: Invoice,
    reason: Annotated[str, typer.Option(help="Why; the credit note prints it.")],
    yes: Yes = False,
    form: Output = Format.TABLE,
) -> None:
    """Void an issued invoice, and issue a new one with today's billing details and tax."""
    api, body = login_store.connect_staff(), {"reason": reason}
    if not yes:
        answer = staff.preview_replacement_invoice.sync_detailed(
            calls.named(invoice), client=api.client
        )
        found = calls.body(api, answer)
        buyer = found["document"]["buyer"]
        output.confirm(
            f"Replace {invoice}? The new invoice is to {buyer['name'] or buyer['organisation']}, "
            f"tax id {buyer['tax_id'] or 'none'}: net {found['net_minor']}, tax "
            f"{found['tax_minor']}, total {found['total_minor']}, in minor units of "
            f"{found['currency']}. It cannot be undone."
        )
        body["confirmed"] = found["sha256"]
    answer_made = staff.replace_invoice.sync_detailed(
        calls.named(invoice),
        client=api.client,
        body=models.ReplacementCreateRequest.from_dict(body),
        idempotency_key=calls.new_key(),
    )
    output.show_one(calls.body(api, answer_made), form)


@app.command("write-off")
def write_off(
    invoice: Invoice, reason: Reason, yes: Yes = False, form: Output = Format.TABLE
) -> None:
    """Write an overdue invoice off to bad debt."""
    if not yes:
        output.confirm(f"Write off {invoice}? It cannot be undone.")
    api = login_store.connect_staff()
    answer = staff.write_off_invoice.sync_detailed(
        calls.named(invoice),
        client=api.client,
        body=models.InvoiceReasonRequest(reason=reason),
        idempotency_key=calls.new_key(),
    )
    output.show_one(calls.body(api, answer), form)


def _say_closing(operation: Json, form: Format) -> None:
    # An operator may not follow an operation of a tenant, so there is nothing to wait for.
    output.show_one(operation, form)
    output.say("`waypost staff invoices list` shows when the invoice is a draft or held")
