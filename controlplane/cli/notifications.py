"""`waypost notifications`: kinds of events, own mails, channels, and what was sent to them."""

from typing import Annotated

import typer

from controlplane.cli import login_store, output
from controlplane.cli.options import Tenant, Yes
from controlplane.cli.output import Format, Output
from controlplane.rest_client import segment

app = typer.Typer(no_args_is_help=True, help="Notifications: own mails, channels, deliveries.")
_CHANNEL = ["id", "name", "kind", "target", "kinds", "enabled", "failing_since", "disabled_reason"]
_DELIVERY = ["id", "kind", "channel", "state", "attempts", "next_attempt_at", "reason"]
Kinds = Annotated[list[str] | None, typer.Option("--event", "-e", help="A kind; none means all.")]


@app.command()
def kinds(tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """List the kinds of events."""
    api, tenant = login_store.connect(tenant)
    rows = api.get(f"/tenants/{tenant}/notification-kinds")["items"]
    output.show_rows(rows, ["key", "severity", "title", "roles"], form)


@app.command()
def mails(tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """List what you get by mail."""
    api, tenant = login_store.connect(tenant)
    rows = api.get(f"/tenants/{tenant}/notification-preferences/me")["items"]
    output.show_rows(rows, ["kind", "by_mail", "own", "default", "is_fixed"], form)


@app.command()
def mail(
    kind: str,
    on: Annotated[bool, typer.Option("--on/--off", help="Whether you get it by mail.")] = True,
    tenant: Tenant = None,
) -> None:
    """Choose whether you get one kind of event by mail."""
    api, tenant = login_store.connect(tenant)
    body = {"choices": {kind: on}}
    api.patch(f"/tenants/{tenant}/notification-preferences/me", body)
    output.say(f"{kind}: {'on' if on else 'off'}")


@app.command()
def channels(tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """List the webhooks, chats and pagers of the tenant."""
    api, tenant = login_store.connect(tenant)
    rows = list(api.pages(f"/tenants/{tenant}/notification-channels"))
    output.show_rows(rows, _CHANNEL, form)


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
    output.show_one(api.post(f"/tenants/{tenant}/notification-channels", body), form)


@app.command("enable-channel")
def enable_channel(
    channel: str,
    on: Annotated[bool, typer.Option("--on/--off", help="Whether it gets events.")] = True,
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Enable a channel that was disabled, or disable it (--off)."""
    api, tenant = login_store.connect(tenant)
    changed = api.patch(_channel(tenant, channel), {"enabled": on})
    output.show_one(changed, form)


@app.command("remove-channel")
def remove_channel(channel: str, tenant: Tenant = None, yes: Yes = False) -> None:
    """Delete a channel with its log of deliveries."""
    api, tenant = login_store.connect(tenant)
    if not yes:
        output.confirm(f"Delete the channel {channel} and its log?")
    api.delete(_channel(tenant, channel))
    output.say(f"deleted {channel}")


@app.command("test-channel")
def send_test(channel: str, tenant: Tenant = None) -> None:
    """Send a test event to one channel."""
    api, tenant = login_store.connect(tenant)
    api.post(f"{_channel(tenant, channel)}/test")
    output.say("sent; `waypost notifications deliveries` shows the outcome")


@app.command("rotate-secret")
def rotate_secret(channel: str, tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """Give a webhook a new secret; the former one is valid for another day."""
    api, tenant = login_store.connect(tenant)
    output.show_one(api.post(f"{_channel(tenant, channel)}/secret"), form)


@app.command()
def deliveries(
    channel: Annotated[str, typer.Option("--channel", help="Only those of this channel.")] = "",
    state: Annotated[str, typer.Option(help="waiting, delivered, failed or dropped.")] = "",
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """List what was sent to channels, newest first."""
    api, tenant = login_store.connect(tenant)
    wanted = {"channel": channel, "state": state}
    query = {name: value for name, value in wanted.items() if value}
    rows = list(api.pages(f"/tenants/{tenant}/notification-deliveries", **query))
    output.show_rows(rows, _DELIVERY, form)


@app.command()
def delivery(delivery: str, tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """Show one delivery with its attempts."""
    api, tenant = login_store.connect(tenant)
    found = api.get(f"/tenants/{tenant}/notification-deliveries/{segment(delivery)}")
    if form is Format.JSON:
        output.show_json(found)
        return
    log = found.pop("log")
    output.show_one(found, form)
    output.show_rows(log, ["at", "status", "duration_ms", "error", "response"], form)


@app.command()
def replay(delivery: str, tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """Send a delivery again."""
    api, tenant = login_store.connect(tenant)
    path = f"/tenants/{tenant}/notification-deliveries/{segment(delivery)}/replay"
    output.show_one(api.post(path), form)


def _channel(tenant: str, channel: str) -> str:
    return f"/tenants/{tenant}/notification-channels/{segment(channel)}"
