"""`waypost staff prices`: drafts of catalogs, their publication, and back-tests, by the API."""

import time
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from controlplane.cli import calls, listing, login_store, output, slow
from controlplane.cli.instants import WHEN, instant
from controlplane.cli.options import NoWait
from controlplane.cli.output import Format, Output
from controlplane.client import models
from controlplane.client.api import staff
from controlplane.core.errors import Invalid
from controlplane.rest_client import Api, Json

app = typer.Typer(no_args_is_help=True, help="The catalog: drafts, publication, back-tests.")
Draft = Annotated[str, typer.Argument(metavar="DRAFT", help="The id of a draft.")]
_CURRENT = "current"  # no id of a draft: those begin with `cat_`
DraftOrCurrent = Annotated[
    str,
    typer.Argument(
        metavar="DRAFT", help="The id of a draft, or `current` for the catalog in force."
    ),
]
Effective = Annotated[
    datetime | None,
    typer.Option(help=f"When it takes effect; now by default. {WHEN}", parser=instant),
]
AtOnce = Annotated[
    bool,
    typer.Option(
        "--at-once", help="Subscriptions that follow move after the notice, within a month."
    ),
]
_DRAFT_COLUMNS = ["id", "state", "note", "created_at", "effective_at", "number"]
_SUM_COLUMNS = [
    "plan", "n_tenants", "present_minor", "draft_minor", "difference_minor", "followers_minor",
    "n_less", "n_more", "currency",
]  # fmt: skip
_MONTH_COLUMNS = [
    "tenant", "month_starts_at", "plan", "follows", "present_net_minor", "draft_net_minor",
    "difference_minor", "currency",
]  # fmt: skip
_POLL_SECONDS = 1.0


@app.command()
def draft(
    file: Path,
    note: Annotated[str, typer.Option(help="For other staff.")] = "",
    form: Output = Format.TABLE,
) -> None:
    """Store a catalog from a YAML file as a draft, and show what it changes in words."""
    api = login_store.connect_staff()
    answer = staff.prepare_catalog.sync_detailed(
        client=api.client,
        body=models.DraftCreateRequest(yaml=text_of(file), note=note),
        idempotency_key=calls.new_key(),
    )
    _show_draft(calls.body(api, answer), form)


@app.command()
@slow.change
def drafts(*, how: listing.Rows) -> None:
    """List the drafts, also published and canceled ones, the newest first."""
    read = calls.shared_list(staff.list_catalog_drafts.sync_detailed)
    listing.show_shared(how, read, _DRAFT_COLUMNS)


@app.command()
@slow.change
def versions(*, how: listing.Rows) -> None:
    """List the published versions of the catalog, the newest first."""
    read = calls.shared_list(staff.list_catalog_versions.sync_detailed)
    listing.show_shared(how, read, ["number", "published_at", "published_by", "digest"])


@app.command()
def show(id: DraftOrCurrent, form: Output = Format.TABLE) -> None:
    """Show a draft, and what it changes; `current` prints the catalog in force as YAML."""
    api = login_store.connect_staff()
    if id == _CURRENT:
        _show_catalog(calls.body(api, staff.get_catalog.sync_detailed(client=api.client)), form)
        return
    answer = staff.get_catalog_draft.sync_detailed(calls.named(id), client=api.client)
    _show_draft(calls.body(api, answer), form)


@app.command()
def publish(
    id: Draft, effective: Effective = None, at_once: AtOnce = False, form: Output = Format.TABLE
) -> None:
    """Publish a draft now, or schedule it."""
    api = login_store.connect_staff()
    at = effective.isoformat() if effective else None
    body = {"effective_at": at, "at_period": not at_once}
    answer = staff.publish_catalog_draft.sync_detailed(
        calls.named(id),
        client=api.client,
        body=models.TimingRequest.from_dict(body),
        idempotency_key=calls.new_key(),
    )
    _show_draft(calls.body(api, answer), form)


