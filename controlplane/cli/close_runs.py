"""`waypost staff close-runs`: close many billing periods at once, approve and issue the drafts."""

from typing import Annotated

import typer

from controlplane.cli import calls, listing, login_store, output, slow
from controlplane.cli.options import Yes
from controlplane.cli.output import Format, Output
from controlplane.client import models
from controlplane.client.api import staff
from controlplane.rest_client import Json

app = typer.Typer(no_args_is_help=True, help="Close runs: many billing periods closed at once.")
_Run = Annotated[str, typer.Argument(metavar="RUN", help="The id of the run.")]
_COLUMNS = ["id", "created_at", "finished_at", "requested_by", "step", "invoices", "left", "held"]


@app.command("list")
@slow.change
def list_runs(*, how: listing.Rows) -> None:
    """List the close runs, newest first."""
    listing.show_shared(how, calls.shared_list(staff.list_close_runs.sync_detailed), _COLUMNS)


@app.command()
def start(
    tenants: Annotated[
        list[str] | None, typer.Option("--tenant", help="Only this tenant; may be repeated.")
    ] = None,
    skip_grace: Annotated[
        bool, typer.Option("--skip-grace", help="Also periods whose grace period is not over.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Held invoices again, and no new periods.")
    ] = False,
    form: Output = Format.TABLE,
) -> None:
    """Begin to close all billing periods that are due."""
    api = login_store.connect_staff()
    body = {"tenants": tenants or [], "skip_grace": skip_grace, "again": again}
    answer = staff.start_close_run.sync_detailed(
        client=api.client,
        body=models.CloseRunCreateRequest.from_dict(body),
        idempotency_key=calls.new_key(),
    )
    _show(calls.body(api, answer), form)


@app.command()
def show(run: _Run, form: Output = Format.TABLE) -> None:
    """Show how far a run is, what its invoices add up to, and why some are held."""
    api = login_store.connect_staff()
    answer = staff.get_close_run.sync_detailed(calls.named(run), client=api.client)
    _show(calls.body(api, answer), form)


@app.command()
def approve(
    run: _Run,
    reason: Annotated[str, typer.Option(help="Why, for the audit log.")] = "",
    yes: Yes = False,
    form: Output = Format.TABLE,
) -> None:
    """Begin to approve all drafts of a run."""
    if not yes:
        output.confirm(f"Approve all drafts of {run}?")
    api = login_store.connect_staff()
    answer = staff.approve_drafts_close_run.sync_detailed(
        calls.named(run),
        client=api.client,
        body=models.ApproveRequest(reason=reason),
        idempotency_key=calls.new_key(),
    )
    _show(calls.body(api, answer), form)


@app.command()
def issue(run: _Run, yes: Yes = False, form: Output = Format.TABLE) -> None:
    """Begin to issue all approved invoices of a run: each gets its number."""
    if not yes:
        output.confirm(f"Issue all approved invoices of {run}? It cannot be undone.")
    api = login_store.connect_staff()
    answer = staff.issue_approved_invoices_close_run.sync_detailed(
        calls.named(run), client=api.client, idempotency_key=calls.new_key()
    )
    _show(calls.body(api, answer), form)


def _show(run: Json, form: Format) -> None:
    if form.is_document:
        output.show_document(run, form)
        return
    # Nested values get lines and tables of their own.
    tables = {name: run.pop(name) for name in ("totals", "held_reasons", "skipped")}
    action, states = run.pop("action"), run.pop("states")
    counted = ", ".join(f"{n} {state}" for state, n in states.items())
    # Null before the first approval or issue of the run.
    acted = ""
    if action:
        failed = f", {len(action['failures'])} failed" if action["failures"] else ""
        acted = f"{action['kind']}: {action['done']} of {action['invoices']}{failed}"
    output.show_one({**run, "states": counted, "action": acted}, form)
    if not form.is_table:
        return
    if tables["totals"]:
        columns = ["currency", "invoices", "net_minor", "tax_minor", "total_minor"]
        output.show_rows(tables["totals"], columns, form)
    if tables["held_reasons"]:
        output.show_rows(tables["held_reasons"], ["code", "invoices", "message"], form)
    if tables["skipped"]:
        output.show_rows(tables["skipped"], ["tenant", "code", "message"], form)
