"""Prints the command's output: tables, JSON or YAML on stdout, progress and errors on stderr.

Exit codes, for scripts (docs/cli.md lists them too)::

    0  done                      4  it does not exist, or is not yours
    1  refused or failed         5  conflicts with the present state
    2  wrong usage               6  over a quota
    3  not logged in, not        7  no answer, or something is missing on
       allowed                      this machine: fix it and try again
                                 8  ``apply --dry-run`` found differences
                               130  interrupted
"""

import json
import re
import sys
import threading
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
_BY_STATUS = {401: 3, 403: 3, 404: 4, 409: 5, 412: 5, 428: 5, 503: 7}
_MOST_REASONS = 20  # lines; how many more there are is counted
_WATCH_SECONDS = 3.0  # between two reads of ``--watch``
_QUIET_SECONDS = 2.0  # a wait of at most this time needs no line of progress
# Fields that identify an object, the preferred ones first.
_IDENTITIES = ("name", "address", "slug", "email", "number", "key", "resource", "id")
_CLEAR = "\x1b[H\x1b[2J"  # ANSI: to the first column of the first line, then erase the screen
_UNBROKEN = 100_000  # columns: no line of an answer in a pipe is wrapped or truncated
pause = time.sleep  # between two readings of ``repeat``
errors = Console(stderr=True, highlight=False, soft_wrap=True)


class WrongUse(Invalid):
    """The command line, or a file that it names, is wrong: exit code 2."""

    code = "usage"


# The first class of an error that fits decides the exit code.
_BY_KIND: Sequence[tuple[type[WaypostError], int]] = (
    (WrongUse, 2),
    (QuotaExceeded, 6),
    (Denied, 3),
    (Missing, 4),
    (Conflict, 5),
    (Unavailable, 7),
)


class Format(StrEnum):
    """How to print an answer.

    ``table`` for people, ``wide`` with more columns, ``name`` for the arguments of other commands,
    ``json`` and ``yaml`` with all fields for programs.
    """

    TABLE = "table"
    WIDE = "wide"
    NAME = "name"
    JSON = "json"
    YAML = "yaml"

    @property
    def is_document(self) -> bool:
        """Whether the answer is printed with all fields, as the API returns it."""
        return self in (Format.JSON, Format.YAML)

    @property
    def is_table(self) -> bool:
        return self in (Format.TABLE, Format.WIDE)


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
        "-o",
        "--output",
        callback=answer_in,
        help="table or wide for people; json or yaml, with all fields, or name for programs.",
    ),
]


def show_rows(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], output: Format) -> None:
    """Print a list of objects.

    A table has the fields ``columns``. A wide table also has all other fields that are not nested.
    ``name`` prints what identifies each object, ``json`` and ``yaml`` print all fields.
    """
    if output.is_document:
        show_document(list(rows), output)
        return
    if output is Format.NAME:
        for row in rows:
            show_text(name_of(row, columns))
        return
    if output is Format.WIDE:
        fields = dict.fromkeys(name for row in rows for name in row)
        # Nested in any row: a field that is null in one row may be an object in another.
        nested = {name for row in rows for name in row if isinstance(row[name], dict | list)}
        columns = [*columns, *(name for name in fields if name not in {*columns, *nested})]
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(Text(cells.heading(column)), overflow="fold")
    for row in rows:
        texts = [cells.text(column, cells.one_line(row.get(column)), row) for column in columns]
        # A row is one line. ``Text``, because rich would read brackets in a str as markup.
        table.add_row(*[Text(cell.replace("\n", "; ")) for cell in texts])
    _print(table)


def show_one(row: Mapping[str, Any], output: Format) -> None:
    """Print one object: a table with a row for each field, its name only, JSON or YAML."""
    if output.is_document:
        show_document(row, output)
        return
    if output is Format.NAME:
        show_text(name_of(row))
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in row.items():
        table.add_row(Text(cells.heading(name)), Text(cells.text(name, value, row)))
    _print(table)


def name_of(row: Mapping[str, Any], columns: Sequence[str] = ()) -> str:
    """Return what identifies ``row`` in arguments of other commands: a name, else an id.

    The first of ``columns`` is preferred. Empty if ``row`` has no field that identifies it.
    """
    found = [row.get(name) for name in (*columns[:1], *_IDENTITIES)]
    return next((str(value) for value in found if value not in (None, "")), "")


