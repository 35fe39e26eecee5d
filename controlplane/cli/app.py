"""The tree of all commands, and how each ends at an interrupt, a question or an expected error."""

import getpass
import sys
import warnings
from typing import Any

import typer
from typer.core import TyperGroup

from controlplane.cli import (
    addresses,
    alarms,
    billing,
    connections,
    extras,
    messages,
    notifications,
    output,
    people,
    rollouts,
    spaces,
    tokens,
    users,
)


class Commands(TyperGroup):
    """The top group of commands. It handles Ctrl-C, and questions that nobody can answer."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command.

        If it is interrupted or cannot ask a question, print one line and end with exit code 130
        (interrupted) or 2 (there is no terminal to ask).
        """
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, typer.Abort) as error:
            if isinstance(error, typer.Abort):
                output.errors.print()  # ends the line of the question
            if isinstance(error, typer.Abort) and not sys.stdin.isatty():
                output.say("There is no terminal: give the answer as an option (see --help).")
                raise typer.Exit(2) from None
            output.say("interrupted")
            raise typer.Exit(130) from None


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Messaging as a service: run it, use it, check its bills.",
    epilog="Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 not allowed, 4 missing, "
    "5 conflict, 6 over a quota, 7 not available, 130 interrupted.",
)
# The order of these lines is the order in `waypost --help`.
if extras.has_embedded():
    from controlplane.cli import catalog, installation

    for command in installation.COMMANDS:
        app.command()(command)
app.command()(people.login)
app.command()(people.logout)
app.add_typer(spaces.app, name="spaces")
app.add_typer(addresses.app, name="addresses")
app.add_typer(messages.app, name="messages")
app.add_typer(alarms.app, name="alarms")
app.add_typer(users.app, name="users")
app.add_typer(connections.app, name="connections")
app.add_typer(billing.usage_app, name="usage")
app.add_typer(billing.invoices_app, name="invoices")
app.add_typer(tokens.app, name="tokens")
app.add_typer(notifications.app, name="notifications")
if extras.has_embedded():
    app.add_typer(catalog.app, name="catalog")
app.add_typer(rollouts.app, name="rollouts")


def run() -> None:
    """Parse the command line, run its command and end the process.

    An expected error is printed, and the exit code is the one that ``output`` documents.
    """
    # A password may come through a pipe, and getpass warns that it cannot hide it there.
    warnings.simplefilter("ignore", getpass.GetPassWarning)
    with output.refusals():
        app()
