"""`waypost notifications`: kinds of events, own mails, budget, channels, and what was sent."""

from collections.abc import Iterator
from functools import partial
from typing import Annotated

import typer

from controlplane.cli import calls, listing, login_store, output, slow
from controlplane.cli.options import Tenant, Yes
from controlplane.cli.output import Format, Output
from controlplane.client import models
from controlplane.client.api import (
    notification_channels,
    notification_deliveries,
    notification_kinds,
    notification_preferences,
)
from controlplane.client.models.list_notification_deliveries_state import (
    check_list_notification_deliveries_state,
)
from controlplane.client.types import UNSET
from controlplane.rest_client import Api, Json

app = typer.Typer(no_args_is_help=True, help="Notifications: own mails, channels, deliveries.")
_CHANNEL = ["id", "name", "kind", "target", "kinds", "enabled", "failing_since", "disabled_reason"]
_DELIVERY = ["id", "kind", "channel", "state", "attempts", "next_attempt_at", "reason"]
Channel = Annotated[str, typer.Argument(help="The id or the name of a channel.")]
Kinds = Annotated[list[str] | None, typer.Option("--event", "-e", help="A kind; none means all.")]


@app.command()
@slow.change
def kinds(*, how: listing.TenantRows) -> None:
    """List the kinds of events."""
    columns = ["key", "severity", "title", "roles"]
    read = calls.tenant_list(notification_kinds.list_notification_kinds.sync_detailed)
    listing.show(how, read, columns)


@app.command()
@slow.change
def mails(*, how: listing.TenantRows) -> None:
    """List what you get by mail."""
    columns = ["kind", "by_mail", "own", "default", "is_fixed"]

    def read(api: Api, tenant: str) -> list[Json]:
        answer = notification_preferences.get_notification_preferences.sync_detailed(
            tenant, client=api.client
        )
        found: list[Json] = calls.body(api, answer)["items"]
        return found

    listing.show(how, read, columns)


@app.command()
def mail(
    kind: str,
    on: Annotated[bool, typer.Option("--on/--off", help="Whether you get it by mail.")] = True,
    tenant: Tenant = None,
) -> None:
    """Choose whether you get one kind of event by mail."""
    api, tenant = login_store.connect(tenant)
    present = notification_preferences.get_notification_preferences.sync_detailed(
        tenant, client=api.client
    )
    notification_preferences.change_notification_preferences.sync_detailed(
        tenant,
        client=api.client,
        body=models.PatchedChoicesChangeRequest.from_dict({"choices": {kind: on}}),
        if_match=calls.tag(present),
    )
    output.say(f"{kind}: {'on' if on else 'off'}")


