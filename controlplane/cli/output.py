"""Prints the command's output: tables or JSON on stdout, progress and errors on stderr.

Exit codes, for scripts (docs/cli.md lists them too)::

    0  done                      4  it does not exist, or is not yours
    1  refused or failed         5  conflicts with the present state
    2  wrong usage               6  over a quota
    3  not logged in, not        7  no answer, or something is missing on
       allowed                      this machine: fix it and try again
                               130  interrupted
"""

import json
import re
import sys
import time
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

# Exit codes: refusals of the API by HTTP status, our own errors by class, and 1 for all others.
_BY_STATUS = {401: 3, 403: 3, 404: 4, 409: 5, 412: 5, 503: 7}
_BY_KIND: Sequence[tuple[type[WaypostError], int]] = (
    (QuotaExceeded, 6),
    (Denied, 3),
    (Missing, 4),
    (Conflict, 5),
    (Unavailable, 7),
)
_MOST_REASONS = 20
_WATCH_SECONDS = 3.0
_CLEAR = "\x1b[H\x1b[2J"  # ANSI: to the first column of the first line, then erase the screen
_UNBROKEN = 100_000  # columns: no line of an answer in a pipe is wrapped or truncated
errors = Console(stderr=True, highlight=False, soft_wrap=True)


class Format(StrEnum):
    """How to print an answer: as a table for people, or as JSON for programs."""

    TABLE = "table"
    JSON = "json"


# The format of the running command. Errors follow it, but the code that prints them does not know
# the command's options.
_requested: ContextVar[Format] = ContextVar("_requested", default=Format.TABLE)


def answer_in(form: Format) -> Format:
    """Make later errors print in ``form``, and return ``form``.

    typer calls it with the value of the option ``--output``.
    """
    _requested.set(form)
    return form


Output = Annotated[
    Format,
    typer.Option(
        "-o", "--output", callback=answer_in, help="A table for people, or JSON for programs."
    ),
]


def show_rows(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], output: Format) -> None:
    """Print a list of objects: a table with the fields ``columns``, or all fields as JSON."""
    if output is Format.JSON:
        show_json(list(rows))
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(Text(cells.heading(column)), overflow="fold")
    for row in rows:
        texts = [cells.text(column, row.get(column), row) for column in columns]
        # A row is one line. ``Text``, because rich would read brackets in a str as markup.
        table.add_row(*[Text(cell.replace("\n", "; ")) for cell in texts])
    _print(table)


def show_one(row: Mapping[str, Any], output: Format) -> None:
    """Print one object: a table with a row for each field, or JSON."""
    if output is Format.JSON:
        show_json(row)
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in row.items():
        table.add_row(Text(cells.heading(name)), Text(cells.text(name, value, row)))
    _print(table)


def watch(
    read: Callable[[], Mapping[str, Any]],
    output: Format,
    *,
    wait: Callable[[float], None] = time.sleep,
) -> None:
    """Call ``read`` every few seconds and print the object that it returns, until Ctrl-C.

    On a terminal each object replaces the one before. ``wait`` sleeps for the given seconds. The
    function only ends by an exception, such as the KeyboardInterrupt of Ctrl-C.
    """
    while True:
        row = read()
        if sys.stdout.isatty():
            sys.stdout.write(_CLEAR)
        show_one(row, output)
        sys.stdout.flush()
        wait(_WATCH_SECONDS)


def show_json(value: Any) -> None:
    """Print a value as JSON on stdout. Values that JSON lacks, such as paths, become texts."""
    sys.stdout.write(json.dumps(value, indent=2, default=str) + "\n")


