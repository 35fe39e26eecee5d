"""`waypost catalog publish`: new plans and prices for the embedded installation."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from controlplane.cli import output
from controlplane.cli.options import State
from controlplane.cli.output import Format, Output
from controlplane.core.errors import Invalid
from controlplane.embedded import installation as installations

app = typer.Typer(no_args_is_help=True, help="The catalog of plans and prices.")


@app.callback()
def catalog() -> None:
    """The catalog of plans and prices."""


@app.command()
def publish(
    file: Path,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show the changes.")] = False,
    state: State = None,
    form: Output = Format.TABLE,
) -> None:
    """Publish a catalog from a YAML file as a new version.

    A catalog that equals the newest version is not published again.
    """
    if not file.is_file():
        why = f"{file} is a folder." if file.is_dir() else f"There is no file {file}."
        raise Invalid(why, code="catalog.file")
    found = installations.require(installations.root_from(state))
    # In a process of its own: Django is set up once per process, from environment variables.
    options = [f"--output={form.value}", *(["--dry-run"] if dry_run else [])]
    command = [sys.executable, "-m", "controlplane.cli.publish", str(file.absolute()), *options]
    result = subprocess.run(command, env=found.environment(), check=False)
    if result.returncode:  # it has printed the error
        raise typer.Exit(result.returncode)
    output.say("nothing was changed" if dry_run else "published")
