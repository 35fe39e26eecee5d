"""`waypost users`: the messaging users of a space."""

import secrets
from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, Any

import typer

from controlplane.cli import calls, listing, login_store, output, slow
from controlplane.cli.names import SpaceName, UserName
from controlplane.cli.options import Tenant, Yes
from controlplane.cli.output import Format, Output
from controlplane.client import models
from controlplane.client.api import address_spaces
from controlplane.client.types import UNSET, Response, Unset
from controlplane.core.errors import Invalid
from controlplane.rest_client import Api, Json

app = typer.Typer(
    no_args_is_help=True,
    help="Messaging users of a space: list, create, show, update, password, revoke.",
)
_COLUMNS = ("name", "permissions", "phase", "connections", "sent_per_second", "received_per_second")
Patterns = Annotated[list[str] | None, typer.Option(help="Address patterns; repeat for more.")]


@app.command("list")
@slow.change
def list_users(space: SpaceName, *, how: listing.TenantRows) -> None:
    """List the messaging users of a space."""
    calls.named(space)

    def read(api: Api, tenant: str) -> Iterator[Json]:
        page = partial(
            address_spaces.list_messaging_users.sync_detailed, tenant, space, client=api.client
        )
        return calls.rows(api, page)

    listing.show(how, read, _COLUMNS, _flat)


def _flat(row: Json) -> Json:
    permissions = [
        f"{' and '.join(one['operations'])} on {' '.join(one['addresses'])}"
        for one in row["permissions"]
    ]
    return {**row, **row.get("live", {}), "permissions": permissions}


@app.command()
def show(
    space: SpaceName,
    name: UserName,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show it again every few seconds until Ctrl-C.")
    ] = False,
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Show a messaging user: phase, permissions, and what its open connections add up to."""
    api, tenant = login_store.connect(tenant)

    def read() -> Json:
        return calls.body(api, _answer(api, tenant, space, name))

    if watch:
        output.watch(read, form)
    else:
        output.show_one(read(), form)


@app.command()
@slow.change
def create(
    space: SpaceName,
    name: str,
    send: Patterns = None,
    recv: Patterns = None,
    password: Annotated[
        str, typer.Option(envvar="WAYPOST_USER_PASSWORD", help="Generated and shown if omitted.")
    ] = "",
    *,
    how: slow.How,
) -> None:
    """Create a messaging user; without --send or --recv it may use every address."""
    # 20 characters of 120 random bits.
    chosen = password or secrets.token_urlsafe(15)
    body = models.MessagingUserCreateRequest(
        name=name, password=chosen, permissions=_permissions(send, recv)
    )

    def post(api: Api, tenant: str) -> Json:
        answer = address_spaces.create_messaging_user.sync_detailed(
            tenant,
            calls.named(space),
            client=api.client,
            body=body,
            idempotency_key=calls.new_key(),
        )
        return calls.body(api, answer)

    slow.follow(
        f"creating user {name}",
        how,
        post,
        # The API never returns a password, so only this output can show a generated one.
        once={} if password else {"password": chosen},
    )


@app.command()
@slow.change
def update(
    space: SpaceName,
    name: UserName,
    send: Patterns = None,
    recv: Patterns = None,
    *,
    how: slow.How,
) -> None:
    """Replace what a user may do by --send and --recv; a new password is `users password`."""
    calls.named(space)
    calls.named(name)

    def put(api: Api, tenant: str) -> Json:
        if not send and not recv:
            raise Invalid("Say what the user may do: --send, --recv.", code="user.unchanged")
        return _change(api, tenant, space, name, lambda _: _permissions(send, recv))

    slow.follow(f"changing user {name}", how, put)


@app.command("password")
@slow.change
def set_password(
    space: SpaceName,
    name: UserName,
    password: Annotated[
        str, typer.Option(envvar="WAYPOST_USER_PASSWORD", help="Generated and shown if omitted.")
    ] = "",
    *,
    how: slow.How,
) -> None:
    """Set a new password of a messaging user; its permissions stay."""
    chosen = password or secrets.token_urlsafe(15)

    def put(api: Api, tenant: str) -> Json:
        # The API replaces all permissions, so the request repeats those that the user has.
        return _change(
            api,
            tenant,
            space,
            name,
            lambda user: [models.GrantRequest.from_dict(one) for one in user["permissions"]],
            chosen,
        )

    slow.follow(
        f"setting a new password of {name}",
        how,
        put,
        once={} if password else {"password": chosen},
    )


@app.command()
@slow.change
def revoke(
    space: SpaceName,
    name: UserName,
    yes: Yes = False,
    *,
    how: slow.How,
) -> None:
    """Revoke a user; its open connections are closed."""
    calls.named(space)
    calls.named(name)
    if not yes:
        output.confirm(f"Revoke user {name} and close its connections?")

    def remove(api: Api, tenant: str) -> Json:
        answer = address_spaces.revoke_messaging_user.sync_detailed(
            tenant, space, name, client=api.client
        )
        return calls.body(api, answer)

    slow.follow(f"revoking user {name}", how, remove)


def _answer(api: Api, tenant: str, space: str, name: str) -> "Response[models.MessagingUser]":
    return address_spaces.get_messaging_user.sync_detailed(
        tenant, calls.named(space), calls.named(name), client=api.client
    )


def _change(
    api: Api,
    tenant: str,
    space: str,
    name: str,
    permissions: "Callable[[Json], list[models.GrantRequest]]",
    password: str | Unset = UNSET,
) -> Json:
    """Replace what a user may do by what ``permissions`` makes of the user, and the password."""

    def write(present: Json, tag: str) -> Response[Any]:
        body = models.MessagingUserChangeRequest(
            permissions=permissions(present), password=password
        )
        return address_spaces.change_messaging_user.sync_detailed(
            tenant, space, name, client=api.client, body=body, if_match=tag
        )

    return calls.change(api, lambda: _answer(api, tenant, space, name), write)


def _permissions(send: list[str] | None, recv: list[str] | None) -> "list[models.GrantRequest]":
    if not send and not recv:  # "#" matches every address
        return [models.GrantRequest(addresses=["#"], operations=["send", "recv"])]
    granted = []
    if send:
        granted.append(models.GrantRequest(addresses=send, operations=["send"]))
    if recv:
        granted.append(models.GrantRequest(addresses=recv, operations=["recv"]))
    return granted