@app.command()
def budget(
    amount: Annotated[
        int | None, typer.Argument(min=1, help="In minor units such as cents; absent: show it.")
    ] = None,
    none: Annotated[bool, typer.Option("--none", help="Remove the budget.")] = False,
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Show or set the monthly budget: at 50, 80 and 100 percent an event reports it."""
    if none and amount is not None:
        raise output.WrongUse("Give an amount or --none, not both.")
    api, tenant = login_store.connect(tenant)
    answer = notification_preferences.get_notification_defaults.sync_detailed(
        tenant, client=api.client
    )
    if none or amount is not None:
        answer = notification_preferences.change_notification_defaults.sync_detailed(
            tenant,
            client=api.client,
            body=models.PatchedDefaultsChangeRequest(budget_minor=amount),
            if_match=calls.tag(answer),
        )
    shown = calls.body(api, answer)
    output.show_one({name: shown.get(name) for name in ("budget_minor", "currency")}, form)


@app.command()
@slow.change
def channels(*, how: listing.TenantRows) -> None:
    """List the webhooks, chats and pagers of the tenant."""
    read = calls.tenant_list(notification_channels.list_notification_channels.sync_detailed)
    listing.show(how, read, _CHANNEL)


@app.command("add-channel")
def add_channel(
    name: str,
    url: Annotated[str, typer.Argument(help="https://… for a webhook, or a chat's URL.")],
    kinds: Kinds = None,
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Create a channel; the secret of a webhook is shown only once.

    A URL that begins with http is a webhook, any other one a chat or a pager.
    """
    api, tenant = login_store.connect(tenant)
    kind = "webhook" if url.startswith(("https://", "http://")) else "chat"
    body = {"name": name, "kind": kind, "url": url, "kinds": kinds or []}
    # Once: the answer to a repeated request would lack the secret.
    answer = notification_channels.create_notification_channel.sync_detailed(
        tenant, client=api.client, body=models.ChannelCreateRequest.from_dict(body)
    )
    output.show_one(calls.body(api, answer), form)


@app.command("enable-channel")
def enable_channel(
    channel: Channel,
    on: Annotated[bool, typer.Option("--on/--off", help="Whether it gets events.")] = True,
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Enable a channel that was disabled, or disable it (--off)."""
    api, tenant = login_store.connect(tenant)
    channel = _channel_id(api, tenant, channel)
    present = notification_channels.get_notification_channel.sync_detailed(
        tenant, channel, client=api.client
    )
    answer = notification_channels.change_notification_channel.sync_detailed(
        tenant,
        channel,
        client=api.client,
        body=models.PatchedChannelUpdateRequest(enabled=on),
        if_match=calls.tag(present),
    )
    output.show_one(calls.body(api, answer), form)


@app.command("remove-channel")
def remove_channel(channel: Channel, tenant: Tenant = None, yes: Yes = False) -> None:
    """Delete a channel with its log of deliveries."""
    api, tenant = login_store.connect(tenant)
    if not yes:
        output.confirm(f"Delete the channel {channel} and its log?")
    notification_channels.delete_notification_channel.sync_detailed(
        tenant, _channel_id(api, tenant, channel), client=api.client
    )
    output.say(f"deleted {channel}")


@app.command("test-channel")
def send_test(channel: Channel, tenant: Tenant = None) -> None:
    """Send a test event to one channel."""
    api, tenant = login_store.connect(tenant)
    notification_channels.test_notification_channel.sync_detailed(
        tenant,
        _channel_id(api, tenant, channel),
        client=api.client,
        idempotency_key=calls.new_key(),
    )
    output.say("sent; `waypost notifications deliveries` shows the outcome")


@app.command("rotate-secret")
def rotate_secret(channel: Channel, tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """Give a webhook a new secret; the former one is valid for another day."""
    api, tenant = login_store.connect(tenant)
    # Once: the answer to a repeated request would lack the secret.
    answer = notification_channels.rotate_secret_notification_channel.sync_detailed(
        tenant, _channel_id(api, tenant, channel), client=api.client
    )
    output.show_one(calls.body(api, answer), form)


@app.command()
@slow.change
def deliveries(
    channel: Annotated[
        str, typer.Option("--channel", help="Only those of this channel: id or name.")
    ] = "",
    state: Annotated[str, typer.Option(help="waiting, delivered, failed or dropped.")] = "",
    *,
    how: listing.TenantRows,
) -> None:
    """List what was sent to channels, newest first."""

    def read(api: Api, tenant: str) -> Iterator[Json]:
        page = partial(
            notification_deliveries.list_notification_deliveries.sync_detailed,
            tenant,
            client=api.client,
            channel=calls.given(channel and _channel_id(api, tenant, channel)),
            # The generated client checks the value, before anything is requested.
            state=check_list_notification_deliveries_state(state) if state else UNSET,
        )
        return calls.rows(api, page)

    listing.show(how, read, _DELIVERY)


@app.command()
def delivery(delivery: str, tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """Show one delivery with its attempts."""
    api, tenant = login_store.connect(tenant)
    answer = notification_deliveries.get_notification_delivery.sync_detailed(
        tenant, calls.named(delivery), client=api.client
    )
    found = calls.body(api, answer)
    if form.is_document:
        output.show_document(found, form)
        return
    # The attempts get a table of their own.
    log = found.pop("log")
    output.show_one(found, form)
    output.show_rows(log, ["at", "status", "duration_ms", "error", "response"], form)


@app.command()
def replay(delivery: str, tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """Send a delivery again."""
    api, tenant = login_store.connect(tenant)
    answer = notification_deliveries.replay_notification_delivery.sync_detailed(
        tenant, calls.named(delivery), client=api.client, idempotency_key=calls.new_key()
    )
    output.show_one(calls.body(api, answer), form)


def _channel_id(api: Api, tenant: str, channel: str) -> str:
    """Return the id of a channel from its id or its name."""
    calls.named(channel)
    rows = calls.tenant_list(notification_channels.list_notification_channels.sync_detailed)
    return calls.id_of(rows(api, tenant), channel)
