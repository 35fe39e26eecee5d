"""What people and scripts see: tables or JSON on stdout, progress and errors on stderr.

Exit codes, for scripts (docs/cli.md lists them too)::

    0  done                      4  no such thing, or not yours
    1  refused or failed         5  conflicts with the present state
    2  wrong usage               6  over a quota
    3  not logged in, not        7  nobody answers, or something is missing
       allowed                      on this machine: try again after mending it
                               130  interrupted
"""

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from controlplane.cli import cells
from controlplane.core.errors import (
    Conflict,
    Denied,
    Invalid,
    Missing,
    QuotaExceeded,
    Unavailable,
    WaypostError,
)
from controlplane.rest_client import Json, Refused

_BY_STATUS = {401: 3, 403: 3, 404: 4, 409: 5, 412: 5, 503: 7}
_BY_KIND: Sequence[tuple[type[WaypostError], int]] = (
    (QuotaExceeded, 6),
    (Denied, 3),
    (Missing, 4),
    (Conflict, 5),
    (Unavailable, 7),
)
_MOST_REASONS = 20
_UNBROKEN = 100_000  # columns: no line of an answer in a pipe is wrapped or cut
errors = Console(stderr=True, highlight=False, soft_wrap=True)


class Format(StrEnum):
    """How to print an answer."""

    TABLE = "table"
    JSON = "json"


_asked: ContextVar[Format] = ContextVar("_asked", default=Format.TABLE)


def answer_in(form: Format) -> Format:
    """Answer in ``form`` from now on, refusals too; return it."""
    _asked.set(form)
    return form


Output = Annotated[
    Format,
    typer.Option(
        "-o", "--output", callback=answer_in, help="A table for people, or JSON for programs."
    ),
]


def show_rows(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], output: Format) -> None:
    """Print a list: the named columns as a table, or everything as JSON."""
    if output is Format.JSON:
        show_json(list(rows))
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(Text(cells.heading(column)), overflow="fold")
    for row in rows:
        said = [cells.text(column, row.get(column), row) for column in columns]
        table.add_row(*[Text(each.replace("\n", "; ")) for each in said])
    _print(table)


def show_one(row: Mapping[str, Any], output: Format) -> None:
    """Print one thing: a line per field, or JSON."""
    if output is Format.JSON:
        show_json(row)
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in row.items():
        table.add_row(Text(cells.heading(name)), Text(cells.text(name, value, row)))
    _print(table)


def show_json(value: Any) -> None:
    """Print JSON that a program can read."""
    sys.stdout.write(json.dumps(value, indent=2, default=str) + "\n")


def show_text(text: str) -> None:
    """Print text as it is."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")


def say(message: str) -> None:
    """Tell a person how far it is, on stderr, so that stdout stays clean."""
    errors.print(message, style="dim", markup=False)


@contextmanager
def progress(title: str) -> Iterator[Callable[[Json], None]]:
    """Show a running operation's present step while the block runs (nothing when piped)."""
    with errors.status(Text(title)) as status:

        def update(operation: Json) -> None:
            running = [step for step in operation["steps"] if step["state"] != "done"]
            step = f": {running[0]['name']} {running[0]['message']}" if running else ""
            status.update(Text(f"{title}{step}"))

        yield update


def confirm(question: str) -> None:
    """Return if a person agrees; otherwise nothing is done and the command ends with 1.

    Raises:
        Invalid: ``confirmation.missing``: there is nobody to ask.
    """
    try:
        agreed = typer.confirm(question, err=True)
    except typer.Abort:
        if sys.stdin.isatty():
            raise
        errors.print()  # after the question
        raise Invalid(
            "Nobody can answer here, so nothing was done: pass --yes to do it without a question.",
            code="confirmation.missing",
        ) from None
    if not agreed:
        say("nothing was done")
        raise typer.Exit(1)


@contextmanager
def refusals() -> Iterator[None]:
    """End the process with the documented exit code when the block raises an expected error."""
    try:
        yield
    except WaypostError as error:
        _tell(error)
        raise SystemExit(exit_code(error)) from None
    except OSError as error:  # a file the caller named, a folder or a home that is not writable
        words = f"{error.filename or 'This'}: {error.strerror or error}"
        _tell(Invalid(words, code="file.unusable"))
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        say("interrupted")
        raise SystemExit(130) from None


def exit_code(error: WaypostError) -> int:
    """Return the documented exit code of an error."""
    if error.error_code == QuotaExceeded.code:
        return 6
    if isinstance(error, Refused):
        return _BY_STATUS.get(error.http_status, 1)
    return next((code for kind, code in _BY_KIND if isinstance(error, kind)), 1)


def _tell(error: WaypostError) -> None:
    """Print a refusal: words and the reasons of each field, or one line of JSON."""
    if _asked.get() is Format.JSON:
        told = {"code": error.error_code, "message": error.message, "fields": dict(error.fields)}
        sys.stderr.write(json.dumps(told, default=str) + "\n")
        return
    errors.print(error.message, style="red", markup=False)
    for reason in _reasons(error):
        errors.print(f"  {reason}", markup=False)
    errors.print(f"code: {error.error_code}", style="dim", markup=False)


def _reasons(error: WaypostError) -> Sequence[str]:
    """Return what is wrong with each field, but for what the message says already."""
    found = [
        f"{name}: {reason}"
        for name, reasons in error.fields.items()
        if not isinstance(reasons, Mapping)
        for reason in (reasons if isinstance(reasons, list | tuple) else [reasons])
        if not _says(error.message, str(reason))
    ]
    rest = len(found) - _MOST_REASONS
    return [*found[:_MOST_REASONS], *([f"and {rest} more"] if rest > 0 else [])]


def _says(message: str, sentence: str) -> bool:
    """Return whether the whole sentence is in the message; a word or a number in it is none."""
    return bool(re.search(rf"(^|[.:;] ){re.escape(sentence)}($|\s)", message))


def _print(table: Table) -> None:
    # Made at each use, so that a test's captured stdout is the one written to.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _UNBROKEN)
    with console.capture() as drawn:
        console.print(table)
    show_text("\n".join(line.rstrip() for line in drawn.get().splitlines()))
