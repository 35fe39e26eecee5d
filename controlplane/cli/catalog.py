"""`waypost catalog`: new plans and prices for the embedded installation, without a login."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from controlplane.cli import output, prices
from controlplane.cli.options import State
from controlplane.cli.output import Format, Output
from controlplane.embedded import installation as installations

app = typer.Typer(no_args_is_help=True, help="The catalog of plans and prices.")


@app.callback()
def catalog() -> None:
    """The catalog of plans and prices."""


@app.command()
def diff(file: Path, state: State = None, form: Output = Format.TABLE) -> None:
    """Show what a catalog changes: in words, and in money for the last month of each tenant."""
    _run(file, ["--diff"], state, form)


@app.command()
def publish(
    file: Path,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show the changes, in words and in money.")
    ] = False,
    effective: prices.Effective = None,
    at_once: prices.AtOnce = False,
    state: State = None,
    form: Output = Format.TABLE,
) -> None:
    """Publish a catalog from a YAML file as a new version, or schedule it.

    A catalog that equals the newest version is not published again.
    """
    options = [
        *(["--dry-run"] if dry_run else []),
        *([f"--effective={effective.isoformat()}"] if effective else []),
        *(["--at-once"] if at_once else []),
    ]
    _run(file, options, state, form)
    output.say("nothing was changed" if dry_run else "scheduled" if effective else "published")


def _run(file: Path, options: list[str], state: Path | None, form: Format) -> None:
    prices.text_of(file)  # refuses what is no file
    found = installations.require(installations.root_from(state))
    # In a process of its own: Django is set up once per process, from environment variables.
    module = [sys.executable, "-m", "controlplane.cli.publish", str(file.absolute())]
    command = [*module, f"--output={form.value}", *options]
    result = subprocess.run(command, env=found.environment(), check=False)
    if result.returncode:  # it has printed the error
        raise typer.Exit(result.returncode)