def show_text(text: str) -> None:
    """Print text on stdout as it is, with a newline at the end."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")


def say(message: str) -> None:
    """Print progress for people on stderr, so that stdout holds only the answer."""
    errors.print(message, style="dim", markup=False)


@contextmanager
def progress(title: str) -> Iterator[Callable[[Json], None]]:
    """Show a line of progress while the block runs; on a terminal only.

    Yields a function that takes an operation and shows its first step that is not done.
    """
    with errors.status(Text(title)) as status:

        def update(operation: Json) -> None:
            running = [step for step in operation["steps"] if step["state"] != "done"]
            step = f": {running[0]['name']} {running[0]['message']}" if running else ""
            status.update(Text(f"{title}{step}"))

        yield update


def confirm(question: str) -> None:
    """Ask a question on stderr; return only if the user agrees.

    Raises:
        typer.Exit: the user does not agree; the exit code is 1.
        typer.Abort: Ctrl-C or Ctrl-D at the question.
        Invalid: ``confirmation.missing``: there is no terminal to ask.
    """
    try:
        agreed = typer.confirm(question, err=True)
    except typer.Abort:
        if sys.stdin.isatty():
            raise  # Ctrl-C or Ctrl-D at the question
        errors.print()  # ends the line of the question
        raise Invalid(
            "There is no terminal to ask for confirmation, so nothing was done: pass --yes.",
            code="confirmation.missing",
        ) from None
    if not agreed:
        say("nothing was done")
        raise typer.Exit(1)


@contextmanager
def refusals() -> Iterator[None]:
    """Print an expected error of the block and end the process with the documented exit code.

    Expected are every ``WaypostError``, an ``OSError`` (exit code 1) and an interrupt (130).
    """
    try:
        yield
    except WaypostError as error:
        _show_error(error)
        raise SystemExit(exit_code(error)) from None
    except OSError as error:  # such as a file that the user named and that cannot be written
        message = f"{error.filename or 'This'}: {error.strerror or error}"
        _show_error(Invalid(message, code="file.unusable"))
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        say("interrupted")
        raise SystemExit(130) from None


def exit_code(error: WaypostError) -> int:
    """Return the exit code for an error, one of those that the module's docstring lists."""
    if error.error_code == QuotaExceeded.code:  # raised here, or refused by the API (``Refused``)
        return 6
    if isinstance(error, Refused):
        return _BY_STATUS.get(error.http_status, 1)
    return next((code for kind, code in _BY_KIND if isinstance(error, kind)), 1)


def _show_error(error: WaypostError) -> None:
    """Print an error: its message, the reasons of each field and the code, or one line of JSON."""
    if _requested.get() is Format.JSON:
        problem = {"code": error.error_code, "message": error.message, "fields": dict(error.fields)}
        sys.stderr.write(json.dumps(problem, default=str) + "\n")
        return
    errors.print(error.message, style="red", markup=False)
    for reason in _reasons(error):
        errors.print(f"  {reason}", markup=False)
    errors.print(f"code: {error.error_code}", style="dim", markup=False)


def _reasons(error: WaypostError) -> Sequence[str]:
    """Return lines ``field: reason`` for the error's reasons that its message does not contain.

    At most 20 reasons have a line; one more line has the number of the rest.
    """
    found = [
        f"{name}: {reason}"
        for name, reasons in error.fields.items()
        if not isinstance(reasons, Mapping)
        for reason in (reasons if isinstance(reasons, list | tuple) else [reasons])
        if not _contains(error.message, str(reason))
    ]
    rest = len(found) - _MOST_REASONS
    return [*found[:_MOST_REASONS], *([f"and {rest} more"] if rest > 0 else [])]


def _contains(message: str, sentence: str) -> bool:
    """Return whether the message contains ``sentence`` as a whole sentence."""
    return bool(re.search(rf"(^|[.:;] ){re.escape(sentence)}($|\s)", message))


def _print(table: Table) -> None:
    # No global console: the width depends on sys.stdout, which tests replace.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _UNBROKEN)
    with console.capture() as drawn:
        console.print(table)
    show_text("\n".join(line.rstrip() for line in drawn.get().splitlines()))
