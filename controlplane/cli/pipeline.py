"""`waypost pipeline`: how samples become usage: its lag, its runs, refused samples (operators)."""

from functools import partial
from typing import Annotated

import typer

from controlplane.cli import calls, listing, login_store, output, slow
from controlplane.cli.output import Format, Output
from controlplane.client.api import staff
from controlplane.client.models.list_lakehouse_runs_job import check_list_lakehouse_runs_job
from controlplane.client.models.list_quarantined_samples_reason import (
    check_list_quarantined_samples_reason,
)
from controlplane.client.types import UNSET

app = typer.Typer(
    no_args_is_help=True, help="How samples become usage: lag, runs, quarantine (operators)."
)


@app.command()
def show(form: Output = Format.TABLE) -> None:
    """Show how old usage is, what waits to land, and the newest runs."""
    api = login_store.connect_staff()
    found = calls.body(api, staff.get_pipeline.sync_detailed(client=api.client))
    if form.is_document:
        output.show_document(found, form)
        return
    # One flat row. Before the first run there is no newest one, and nothing was housekept.
    waiting, newest, kept = found["waiting"], found["newest"] or {}, found["housekeeping"] or {}
    shown = {
        "as_of": found["as_of"],
        "lag_seconds": found["lag_seconds"],
        "waiting_batches": waiting["batches"],
        "waiting_samples": waiting["samples"],
        "waiting_since": waiting["oldest_at"],
        "last_run": newest.get("started_at"),
        "last_error": newest.get("error_code") or None,
        "last_success": (found["succeeded"] or {}).get("started_at"),
        "last_housekeeping": kept.get("started_at"),
        "quarantined_in_24_hours": found["quarantined_in_24_hours"],
    }
    output.show_one(shown, form)


@app.command()
@slow.change
def runs(
    job: Annotated[str, typer.Option(help="pipeline or housekeeping; without it all.")] = "",
    *,
    how: listing.Rows,
) -> None:
    """List the runs of the jobs in the last 40 days, the newest first."""
    wanted = check_list_lakehouse_runs_job(job) if job else UNSET
    page = partial(staff.list_lakehouse_runs.sync_detailed, job=wanted)
    columns = [
        "started_at", "job", "seconds", "cpu_seconds", "samples", "new_files", "quarantined",
        "as_of", "error_code",
    ]  # fmt: skip
    listing.show_shared(how, calls.shared_list(page), columns)


@app.command()
@slow.change
def quarantine(
    reason: Annotated[str, typer.Option(help="null, negative, time, date or fall.")] = "",
    *,
    how: listing.Rows,
) -> None:
    """List the newest samples that were refused, or whose counter fell, with the reason."""
    wanted = check_list_quarantined_samples_reason(reason) if reason else UNSET
    page = partial(staff.list_quarantined_samples.sync_detailed, reason=wanted)
    columns = ["taken_at", "reason", "source", "boot_id", "seq", "address", "detail"]
    listing.show_shared(how, calls.shared_list(page), columns)