@app.command()
def cancel(id: Draft, form: Output = Format.TABLE) -> None:
    """Cancel a draft that is not published. Tenants that got notice get another one."""
    api = login_store.connect_staff()
    answer = staff.cancel_catalog_draft.sync_detailed(
        calls.named(id), client=api.client, idempotency_key=calls.new_key()
    )
    _show_draft(calls.body(api, answer), form)


@app.command("back-test")
def back_test(
    id: Draft,
    months: Annotated[int, typer.Option(min=1, help="Ended billing months to rate.")] = 1,
    usage: Annotated[
        str, typer.Option(help="`copy`: that in the database; `lakehouse`: summed by Spark.")
    ] = "copy",
    no_wait: NoWait = False,
    form: Output = Format.TABLE,
) -> None:
    """Rate past months of all tenants under a draft; show the sums by plan, then each tenant."""
    api = login_store.connect_staff()
    answer = staff.request_back_test.sync_detailed(
        calls.named(id),
        client=api.client,
        body=models.BackTestCreateRequest.from_dict({"months": months, "usage": usage}),
        idempotency_key=calls.new_key(),
    )
    found = calls.body(api, answer)
    if not no_wait:
        found = _finished(api, found)
    if form.is_document:
        output.show_document(found, form)
        return
    if found["state"] == "succeeded" and not found["sums"] and not found["held"]:
        output.say("Done. No tenant has a month that has ended.")
        return
    total = [{**row, "plan": "all plans"} for row in found["sums"]]
    output.show_rows([*found["plans"], *total], _SUM_COLUMNS, form)
    if found["held"]:
        output.show_rows(found["held"], ["tenant", "reason"], form)
    page = partial(staff.list_back_test_months.sync_detailed, found["id"], client=api.client)
    output.show_rows(list(calls.rows(api, page)), _MONTH_COLUMNS, form)


def _finished(api: Api, found: Json) -> Json:
    """Wait until a back-test has ended; return it.

    Raises:
        Invalid: it failed; the message has the reason.
    """
    # Not ``api.wait``: a back-test is no operation of a tenant.
    with output.progress("Rating") as update:
        while found["state"] == "running":
            step = f"{found['n_rated']} of {found['n_tenants']} tenants"
            update({"steps": [{"name": step, "state": "running", "message": ""}]})
            time.sleep(_POLL_SECONDS)
            again = staff.get_back_test.sync_detailed(found["id"], client=api.client)
            found = calls.body(api, again)
    if found["state"] == "failed":
        raise Invalid(f"The back-test failed: {found['error']}", code="back_test.failed")
    return found


def _show_catalog(found: Json, form: Format) -> None:
    if form is Format.JSON:
        output.show_document(found, form)
        return
    # The text itself, also as ``-o yaml``: a person changes it and uploads it as a draft.
    output.show_text(found["yaml"])


def _show_draft(found: Json, form: Format) -> None:
    if form.is_document:
        output.show_document(found, form)
        return
    output.show_one({name: found[name] for name in _DRAFT_COLUMNS}, form)
    show_differences(found["differences"], form)


def show_differences(differences: list[Json], form: Format) -> None:
    """Print one row for each sentence about what a catalog changes."""
    rows = [
        {"what": row["section"], "key": row["key"], "change": row["kind"], "sentence": sentence}
        for row in differences
        for sentence in row["sentences"]
    ]
    output.show_rows(rows, ["what", "key", "change", "sentence"], form)


def text_of(file: Path) -> str:
    """Return the content of a catalog's file.

    Raises:
        Invalid: there is no such file, or it is not UTF-8.
    """
    if not file.is_file():
        why = f"{file} is a folder." if file.is_dir() else f"There is no file {file}."
        raise Invalid(why, code="catalog.file")
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise Invalid(
            f"{file} is not UTF-8 text (byte {error.start}): save it as UTF-8.",
            code="catalog.not_text",
        ) from error
