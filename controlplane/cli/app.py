"""The tree of all commands, and how each ends at an interrupt, a question or an expected error."""

import getpass
import sys
import warnings
from importlib import metadata
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from controlplane.cli import (
    addresses,
    alarms,
    apply,
    billing,
    closure,
    connections,
    contexts,
    credit,
    drill_down,
    exports,
    extras,
    identity,
    login_store,
    members,
    messages,
    notifications,
    output,
    payments,
    people,
    pipeline,
    plans,
    rollouts,
    selling,
    spaces,
    spend_cap,
    staff,
    tenant_lists,
    tokens,
    traffic,
    users,
    windows,
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
    # `--install-completion` and `--show-completion`, for bash, zsh, fish and PowerShell.
    add_completion=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    help="Messaging as a service: run it, use it, check its bills.",
    epilog="Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 not allowed, 4 missing, "
    "5 conflict, 6 over a quota, 7 not available, 8 differences, 130 interrupted.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        output.show_text(f"waypost {metadata.version('waypost')}")
        raise typer.Exit


@app.callback()
def options(
    context: Annotated[
        str,
        typer.Option(
            envvar="WAYPOST_CONTEXT", help="The stored login to use (see `waypost contexts`)."
        ),
    ] = "",
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Messaging as a service: run it, use it, check its bills."""
    login_store.choose(context)


# The order of these lines is the order in `waypost --help`.
if extras.has_embedded():
    from controlplane.cli import catalog, installation

    for command in installation.COMMANDS:
        app.command()(command)
app.command()(people.login)
app.command()(people.logout)
app.add_typer(contexts.app, name="contexts")
app.command()(identity.whoami)
app.command("open")(identity.open_portal)
app.command()(apply.apply)
app.command()(apply.export)
app.add_typer(plans.app, name="plans")
app.add_typer(spaces.app, name="spaces")
app.add_typer(addresses.app, name="addresses")
app.add_typer(messages.app, name="messages")
app.command()(traffic.send)
app.command()(traffic.receive)
app.command()(traffic.browse)
app.add_typer(alarms.app, name="alarms")
app.add_typer(users.app, name="users")
app.add_typer(connections.app, name="connections")
app.add_typer(billing.usage_app, name="usage")
drill_down.add_to(billing.invoices_app)
app.add_typer(billing.invoices_app, name="invoices")
app.add_typer(payments.app, name="payments")
app.add_typer(credit.app, name="credit")
app.add_typer(selling.seller_app, name="seller")
app.add_typer(selling.tax_app, name="tax")
app.add_typer(exports.app, name="exports")
app.add_typer(members.app, name="members")
app.add_typer(members.invitations_app, name="invitations")
app.add_typer(tokens.app, name="tokens")
app.add_typer(tenant_lists.quotas_app, name="quotas")
app.add_typer(spend_cap.app, name="spend-cap")
app.add_typer(tenant_lists.audit_app, name="audit")
app.add_typer(tenant_lists.operations_app, name="operations")
app.add_typer(windows.app, name="windows")
app.add_typer(closure.app, name="tenant")
app.add_typer(notifications.app, name="notifications")
if extras.has_embedded():
    app.add_typer(catalog.app, name="catalog")
app.add_typer(rollouts.app, name="rollouts")
app.add_typer(pipeline.app, name="pipeline")
app.add_typer(staff.app, name="staff")


def run() -> None:
    """Parse the command line, run its command and end the process.

    An expected error is printed, and the exit code is the one that ``output`` documents.
    """
    # A password may come through a pipe, and getpass warns that it cannot hide it there.
    warnings.simplefilter("ignore", getpass.GetPassWarning)
    with output.refusals():
        app()
