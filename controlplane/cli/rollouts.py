"""`waypost rollouts`: show and control the rollout of a release to all spaces (operators)."""

from typing import Annotated

import typer

from controlplane.cli import calls, listing, login_store, output, slow
from controlplane.cli.options import Yes
from controlplane.cli.output import Format, Output
from controlplane.client import models
from controlplane.client.api import staff
from controlplane.rest_client import Json

app = typer.Typer(
    no_args_is_help=True, help="Rollouts of releases of the brokers and routers (operators)."
)
Reason = Annotated[str, typer.Option(help="Why, for the audit log.")]


@app.command("list")
@slow.change
def list_rollouts(*, how: listing.Rows) -> None:
    """List every rollout, the newest first."""
    columns = ["release", "state", "started_at", "ended_at", "reason"]
    listing.show_shared(
        how,
        calls.shared_list(staff.list_rollouts.sync_detailed),
        columns,
        lambda row: {**row, "release": row["release"]["number"]},
    )


@app.command()
def show(form: Output = Format.TABLE) -> None:
    """Show the last rollout: its progress, and which spaces failed."""
    api = login_store.connect_staff()
    _show(calls.body(api, staff.get_rollout.sync_detailed(client=api.client)), form)


@app.command()
def pause(reason: Reason = "", form: Output = Format.TABLE) -> None:
    """Pause the rollout: no further space changes; those that are changing now are completed."""
    _steer("pause", reason, form)


@app.command()
def resume(reason: Reason = "", form: Output = Format.TABLE) -> None:
    """Continue the rollout after a pause or a stop; failed spaces get another attempt."""
    _steer("resume", reason, form)


@app.command()
def back(reason: Reason = "", yes: Yes = False, form: Output = Format.TABLE) -> None:
    """Begin a rollout that brings all spaces back to the previous release."""
    if not yes:
        output.confirm("Bring every space back to the previous release?")
    _steer("roll-back", reason, form)


def _steer(verb: str, reason: str, form: Format) -> None:
    # The API answers with the rollout after the change.
    api = login_store.connect_staff()
    answer = staff.steer_rollout.sync_detailed(
        verb,
        client=api.client,
        body=models.SteerRequest(reason=reason),
        idempotency_key=calls.new_key(),
    )
    _show(calls.body(api, answer), form)


def _show(rollout: Json, form: Format) -> None:
    if form.is_document:
        output.show_document(rollout, form)
        return
    # Nested values: they get lines and a table of their own.
    failures = rollout.pop("failures")
    progress = rollout.pop("progress")
    release, former = rollout["release"], rollout["former"]
    rest = ", ".join(f"{progress[name]} {name}" for name in ("changing", "waiting", "failed"))
    shown = {
        "release": release["number"],
        "broker_image": release["broker_image"],
        "router_image": release["router_image"] or None,
        "former_release": former["number"] if former else None,
        **{name: rollout[name] for name in ("state", "reason", "started_at", "ended_at")},
        "spaces": f"{progress['done']} of {progress['total']} run it; {rest}",
    }
    output.show_one(shown, form)
    if failures and form.is_table:
        output.show_rows(failures, ["tenant", "space", "reason"], form)
