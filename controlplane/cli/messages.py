"""`waypost messages`: browse and change the stored messages of an address, or send one."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any

import typer

from controlplane.cli import calls, cells, login_store, output, slow
from controlplane.cli.names import AddressName, SpaceName
from controlplane.cli.options import Tenant, Yes
from controlplane.cli.output import Format, Output
from controlplane.client import models
from controlplane.client.api import address_spaces
from controlplane.client.types import Response
from controlplane.core.errors import Invalid, Missing
from controlplane.rest_client import Api, Json

app = typer.Typer(
    no_args_is_help=True,
    help="Messages of an address: browse, send, purge, delete, move, resend. Never billed.",
)
Selected = Annotated[
    list[str] | None,
    typer.Option("--message", help="An id that browse shows; repeatable. Default: all messages."),
]


@app.command()
def browse(
    space: SpaceName,
    address: AddressName,
    after: Annotated[
        str, typer.Option(help="The position that the previous page ended with.")
    ] = "",
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Show a page of stored messages without consuming them."""
    api, tenant = login_store.connect(tenant)
    asked = address_spaces.browse_messages.sync_detailed(
        tenant,
        calls.named(space),
        client=api.client,
        body=models.BrowseRequest(address=address, after=after),
        idempotency_key=calls.new_key(),
    )
    operation = calls.body(api, asked)
    with output.progress(f"browsing {address}") as progress:
        # A worker reads the page, and the API has it when the operation has succeeded.
        api.wait(tenant, operation, progress=progress)
    found = address_spaces.get_page_messages.sync_detailed(
        tenant, space, operation["subject_id"], client=api.client
    )
    page = calls.body(api, found)
    if form.is_document:
        output.show_document(page, form)
        return
    columns = ["id", "sent_at", "size", "priority", "deliveries", "came_from", "body"]
    # A server of an older version calls them messages.
    output.show_rows(page["items"] if "items" in page else page["messages"], columns, form)
    if page["next"]:
        output.say(f"more: --after {page['next']}")


@app.command()
@slow.change
def send(
    space: SpaceName,
    address: AddressName,
    body: Annotated[str, typer.Option(help="The text of the message.")] = "",
    prop: Annotated[
        list[str] | None,
        typer.Option("--property", help="name=value; a value of JSON keeps its type; repeatable."),
    ] = None,
    *,
    how: slow.How,
) -> None:
    """Send a test message to a queue or topic."""
    values = {"body": body, "properties": dict(map(property_of, prop or []))}
    wanted = models.SendRequest.from_dict({"address": address, **values})
    call = partial(address_spaces.send_message.sync_detailed, body=wanted)
    _change(f"sending to {address}", how, space, call)


@app.command()
@slow.change
def purge(space: SpaceName, address: AddressName, yes: Yes = False, *, how: slow.How) -> None:
    """Delete all messages that the address holds now."""
    question = "" if yes else f"Delete every message in {address}?"
    wanted = models.AddressedRequest(address=address)
    call = partial(address_spaces.purge_messages.sync_detailed, body=wanted)
    _change(f"purging {address}", how, space, call, question=question)


@app.command()
@slow.change
def delete(
    space: SpaceName,
    address: AddressName,
    message: Annotated[list[str], typer.Option("--message", help="An id that browse shows.")],
    yes: Yes = False,
    *,
    how: slow.How,
) -> None:
    """Delete selected messages of an address."""
    question = "" if yes else f"Delete {cells.counted(len(message), 'message')} in {address}?"
    wanted = models.SelectedRequest(address=address, messages=message)
    call = partial(address_spaces.delete_messages.sync_detailed, body=wanted)
    title = f"deleting messages of {address}"
    _change(title, how, space, call, chosen=message, question=question)


@app.command()
@slow.change
def move(
    space: SpaceName,
    address: AddressName,
    to: Annotated[str, typer.Argument(help="Another queue of the space.")],
    message: Selected = None,
    *,
    how: slow.How,
) -> None:
    """Move all messages, or selected ones, to another queue of the same space."""
    # ``or``: null means all messages, and the API refuses an empty list.
    wanted = models.MoveRequest(address=address, to=to, messages=message or None)
    call = partial(address_spaces.move_messages.sync_detailed, body=wanted)
    _change(f"moving messages of {address} to {to}", how, space, call, chosen=message or ())


@app.command()
@slow.change
def resend(
    space: SpaceName,
    address: AddressName,
    message: Selected = None,
    rate: Annotated[int | None, typer.Option(min=1, help="The most messages in a second.")] = None,
    *,
    how: slow.How,
) -> None:
    """Move all dead letters, or selected ones, back to the queues that they came from."""
    wanted = models.ResendRequest(address=address, messages=message or None, rate=rate)
    call = partial(address_spaces.resend_messages.sync_detailed, body=wanted)
    _change(f"resending messages of {address}", how, space, call, chosen=message or ())


def _change(
    title: str,
    how: slow.How,
    space: str,
    call: Callable[..., "Response[models.Operation]"],
    *,
    chosen: Sequence[str] = (),
    question: str = "",
) -> None:
    """Ask ``question``, if there is one; then begin a change with ``call`` and follow it.

    ``call`` is a function of the generated client, with its body bound. ``chosen``: the ids of the
    messages, if not all change.

    Raises:
        Missing: ``message.none``: fewer messages were changed than chosen.
    """
    calls.named(space)
    if question:
        output.confirm(question)

    def post(api: Api, tenant: str) -> Json:
        key = calls.new_key()
        return calls.body(api, call(tenant, space, client=api.client, idempotency_key=key))

    ended = slow.follow(title, how, post, done=_counted)
    done = _changed(ended)
    wanted = len(set(chosen))
    if ended["state"] == "Succeeded" and done is not None and done < wanted:
        raise Missing(
            f"{done} of {wanted} chosen messages {'was' if done == 1 else 'were'} changed: the "
            "others are not there, or cannot be changed. Browse shows what is there.",
            code="message.none",
        )


def _changed(operation: Json) -> int | None:
    """Return how many messages the operation has changed; None if it does not say that."""
    # A server of an older version does not have the field.
    count: int | None = operation.get("messages_changed")
    return count


def _counted(operation: Json) -> str:
    count = _changed(operation)
    return "" if count is None else f"done, {cells.counted(count, 'message')}"


def property_of(given: str) -> tuple[str, Any]:
    """Return (name, value) of ``name=value``; the value is parsed as JSON, else it is a text.

    Raises:
        Invalid: ``property.invalid``: there is no name or no ``=``.
    """
    name, separator, text = given.partition("=")
    if not (name and separator):
        raise Invalid(f"{given!r} is no property: write name=value.", code="property.invalid")
    try:
        return name, json.loads(text)
    except ValueError:
        return name, text
