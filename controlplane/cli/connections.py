"""`waypost connections`: the open connections of a space's clients."""

import time
from typing import Annotated

import typer

from controlplane.cli import login_store, output, slow
from controlplane.cli.options import Tenant, Yes
from controlplane.cli.output import Format, Output
from controlplane.core.errors import Invalid
from controlplane.rest_client import Api, Json, segment

app = typer.Typer(no_args_is_help=True, help="Open connections of a space's clients: list, close.")
User = Annotated[str, typer.Option("--user", help="A messaging user.")]
_COLUMNS = [
    *("id", "user", "client_id", "product", "remote_address", "protocol", "tls", "since"),
    *("links", "addresses"),
    *("sent_per_second", "received_per_second"),
]
_WATCH_SECONDS = 5.0  # lists are read from the engines about every ten seconds


@app.command("list")
def list_connections(
    space: str,
    user: User = "",
    address: Annotated[str, typer.Option(help="Only those with a link on this address.")] = "",
    watch: Annotated[bool, typer.Option(help="Print the list again until Ctrl-C.")] = False,
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """List the open connections of a space's clients, as Waypost last read them."""
    api, tenant = login_store.connect(tenant)
    path = f"/tenants/{tenant}/address-spaces/{segment(space)}/connections"
    while True:
        _show(api, path, {"user": user, "address": address}, form)
        if not watch:
            return
        time.sleep(_WATCH_SECONDS)


@app.command()
@slow.change
def close(
    space: str,
    ids: Annotated[list[str] | None, typer.Argument(help="Ids from the list.")] = None,
    user: User = "",
    yes: Yes = False,
    *,
    how: slow.How,
) -> None:
    """Close connections by id, or all of a user. A client may connect again.

    `waypost users revoke` keeps it out.
    """
    if not (ids or user):
        message = "Name the connections to close by their ids, or a user with --user."
        raise Invalid(message, code="connections.unnamed")
    path = f"/address-spaces/{segment(space)}/connections/close"
    count = len(ids or [])
    what = f"every connection of {user}" if user else f"{count} connection{'s' * (count != 1)}"
    if not yes:
        output.confirm(f"Close {what}? Clients may connect again.")
    body = {"user": user} if user else {"ids": ids or []}
    slow.follow(f"closing {what}", how, lambda api, tenant: api.post(f"{tenant}{path}", body))


def _show(api: Api, path: str, wanted: dict[str, str], form: Format) -> None:
    given = {name: value for name, value in wanted.items() if value}
    rows = list(api.pages(path, **given))
    if form is Format.JSON:
        output.show_json(rows)
        return
    output.show_rows(rows, _COLUMNS, form)
    answer: Json = api.get(path, limit=1)
    for one in answer["instances"]:
        rest = one["total"] - one["listed"]
        more = f", {rest} of them not listed" if rest > 0 else ""
        output.say(f"{one['instance']}: {one['total']} open{more}, as of {one['as_of']}")
