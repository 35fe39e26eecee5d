"""`waypost send`, `receive` and `browse`: messages over AMQP, as a messaging user."""

import base64
import json
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from controlplane.cli import cells, login_store, messages, output, slow, spaces
from controlplane.cli.names import AddressName, SpaceName
from controlplane.cli.options import Tenant
from controlplane.cli.output import Format, Output
from controlplane.core.errors import Invalid, Missing
from controlplane.rest_client import Json

if TYPE_CHECKING:  # proton takes 60 ms to import, which only these commands need
    from proton import Message

    from controlplane.cli.amqp import Client

_COLUMNS = ["id", "subject", "deliveries", "properties", "body"]


class Outcome(StrEnum):
    """What ``receive`` does with a message after printing it."""

    ACCEPT = "accept"
    REJECT = "reject"
    RELEASE = "release"


@dataclass(frozen=True)
class Access:
    """The common options: which messaging user logs in to the space of which tenant."""

    user: Annotated[
        str,
        typer.Option(envvar="WAYPOST_MESSAGING_USER", prompt=True, help="A messaging user."),
    ]
    password: Annotated[
        str,
        typer.Option(
            envvar="WAYPOST_MESSAGING_PASSWORD", prompt=True, hide_input=True, help="Its password."
        ),
    ]
    tenant: Tenant = None
    form: Output = Format.TABLE


@dataclass(frozen=True)
class Header:
    """The options of a message to send."""

    prop: Annotated[
        list[str] | None,
        typer.Option("--property", help="name=value; a value of JSON keeps its type; repeatable."),
    ] = None
    subject: Annotated[str | None, typer.Option(help="The subject.")] = None
    group: Annotated[str | None, typer.Option(help="The group: its messages stay in order.")] = None
    priority: Annotated[int, typer.Option(min=0, max=9, help="0 to 9, the most urgent.")] = 4
    ttl: Annotated[float, typer.Option(min=0, help="Seconds until it expires; 0: never.")] = 0
    transient: Annotated[
        bool, typer.Option("--transient", help="Not durable: a restart may lose it.")
    ] = False


@slow.change
def send(
    space: SpaceName,
    address: AddressName,
    body: Annotated[str | None, typer.Argument(help="The text; default: all of stdin.")] = None,
    lines: Annotated[bool, typer.Option("--lines", help="Each line of stdin is one.")] = False,
    *,
    header: Header,
    how: Access,
) -> None:
    """Send messages over AMQP, as a program does; end when the space has accepted them."""
    properties = dict(map(messages.property_of, header.prop or []))
    if body is not None and lines:
        raise Invalid("Give either a text or --lines.", code="message.body")
    with _connected(_space(space, how), how) as client:
        from proton import Message

        texts: Iterable[str]
        if body is not None:
            texts = [body]
        elif lines:
            # One line at a time: a line is sent when it comes, and a pipe need not end.
            texts = (line.rstrip("\n") for line in sys.stdin)
        else:
            texts = [sys.stdin.read()]
        made = (
            Message(
                body=one,
                subject=header.subject,
                group_id=header.group,
                priority=header.priority,
                ttl=header.ttl,
                durable=not header.transient,
                properties=properties or None,
            )
            for one in texts
        )
        # ``send`` yields a message when it is accepted, so this is their number.
        count = sum(1 for _ in client.send(address, made))
    if how.form.is_document:
        output.show_document({"address": address, "accepted": count}, how.form)
    else:
        output.show_text(f"sent {cells.counted(count, 'message')} to {address}: accepted")


@dataclass(frozen=True)
class Taking:
    """The options that say how many messages ``receive`` takes, and what becomes of them."""

    count: Annotated[int, typer.Option(min=1, help="How many at most.")] = 1
    every: Annotated[bool, typer.Option("--all", help="Until none comes for --wait.")] = False
    follow: Annotated[bool, typer.Option("--follow", help="Until Ctrl-C.")] = False
    wait: Annotated[float, typer.Option(min=0.1, help="Seconds to wait for a message.")] = 5
    outcome: Annotated[Outcome, typer.Option(help="What becomes of each.")] = Outcome.ACCEPT


