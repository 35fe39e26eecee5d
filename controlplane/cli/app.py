"""The command tree, and the one place where an expected error becomes an exit code."""

import getpass
import sys
import warnings
from typing import Any

import typer
from typer.core import TyperGroup

from controlplane.cli import (
    addresses,
    billing,
    catalog,
    installation,
    output,
    people,
    rollouts,
    spaces,
    tokens,
    users,
)


class Commands(TyperGroup):
    """The commands, each of which may be interrupted, or lack somebody who answers a question."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; one that nobody lets come to its end says so in one line."""
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, typer.Abort) as error:
            if isinstance(error, typer.Abort):
                output.errors.print()  # after the question
            if isinstance(error, typer.Abort) and not sys.stdin.isatty():
                output.say("Nobody can answer here: give what it asks for as an option (--help).")
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
for command in (
    installation.up,
    installation.down,
    installation.status,
    installation.backup,
    installation.restore,
    installation.demo,
):
    app.command()(command)
app.command()(people.login)
app.command()(people.logout)
app.add_typer(spaces.app, name="spaces")
app.add_typer(addresses.app, name="addresses")
app.add_typer(users.app, name="users")
app.add_typer(billing.usage_app, name="usage")
app.add_typer(billing.invoices_app, name="invoices")
app.add_typer(tokens.app, name="tokens")
app.add_typer(catalog.app, name="catalog")
app.add_typer(rollouts.app, name="rollouts")


def run() -> None:
    """Parse the command line and do it; expected errors end with a documented code."""
    # A password may come through a pipe; that it can be seen there is its sender's business.
    warnings.simplefilter("ignore", getpass.GetPassWarning)
    with output.refusals():
        app()
