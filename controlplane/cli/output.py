"""What people and scripts see: tables or JSON on stdout, progress and errors on stderr.

Exit codes, for scripts (docs/cli.md lists them too)::

    0  done                      4  no such thing, or not yours
    1  refused or failed         5  conflicts with the present state
    2  wrong usage               6  over a quota
    3  not logged in, not        7  nobody answers, or something is missing
       allowed                      on this machine: try again after mending it
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from controlplane.core.errors import (
    Conflict,
    Denied,
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
errors = Console(stderr=True, highlight=False, soft_wrap=True)


class Format(StrEnum):
    """How to print an answer."""

    TABLE = "table"
    JSON = "json"


Output = Annotated[
    Format, typer.Option("-o", "--output", help="A table for people, or JSON for programs.")
]


def show_rows(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], output: Format) -> None:
    """Print a list: the named columns as a table, or everything as JSON."""
    if output is Format.JSON:
        show_json(list(rows))
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(Text(column.replace("_", " ")), overflow="fold")
    for row in rows:
        table.add_row(*[_text(row.get(column)) for column in columns])
    _stdout().print(table)


def show_one(row: Mapping[str, Any], output: Format) -> None:
    """Print one thing: a line per field, or JSON."""
    if output is Format.JSON:
        show_json(row)
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, value in row.items():
        table.add_row(Text(name.replace("_", " ")), _text(value))
    _stdout().print(table)


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


@contextmanager
def refusals() -> Iterator[None]:
    """End the process with the documented exit code when the block raises an expected error."""
    try:
        yield
    except WaypostError as error:
        errors.print(f"{error.message}", style="red", markup=False)
        errors.print(f"code: {error.error_code}", style="dim", markup=False)
        raise SystemExit(exit_code(error)) from None
    except OSError as error:  # a file the caller named, a folder or a home that is not writable
        errors.print(
            f"{error.filename or 'This'}: {error.strerror or error}", style="red", markup=False
        )
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def exit_code(error: WaypostError) -> int:
    """Return the documented exit code of an error."""
    if error.error_code == QuotaExceeded.code:
        return 6
    if isinstance(error, Refused):
        return _BY_STATUS.get(error.http_status, 1)
    return next((code for kind, code in _BY_KIND if isinstance(error, kind)), 1)


def _stdout() -> Console:
    # Made at each use, so that a test's captured stdout is the one written to.
    return Console(highlight=False)


def _text(value: Any) -> Text:
    """Return a cell; square brackets in it are what somebody wrote, and no markup."""
    if value is None:
        return Text("-")
    if isinstance(value, list | dict):
        return Text(json.dumps(value, default=str))
    return Text(str(value))