def watch(
    read: Callable[[], Mapping[str, Any]],
    output: Format,
    *,
    wait: Callable[[float], None] | None = None,
) -> None:
    """Call ``read`` every few seconds and print the object that it returns, until Ctrl-C.

    On a terminal each object replaces the one before. ``wait`` sleeps for the given seconds. The
    function only ends by an exception, such as the KeyboardInterrupt of Ctrl-C.
    """

    def draw() -> Callable[[], None]:
        row = read()
        return lambda: show_one(row, output)

    repeat(draw, wait=wait)


def repeat(
    read: Callable[[], Callable[[], None]], *, wait: Callable[[float], None] | None = None
) -> None:
    """Call ``read`` every few seconds, and then the function that it returns, which prints.

    On a terminal each answer replaces the one before; it is read before the screen is cleared.
    ``wait`` sleeps for the given seconds. The function only ends by an exception.
    """
    wait = wait or pause
    while True:
        draw = read()
        if sys.stdout.isatty():
            sys.stdout.write(_CLEAR)
        draw()
        sys.stdout.flush()
        wait(_WATCH_SECONDS)


def show_document(value: Any, output: Format) -> None:
    """Print a value with all fields: as YAML if ``output`` is YAML, else as JSON."""
    if output is not Format.YAML:
        show_json(value)
        return
    import yaml  # not at the top: most commands print no YAML, and the import takes 20 ms

    plain = json.loads(json.dumps(value, default=str))
    show_text(yaml.safe_dump(plain, sort_keys=False, allow_unicode=True))


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
def working(title: str, *, quiet_seconds: float = _QUIET_SECONDS) -> Iterator[None]:
    """Show ``title`` on stderr while the block runs.

    Without a terminal it is one line, and only if the block takes over ``quiet_seconds``.
    """
    if errors.is_terminal:
        with errors.status(Text(title)):
            yield
        return
    late = threading.Timer(quiet_seconds, say, [f"{title} …"])
    late.daemon = True
    late.start()
    try:
        yield
    finally:
        late.cancel()


@contextmanager
def progress(
    title: str, *, clock: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[Json], None]]:
    """Show progress while the block runs: a line that changes, on a terminal.

    Without a terminal, a change of progress is a line, from two seconds on. Yields a function that
    takes an operation and shows its first step that is not done.
    """
    with errors.status(Text(title)) as status:
        began, shown = clock(), ""

        def update(operation: Json) -> None:
            nonlocal shown
            running = [step for step in operation["steps"] if step["state"] != "done"]
            step = f": {running[0]['name']} {running[0]['message']}" if running else ""
            text = f"{title}{step}".rstrip()
            status.update(Text(text))
            is_ended = operation.get("state") in ("Succeeded", "Failed")
            is_due = clock() - began > _QUIET_SECONDS and text != shown and not is_ended
            if is_due and not errors.is_terminal:
                shown = text
                say(text)

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
    if _requested.get().is_document:
        problem = {"code": error.error_code, "message": error.message, "fields": dict(error.fields)}
        problem |= getattr(error, "facts", {})
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
        for listed in [reasons if isinstance(reasons, list | tuple) else [reasons]]
        if not _lists(error.message, listed)
        for reason in listed
        if not _contains(error.message, str(reason))
    ]
    rest = len(found) - _MOST_REASONS
    return [*found[:_MOST_REASONS], *([f"and {rest} more"] if rest > 0 else [])]


def _lists(message: str, alternatives: Sequence[Any]) -> bool:
    """Return whether the message ends with all of ``alternatives``, separated by commas."""
    listed = ", ".join(map(str, alternatives))
    return bool(listed) and re.search(rf"(^|[ (]){re.escape(listed)}\.?$", message) is not None


def _contains(message: str, sentence: str) -> bool:
    """Return whether the message contains ``sentence`` as a whole sentence."""
    return bool(re.search(rf"(^|[.:;] ){re.escape(sentence)}($|\s)", message))


def _print(table: Table) -> None:
    # No global console: the width depends on sys.stdout, which tests replace.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _UNBROKEN)
    with console.capture() as drawn:
        console.print(table)
    show_text("\n".join(line.rstrip() for line in drawn.get().splitlines()))
