"""`waypost apply` and `waypost export`: a tenant as a file."""

from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from controlplane.cli import login_store, output, windows
from controlplane.cli.options import Tenant, Yes
from controlplane.cli.output import Format, Output
from controlplane.cli.tenant_changes import Change, Outcome, carry_out
from controlplane.cli.tenant_diff import Difference
from controlplane.cli.tenant_file import read
from controlplane.core.address_types import SETTINGS
from controlplane.core.errors import Conflict
from controlplane.rest_client import Api, Json, segment

DRIFT = 8  # the exit code of --dry-run if there are differences


class OtherTenant(Conflict):
    """The file is for another tenant than the one to which it would be applied."""

    code = "apply.other_tenant"


def apply(
    file: Annotated[
        Path,
        typer.Option(
            "--file", "-f", help="A YAML file, as `waypost export` writes it; - is stdin."
        ),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help=f"Only show the differences; exit code {DRIFT}.")
    ] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Also delete what the file does not name.")
    ] = False,
    yes: Yes = False,
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Make the tenant what a file says: spaces, addresses, users, tokens, windows, alarms.

    What is as the file says stays untouched, so the file can be applied again at any time.
    """
    wanted = read(file)
    api, slug = login_store.connect(tenant)
    if wanted.tenant not in ("", slug):
        raise OtherTenant(
            f"{file} is for tenant {wanted.tenant}, not for {slug}: choose it by --tenant."
        )
    with output.working("comparing"):
        changes = Difference(api, slug, prune).read(wanted)
    # Sorted as they will be carried out, so that the lines are printed in this order.
    changes.sort(key=lambda change: change.stage)
    # Without a difference it ends here too: there is nothing to ask and nothing to request.
    if dry_run or not changes:
        _show_difference(changes, form)
        raise typer.Exit(DRIFT if changes else 0)
    deleted = [change.line() for change in changes if change.verb == "delete"]
    if deleted and not yes:
        output.confirm("\n".join([*deleted, "Delete these, with every message in them?"]))
    outcome = carry_out(api, slug, changes, _print_done if form.is_table else lambda *_: None)
    _report(outcome, changes, form)


def export(
    file: Annotated[
        Path | None, typer.Option("--to", help="Write it to this file; default: print it.")
    ] = None,
    with_tokens: Annotated[
        bool, typer.Option("--tokens", help="Also name the API tokens, without their secrets.")
    ] = False,
    tenant: Tenant = None,
) -> None:
    """Print the tenant as a file for `waypost apply`, without passwords and secrets."""
    api, slug = login_store.connect(tenant)
    path = f"/tenants/{segment(slug)}"
    with output.working("reading"):
        # What is being deleted is left out: the file would create it again.
        spaces = [
            row for row in api.pages(f"{path}/address-spaces") if row["phase"] != "Terminating"
        ]
        document: Json = {
            "tenant": slug,
            "spaces": [
                _space(api, row, f"{path}/address-spaces/{segment(row['name'])}") for row in spaces
            ],
            "maintenance_windows": [
                windows.named(one) for one in api.get(f"{path}/maintenance-windows")["windows"]
            ],
        }
        if with_tokens:
            # The limits and the end that each token has now.
            document["tokens"] = [
                {
                    **{name: row[name] for name in ("name", "role", "spaces", "permissions")},
                    "expires": row["expires_at"] or "never",
                }
                for row in api.pages(f"{path}/tokens")
            ]
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    if file is None:
        output.show_text(text)
    else:
        file.write_text(text, encoding="utf-8")
        output.say(f"wrote {file}")


def _space(api: Api, space: Json, path: str) -> Json:
    rows = [row for row in api.pages(f"{path}/addresses") if row["phase"] != "Terminating"]
    users = [row for row in api.pages(f"{path}/users") if row["phase"] != "Terminating"]
    described = {name: space[name] for name in ("name", "type", "plan")} | _labels(space)
    described["addresses"] = [_address(row, space["type"]) for row in rows]
    described["users"] = [{"name": row["name"], "permissions": row["permissions"]} for row in users]
    limits = ("address", "metric", "threshold", "for_seconds", "clear_below")
    alarms = [{name: row[name] for name in limits} for row in api.pages(f"{path}/alarms")]
    return {**described, **({"alarms": alarms} if alarms else {})}


def _address(row: Json, space_type: str) -> Json:
    settings: dict[str, Any] = {
        setting.name: row[setting.name]
        for setting in SETTINGS
        # Both mean the same as an absent setting, except for dead letters (below).
        # A server of an older version may lack the setting.
        if row.get(setting.name) not in (None, "")
    }
    # An absent target of dead letters would mean the default of a new space.
    offers = {one.name: one.is_offered(space_type, row["type"]) for one in SETTINGS}
    if offers["dead_letter"]:
        settings.setdefault("dead_letter", "")
    fixed = {"address": row["address"], "type": row["type"], "plan": row["plan"]}
    return {**fixed, **_labels(row), **settings}


def _labels(row: Json) -> Json:
    """Return the labels of a space or an address as the file has them; nothing without labels."""
    return {"labels": row["labels"]} if row.get("labels") else {}


def _show_difference(changes: list[Change], form: Format) -> None:
    if not form.is_table:
        documents = [change.document() for change in changes]
        output.show_rows(documents, ["name"], form)
        return
    for change in changes:
        output.show_text(change.line())
    if not changes:
        output.show_text("in sync: nothing to change")


def _print_done(change: Change, secrets: dict[str, str]) -> None:
    output.show_text(change.line())
    for name, value in secrets.items():
        output.show_text(f"  {name} (shown once): {value}")


def _report(outcome: Outcome, changes: list[Change], form: Format) -> None:
    """Print what was done; raise the error of the change that failed.

    Raises:
        WaypostError: the error of the first change that failed.
    """
    if not form.is_table:
        # By identity: a change has dictionaries, so it has no hash.
        done = {id(change): secrets for change, secrets in outcome.done}
        rows = [
            {**change.document(), "done": id(change) in done, **done.get(id(change), {})}
            for change in changes
        ]
        output.show_rows(rows, ["name"], form)
    if outcome.error is not None and outcome.failed is not None:
        rest = len(changes) - len(outcome.done) - 1
        output.say(
            f"{len(outcome.done)} of {len(changes)} done; failed: {outcome.failed.line()}; "
            f"{rest} not done. Correct the cause and apply the file again."
        )
        raise outcome.error
    if form.is_table:
        output.show_text(f"applied: {len(outcome.done)} of {len(changes)}")
