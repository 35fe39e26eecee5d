"""`waypost connections`: the open connections of a space's clients."""

from functools import partial
from typing import Annotated

import typer

from controlplane.cli import calls, cells, listing, output, slow
from controlplane.cli.names import SpaceName
from controlplane.cli.options import Yes
from controlplane.client import models
from controlplane.client.api import address_spaces
from controlplane.core.errors import Invalid
from controlplane.rest_client import Api, Json

app = typer.Typer(no_args_is_help=True, help="Open connections of a space's clients: list, close.")
User = Annotated[str, typer.Option("--user", help="A messaging user.")]
_COLUMNS = [
    *("id", "user", "client_id", "product", "remote_address", "protocol", "tls", "since"),
    *("links", "addresses"),
    *("sent_per_second", "received_per_second"),
]


@app.command("list")
@slow.change
def list_connections(
    space: SpaceName,
    user: User = "",
    address: Annotated[str, typer.Option(help="Only those with a link on this address.")] = "",
    *,
    how: listing.TenantRows,
) -> None:
    """List the open connections of a space's clients, as Waypost last read them."""
    calls.named(space)

    def read(api: Api, tenant: str) -> list[Json]:
        page = partial(
            address_spaces.list_connections.sync_detailed, tenant, space, client=api.client
        )
        wanted = partial(page, user=calls.given(user), address=calls.given(address))
        rows = list(calls.rows(api, wanted))
        if how.form.is_table:
            # Each page has the totals, without the filters, so the shortest one is enough.
            for one in calls.body(api, page(limit=1))["instances"]:
                rest = one["total"] - one["listed"]
                more = f", {rest} of them not listed" if rest > 0 else ""
                as_of = cells.instant(one["as_of"])
                output.say(f"{one['instance']}: {one['total']} open{more}, as of {as_of}")
        return rows

    listing.show(how, read, _COLUMNS)


@app.command()
@slow.change
def close(
    space: SpaceName,
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
    calls.named(space)
    what = f"every connection of {user}" if user else cells.counted(len(ids or []), "connection")
    if not yes:
        output.confirm(f"Close {what}? Clients may connect again.")
    wanted = {"user": user} if user else {"ids": ids or []}
    body = models.ConnectionsCloseRequest.from_dict(wanted)

    def post(api: Api, tenant: str) -> Json:
        answer = address_spaces.close_connections.sync_detailed(
            tenant, space, client=api.client, body=body, idempotency_key=calls.new_key()
        )
        return calls.body(api, answer)

    slow.follow(f"closing {what}", how, post)
