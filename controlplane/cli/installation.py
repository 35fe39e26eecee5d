"""`waypost up`, `down`, `status`, `backup`, `restore`, `demo`: the embedded installation."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer

from controlplane.cli import login_store, output
from controlplane.cli.options import State, Yes
from controlplane.cli.output import Format, Output
from controlplane.core.accounts import OPERATOR_EMAIL
from controlplane.core.errors import Unavailable
from controlplane.embedded import backup as backups
from controlplane.embedded import chosen_settings, stack
from controlplane.embedded import installation as installations
from controlplane.embedded import restore as restoring


def up(
    state: State = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="The portal's port.")] = None,
    chosen: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting to keep, such as WAYPOST_SMTP_HOST=smtp.example.com; repeatable. An "
            "empty value takes a setting back.",
        ),
    ] = None,
    form: Output = Format.TABLE,
) -> None:
    """Start the embedded Waypost and leave it running; run it again to restart what ended."""
    began = time.monotonic()
    root = installations.root_from(state)
    settings = chosen_settings.parse(chosen or [])
    with output.working("starting"), _login_follows(root):
        started = stack.up(root, web_port=port, settings=settings, say=output.say)
    seconds, password = time.monotonic() - began, started.secrets.operator_password
    if form.is_document:
        operator = {"email": OPERATOR_EMAIL, "password": password}
        shown = {"root": root, "url": started.url, "operator": operator}
        output.show_document({**shown, "metrics_token": started.metrics_token}, form)
        return
    output.show_text(f"up after {seconds:.1f} s: {started.url}")
    output.show_text(f"operator: {OPERATOR_EMAIL} / {password}")


@contextmanager
def _login_follows(root: Path) -> Iterator[None]:
    """Change the stored login's URL if the block moves the installation to another port.

    The installation is that in ``root``. Only a login at its former URL changes, also if the block
    raises an error after the move.
    """
    before = installations.load(root)
    try:
        yield
    finally:
        now = installations.load(root)
        if before and now and login_store.move(before.url, now.url):
            output.say(f"it moved from {before.url} to {now.url}, and your login was changed")


def down(
    state: State = None,
    purge: Annotated[
        bool, typer.Option("--purge", help="Remove the folder too, and your login there.")
    ] = False,
    yes: Yes = False,
) -> None:
    """Stop the embedded Waypost; --purge asks before it removes everything."""
    root = installations.root_from(state)
    if purge and not yes:
        with suppress(Unavailable):  # an unreadable installation can be removed
            installations.require(root)
        output.confirm(f"Remove {root} with every message, invoice and key in it?")
    url = ""
    if purge:
        # Read before the purge removes it.
        with suppress(Unavailable):  # an unreadable installation can be removed
            found = installations.load(root)
            url = found.url if found else ""
    with output.working("stopping"):
        try:
            stack.down(root, purge=purge, say=output.say)
        except KeyboardInterrupt:
            again = "waypost down --purge" if purge else "waypost down"
            output.say(f"it may be half stopped: see `waypost status`, and continue with `{again}`")
            raise
    if url and login_store.forget(url):
        output.say(f"your login at {url} was removed with it")


def status(state: State = None, form: Output = Format.TABLE) -> None:
    """Show the state of the embedded Waypost; the exit code is 7 if it is not up."""
    found = stack.status(installations.root_from(state))
    rows = [
        {
            "name": server.name,
            "state": server.state,
            "pid": server.pid or None,
            "memory_mb": server.memory_bytes // 1_000_000,
            # supervisord's text repeats the pid, which has its own column.
            "message": server.message.removeprefix(f"pid {server.pid}, "),
        }
        for server in found.servers
    ]
    if form.is_document:
        shown = {
            "root": found.root,
            "url": found.url,
            "is_up": found.is_up,
            "changed_by": found.changed_by or None,
            "router": found.router,
            "servers": rows,
        }
        output.show_document(shown, form)
    else:
        output.show_rows(rows, ["name", "state", "pid", "memory_mb", "message"], form)
        output.show_text(f"{found.url} is {'up' if found.is_up else 'down'} ({found.root})")
        if found.changed_by:
            output.show_text(f"{found.changed_by} is changing it now")
        output.show_text(f"standard spaces run on {found.router}")
        output.show_text("embedded: for trials, tests and demonstrations; never for production")
    if not found.is_up:
        raise typer.Exit(7)


def backup(
    folder: Annotated[Path, typer.Argument(help="A new folder for the backup.")],
    state: State = None,
    form: Output = Format.TABLE,
) -> None:
    """Back up everything with stored messages and keys; Waypost is stopped meanwhile."""
    with output.working("backing up"):
        made = backups.make(installations.root_from(state), folder.absolute(), say=output.say)
    keys = made / backups.KEYS
    if form.is_document:
        output.show_document({"backup": made, "keys": keys}, form)
        return
    output.show_text(f"backup: {made}")
    output.show_text(f"{keys} decrypts the secrets in it: store it somewhere else")


def restore(
    folder: Annotated[Path, typer.Argument(help="The backup's folder.")],
    state: State = None,
    keys: Annotated[Path | None, typer.Option("--keys", help="Where keys.json was kept.")] = None,
    form: Output = Format.TABLE,
) -> None:
    """Restore the installation of a backup in an empty folder; `waypost up` starts it."""
    root = installations.root_from(state)
    with output.working("restoring"):
        restoring.restore(folder.absolute(), root, keys=keys, say=output.say)
    if form.is_document:
        output.show_document({"root": root}, form)
        return
    output.show_text(f"restored into {root}; start it: waypost up --state {root}")


def demo(
    state: State = None,
    exit_: Annotated[bool, typer.Option("--exit", help="Stop everything at the end.")] = False,
    oidc: Annotated[bool, typer.Option("--oidc", help="Log in through Keycloak too.")] = False,
) -> None:
    """Run a demonstration; the exit code is 0 only if it completes and all comparisons match."""
    # Imported here, because only this command needs its AMQP clients.
    from controlplane.demo import story

    raise typer.Exit(story.run(installations.root_from(state), stays=not exit_, oidc=oidc))


# The order in `waypost --help`.
COMMANDS = (up, down, status, backup, restore, demo)