@slow.change
def receive(space: SpaceName, address: AddressName, *, taking: Taking, how: Access) -> None:
    """Take messages over AMQP and print them; each is accepted once it is printed.

    A table is the body of each message. `-o json` prints one object a line.
    """
    limit = None if taking.every or taking.follow else taking.count
    patience = None if taking.follow else taking.wait
    printed = 0
    with _connected(_space(space, how), how) as client:
        for message in client.receive(address, taking.outcome, limit=limit, wait_seconds=patience):
            _print(message, how.form)
            printed += 1
    # An error, so that a script need not look at the output.
    if not printed:
        raise Missing(f"No message came to {address} in {taking.wait:g} s.", code="message.none")


@slow.change
def browse(
    space: SpaceName,
    address: AddressName,
    count: Annotated[int, typer.Option(min=1, help="How many at most.")] = 50,
    wait: Annotated[float, typer.Option(min=0.1, help="Seconds to wait for more.")] = 1,
    *,
    how: Access,
) -> None:
    """Print stored messages over AMQP and take none; only in brokered spaces."""
    found = _space(space, how)
    if found["type"] != "brokered":
        # Its routers refuse browsers, and an unpatched router would take the messages away.
        raise Invalid(
            f"Programs cannot browse in {space}, a {found['type']} space: use "
            f"`waypost messages browse {space} {address}`.",
            code="browse.space_type",
        )
    with _connected(found, how) as client:
        rows = list(map(document, client.browse(address, limit=count, wait_seconds=wait)))
    output.show_rows(rows, _COLUMNS, how.form)


def _space(name: str, how: Access) -> Json:
    api, tenant = login_store.connect(how.tenant)
    return spaces.get(api, tenant, name)


def _connected(space: Json, how: Access) -> AbstractContextManager["Client"]:
    from controlplane.cli import amqp

    return amqp.connected(space, how.user, how.password)


def _print(message: "Message", form: Format) -> None:
    if form is Format.JSON:  # one line each, because the list may have no end
        output.show_text(json.dumps(document(message), default=str))
    elif form is Format.YAML:
        output.show_text("---")
        output.show_document(document(message), form)
    elif form is Format.NAME:
        output.show_text(output.name_of(document(message)))
    else:
        output.show_text(text(message.body))
    # The message is settled after this, so its text must not stay in a buffer.
    sys.stdout.flush()


def document(message: "Message") -> Json:
    """Return a message as an object for programs: header, properties and body.

    ``body`` is a text for texts and bytes (``text``), and JSON for other values.
    """
    created = float(message.creation_time or 0)
    properties: dict[Any, Any] = message.properties or {}
    body = message.body
    return {
        "id": None if message.id is None else str(message.id),
        "subject": message.subject,
        # proton makes the symbol "None" of an absent one.
        "content_type": None if message.content_type == "None" else message.content_type,
        "group": message.group_id,
        "reply_to": message.reply_to,
        "durable": bool(message.durable),
        "priority": int(message.priority),
        "ttl_seconds": float(message.ttl) or None,
        "deliveries": int(message.delivery_count),
        "created_at": datetime.fromtimestamp(created, UTC).isoformat() if created else None,
        "properties": {str(name): value for name, value in properties.items()},
        "body": text(body) if isinstance(body, str | bytes | memoryview) else body,
    }


def text(body: Any) -> str:
    """Return a body as text: bytes as UTF-8, or else as base64; other values as JSON."""
    if isinstance(body, memoryview):
        body = body.tobytes()
    if isinstance(body, bytes):
        try:
            return body.decode()
        except UnicodeDecodeError:
            return base64.b64encode(body).decode()
    if isinstance(body, str) or body is None:
        return body or ""
    return json.dumps(body, default=str)
