"""`waypost staff credit-notes`: operators list, show, download and verify those of all tenants."""

from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

import typer

from controlplane.cli import calls, credit, instants, listing, login_store, output, slow
from controlplane.cli.output import Format, Output
from controlplane.client.api import staff
from controlplane.client.types import UNSET
from controlplane.core.errors import WaypostError
from controlplane.rest_client import Api, Json
from plans.invoice_formats import INFO

app = typer.Typer(no_args_is_help=True, help="Credit notes of all tenants.")
_COLUMNS = [
    "number", "tenant", "invoice", "issued_at", "net_minor", "tax_minor", "total_minor", "reason",
]  # fmt: skip
Number = Annotated[str, typer.Argument(help="The number of the credit note.")]


class Differs(WaypostError):
    """A credit note is not what its invoice gives when it is computed again."""

    code = "credit_note.differs"


@app.command("list")
@slow.change
def list_notes(
    since: Annotated[str, typer.Option(help=f"Issued from then on. {instants.WHEN}")] = "",
    until: Annotated[str, typer.Option(help=instants.UNTIL)] = "",
    *,
    how: listing.Rows,
) -> None:
    """List the credit notes of all tenants, the newest first."""

    def read(api: Api) -> Iterator[Json]:
        page = partial(
            staff.list_all_credit_notes.sync_detailed,
            client=api.client,
            since=instants.instant(since) if since else UNSET,
            until=instants.instant(until) if until else UNSET,
        )
        return calls.rows(api, page)

    listing.show_shared(how, read, _COLUMNS)


@app.command()
def show(number: Number, form: Output = Format.TABLE) -> None:
    """Show a credit note of any tenant, with its lines."""
    api = login_store.connect_staff()
    answer = staff.get_credit_note_staff.sync_detailed(calls.named(number), client=api.client)
    note = calls.body(api, answer)
    if form.is_document:
        output.show_document(note, form)
        return
    document = note.pop("document")
    output.show_one(note, form)
    if form.is_table:
        lines = [{**line, "currency": note["currency"]} for line in document["lines"]]
        output.show_rows(lines, ["invoice_position", "description", "amount_minor"], form)


@app.command()
def download(number: Number, file: credit.NoteFile) -> None:
    """Write a credit note to a file: as PDF, Factur-X, UBL, CII or JSON."""
    kind = credit.kind_of_note(file)  # refuses a wrong name before anything is requested
    api = login_store.connect_staff()
    # The registry of formats names the function of the generated client.
    operation: Any = getattr(staff, INFO[kind].staff_note_operation)
    answer = operation.sync_detailed(calls.named(number), client=api.client)
    file.write_bytes(answer.content)
    output.say(f"wrote {file}")


@app.command()
def verify(number: Number, form: Output = Format.TABLE) -> None:
    """Compute a credit note again from its invoice; the exit code is 1 if anything differs."""
    api = login_store.connect_staff()
    answer = staff.verify_credit_note_staff.sync_detailed(
        calls.named(number), client=api.client, idempotency_key=calls.new_key()
    )
    found = calls.body(api, answer)
    if not found["same"]:
        raise Differs(f"Credit note {number} differs: {'; '.join(found['differences'])}.")
    if form.is_table:
        output.show_text(f"credit note {number}: document, amounts and ledger are the same")
    else:
        output.show_one(found, form)
