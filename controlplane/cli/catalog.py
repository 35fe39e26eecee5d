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

app = typer.Typer(no_args_is_help=True, help="The catalogue of plans and prices.")


@app.callback()
def catalog() -> None:
    """The catalogue of plans and prices."""


@app.command()
def publish(
    file: Path,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say who is affected.")] = False,
    state: State = None,
    form: Output = Format.TABLE,
) -> None:
    """Publish a catalogue from YAML as a new version."""
    if not file.is_file():
        why = f"{file} is a folder." if file.is_dir() else f"There is no file {file}."
        raise Invalid(why, code="catalogue.file")
    found = installations.require(installations.root_from(state))
    # A process of its own, because Django is set up once per process from its environment.
    options = [f"--output={form.value}", *(["--dry-run"] if dry_run else [])]
    job = [sys.executable, "-m", "controlplane.cli.publish", str(file.absolute()), *options]
    ended = subprocess.run(job, env=found.environment(), check=False)
    if ended.returncode:
        raise typer.Exit(ended.returncode)
    output.say("nothing was changed" if dry_run else "published")
