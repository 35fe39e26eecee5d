"""`waypost messages`: browse and change the stored messages of an address, or send one."""

import json
from typing import Annotated, Any

import typer

from controlplane.cli import login_store, output, slow
from controlplane.cli.options import Tenant, Yes
from controlplane.cli.output import Format, Output
from controlplane.core.errors import Invalid
from controlplane.rest_client import segment

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
    space: str,
    address: str,
    after: Annotated[
        str, typer.Option(help="The position that the previous page ended with.")
    ] = "",
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Show a page of stored messages without consuming them."""
    api, tenant = login_store.connect(tenant)
    path = f"/tenants/{tenant}/address-spaces/{segment(space)}/messages"
    operation = api.post(f"{path}/browse", {"address": address, "after": after})
    api.wait(tenant, operation)
    page = api.get(f"{path}/pages/{operation['subject_id']}")
    if form is Format.JSON:
        output.show_json(page)
        return
    columns = ["id", "size", "priority", "deliveries", "came_from", "body"]
    output.show_rows(page["messages"], columns, form)
    if page["next"]:
        output.say(f"more: --after {page['next']}")


@app.command()
@slow.change
def send(
    space: str,
    address: str,
    body: Annotated[str, typer.Option(help="The text of the message.")] = "",
    prop: Annotated[
        list[str] | None,
        typer.Option("--property", help="name=value; a value of JSON keeps its type; repeatable."),
    ] = None,
    *,
    how: slow.How,
) -> None:
    """Send a test message to a queue or topic."""
    values = {"body": body, "properties": dict(map(_property, prop or []))}
    _change(f"sending to {address}", how, space, "send", {"address": address, **values})


@app.command()
@slow.change
def purge(space: str, address: str, yes: Yes = False, *, how: slow.How) -> None:
    """Delete all messages that the address holds now."""
    question = "" if yes else f"Delete every message in {address}?"
    _change(f"purging {address}", how, space, "purge", {"address": address}, question)


@app.command()
@slow.change
def delete(
    space: str,
    address: str,
    message: Annotated[list[str], typer.Option("--message", help="An id that browse shows.")],
    yes: Yes = False,
    *,
    how: slow.How,
) -> None:
    """Delete selected messages of an address."""
    question = "" if yes else f"Delete {len(message)} messages in {address}?"
    body = {"address": address, "messages": message}
    _change(f"deleting messages of {address}", how, space, "delete", body, question)


@app.command()
@slow.change
def move(
    space: str,
    address: str,
    to: Annotated[str, typer.Argument(help="Another queue of the space.")],
    message: Selected = None,
    *,
    how: slow.How,
) -> None:
    """Move all messages, or selected ones, to another queue of the same space."""
    body = {"address": address, "to": to, "messages": message or None}
    _change(f"moving messages of {address} to {to}", how, space, "move", body)


@app.command()
@slow.change
def resend(
    space: str,
    address: str,
    message: Selected = None,
    rate: Annotated[int | None, typer.Option(min=1, help="The most messages in a second.")] = None,
    *,
    how: slow.How,
) -> None:
    """Move all dead letters, or selected ones, back to the queues that they came from."""
    body = {"address": address, "messages": message or None, "rate": rate}
    _change(f"resending messages of {address}", how, space, "resend", body)


def _change(
    title: str, how: slow.How, space: str, verb: str, body: dict[str, Any], question: str = ""
) -> None:
    path = f"/address-spaces/{segment(space)}/messages/{verb}"
    if question:
        output.confirm(question)
    slow.follow(title, how, lambda api, tenant: api.post(f"{tenant}{path}", body))


def _property(given: str) -> tuple[str, Any]:
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
