"""`waypost up`, `down`, `status`, `backup`, `restore`, `demo`: the installation of this machine."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer

from controlplane.cli import login_store, output
from controlplane.cli.options import State, Yes
from controlplane.cli.output import Format, Output
from controlplane.core.errors import Unavailable
from controlplane.embedded import backup as backups
from controlplane.embedded import installation as installations
from controlplane.embedded import restore as restoring
from controlplane.embedded import stack


def up(
    state: State = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="The portal's port.")] = None,
    form: Output = Format.TABLE,
) -> None:
    """Start the embedded Waypost and leave it running; again, it repairs what is missing."""
    began = time.monotonic()
    root = installations.root_from(state)
    with output.errors.status("starting"), _login_follows(root):
        started = stack.up(root, web_port=port, say=output.say)
    seconds, password = time.monotonic() - began, started.secrets.operator_password
    if form is Format.JSON:
        operator = {"email": installations.OPERATOR_EMAIL, "password": password}
        output.show_json({"root": root, "url": started.url, "operator": operator})
        return
    output.show_text(f"up after {seconds:.1f} s: {started.url}")
    output.show_text(f"operator: {installations.OPERATOR_EMAIL} / {password}")


@contextmanager
def _login_follows(root: Path) -> Iterator[None]:
    """Take the login along when the installation moves to another port, even if it then fails."""
    before = installations.load(root)
    try:
        yield
    finally:
        now = installations.load(root)
        if before and now and login_store.move(before.url, now.url):
            output.say(f"it moved from {before.url} to {now.url}, and your login with it")


def down(
    state: State = None,
    purge: Annotated[
        bool, typer.Option("--purge", help="Remove the folder too, and a login at its address.")
    ] = False,
    yes: Yes = False,
) -> None:
    """Stop the embedded Waypost; --purge asks before it removes everything."""
    root = installations.root_from(state)
    if purge and not yes:
        _confirm_purge(root)
    url = _url_of(root) if purge else ""
    with output.errors.status("stopping"):
        try:
            stack.down(root, purge=purge, say=output.say)
        except KeyboardInterrupt:
            again = "waypost down --purge" if purge else "waypost down"
            output.say(f"part of it may still be there: `waypost status` tells, `{again}` goes on")
            raise
    if url and login_store.forget(url):
        output.say(f"your login at {url} went with it")


def _url_of(root: Path) -> str:
    with suppress(Unavailable):  # what cannot be read can be removed
        found = installations.load(root)
        return found.url if found else ""
    return ""


def _confirm_purge(root: Path) -> None:
    with suppress(Unavailable):  # what cannot be read can be removed
        installations.require(root)
    output.confirm(f"Remove {root} with every message, invoice and key in it?")


def status(state: State = None, form: Output = Format.TABLE) -> None:
    """Show how the embedded Waypost is; ends with 7 when it is not up."""
    found = stack.status(installations.root_from(state))
    rows = [
        {
            "name": server.name,
            "state": server.state,
            "pid": server.pid or None,
            "memory_mb": server.memory_bytes // 1_000_000,
            "message": server.message.removeprefix(f"pid {server.pid}, "),
        }
        for server in found.servers
    ]
    if form is Format.JSON:
        output.show_json(
            {
                "root": found.root,
                "url": found.url,
                "is_up": found.is_up,
                "changed_by": found.changed_by or None,
                "router": found.router,
                "servers": rows,
            }
        )
    else:
        output.show_rows(rows, ["name", "state", "pid", "memory_mb", "message"], form)
        output.show_text(f"{found.url} is {'up' if found.is_up else 'down'} ({found.root})")
        if found.changed_by:
            output.show_text(f"{found.changed_by} is at work on it")
        output.show_text(f"standard spaces run on {found.router}")
        output.show_text("embedded: for trying, testing and showing; never for production")
    if not found.is_up:
        raise typer.Exit(7)


def backup(
    folder: Annotated[Path, typer.Argument(help="A new folder for the backup.")],
    state: State = None,
    form: Output = Format.TABLE,
) -> None:
    """Back up everything, stored messages and keys too; what runs is stopped meanwhile."""
    with output.errors.status("backing up"):
        made = backups.make(installations.root_from(state), folder.absolute(), say=output.say)
    keys = made / backups.KEYS
    if form is Format.JSON:
        output.show_json({"backup": made, "keys": keys})
        return
    output.show_text(f"backup: {made}")
    output.show_text(f"{keys} opens the secrets in it: keep it in another place")


def restore(
    folder: Annotated[Path, typer.Argument(help="The backup's folder.")],
    state: State = None,
    keys: Annotated[Path | None, typer.Option("--keys", help="Where keys.json was kept.")] = None,
    form: Output = Format.TABLE,
) -> None:
    """Make the installation of a backup again in an empty folder; `waypost up` starts it."""
    root = installations.root_from(state)
    with output.errors.status("restoring"):
        restoring.restore(folder.absolute(), root, keys=keys, say=output.say)
    if form is Format.JSON:
        output.show_json({"root": root})
        return
    output.show_text(f"restored into {root}; start it: waypost up --state {root}")


def demo(
    state: State = None,
    exit_: Annotated[bool, typer.Option("--exit", help="Stop everything at the end.")] = False,
    oidc: Annotated[bool, typer.Option("--oidc", help="Log in through Keycloak too.")] = False,
) -> None:
    """Show Waypost doing its job; ends with 0 only if every comparison held."""
    from controlplane.demo import story

    raise typer.Exit(story.run(installations.root_from(state), stays=not exit_, oidc=oidc))
