"""Lists: their common options (``--filter``, ``--watch``, ``--output``), and how they print.

A filter compares a field of each row with a value, on this machine: the whole list is read. So it
works with every field of every list, and with servers of every version.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from controlplane.cli import login_store, output
from controlplane.cli.options import Tenant
from controlplane.cli.output import Format, Output
from controlplane.core.errors import Invalid
from controlplane.rest_client import Api, Json

Filters = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        help="Only rows with FIELD=VALUE; also != < > <= >= and ~ (contains). Fields as in -o "
        "json, nested ones as live.depth or labels.team. Repeatable: all must match.",
    ),
]
Watch = Annotated[
    bool, typer.Option("--watch", help="Show it again every few seconds until Ctrl-C.")
]
_FILTER = re.compile(r"(labels\.[\w.-]+|[\w.]+)(!=|<=|>=|=|<|>|~)(.*)", re.DOTALL)
_LABELS = "labels"
# Sign of a filter -> comparison of a row's value with that of the filter.
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": lambda value, limit: bool(value < limit),
    ">": lambda value, limit: bool(value > limit),
    "<=": lambda value, limit: bool(value <= limit),
    ">=": lambda value, limit: bool(value >= limit),
}


@dataclass(frozen=True)
class Rows:
    """The common options of a command that prints a list."""

    filters: Filters = None
    watch: Watch = False
    form: Output = Format.TABLE


@dataclass(frozen=True)
class TenantRows(Rows):
    """The common options of a command that prints a list of one tenant."""

    tenant: Tenant = None


def show(
    how: TenantRows,
    read: Callable[[Api, str], Iterable[Json]],
    columns: Sequence[str],
    flat: Callable[[Json], Json] = dict,
) -> None:
    """Print a list of a tenant: once, or until Ctrl-C with ``--watch``.

    * ``read``: gets the API client and the tenant's slug, returns the rows.
    * ``columns``: the fields that a table shows.
    * ``flat``: returns a row as a table shows it.

    Raises:
        WaypostError: the request was refused, or a filter is not valid.
    """
    api, tenant = login_store.connect(how.tenant)
    _show(how, lambda: read(api, tenant), columns, flat)


def show_shared(
    how: Rows,
    read: Callable[[Api], Iterable[Json]],
    columns: Sequence[str],
    flat: Callable[[Json], Json] = dict,
) -> None:
    """Print a list that belongs to no tenant, as ``show`` does."""
    api = login_store.connect_staff()
    _show(how, lambda: read(api), columns, flat)


def matching(rows: Iterable[Json], filters: Sequence[str] | None) -> list[Json]:
    """Return those of ``rows`` that match all ``filters``, such as ``phase=Active``.

    Raises:
        Invalid: ``filter.invalid``: a filter has another form, or no row has its field.
    """
    found = list(rows)
    for text in filters or []:
        parts = _FILTER.fullmatch(text)
        if parts is None:
            raise Invalid(
                f"{text!r} is no filter: write FIELD=VALUE, such as phase=Active, or with != < > "
                "<= >= ~ instead of =.",
                code="filter.invalid",
            )
        name, sign, wanted = parts.groups()
        # A misspelled field matches no row, which would look like an empty list.
        if not _is_field(found, name):
            raise Invalid(
                f"The list has no field {name}; it has: {', '.join(found[0])}.",
                code="filter.invalid",
            )
        found = [row for row in found if _matches(_value(row, name), sign, wanted)]
    return found


def _show(
    how: Rows,
    read: Callable[[], Iterable[Json]],
    columns: Sequence[str],
    flat: Callable[[Json], Json],
) -> None:
    def draw() -> Callable[[], None]:
        with output.working("reading"):
            rows = matching(read(), how.filters)
        if how.form.is_table:
            rows = [flat(row) for row in rows]
        # Printed later: ``output.repeat`` clears the screen only when the rows are there.
        return lambda: output.show_rows(rows, columns, how.form)

    # ``repeat`` ends by an exception alone, such as that of Ctrl-C.
    if how.watch:
        output.repeat(draw)
    draw()()


def _is_field(rows: Sequence[Json], name: str) -> bool:
    """Return whether one of ``rows`` has the field.

    True also without rows, and if each row's nested object is null: then the field may exist.
    """
    first, _, rest = name.partition(".")
    if not rest or first == _LABELS:  # each row has labels of its own choice
        return not rows or any(first in row for row in rows)
    # A null stands for an object that a row does not have now, such as the newest reading.
    nested = [row[first] for row in rows if isinstance(row.get(first), Mapping)]
    return _is_field(rows, first) and _is_field(nested, rest)


def _value(row: Mapping[str, Any], name: str) -> Any:
    value: Any = row
    # The key of a label may have dots.
    for part in name.split(".", 1 if name.startswith(f"{_LABELS}.") else -1):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _matches(value: Any, sign: str, wanted: str) -> bool:
    if sign in _COMPARE:
        # null is neither less nor more than any value.
        if value is None:
            return False
        try:
            return _COMPARE[sign](float(value), float(wanted))
        except (TypeError, ValueError):  # texts, such as instants, which sort by their text
            return _COMPARE[sign](str(value), wanted)
    texts = [_text(one) for one in (value if isinstance(value, list) else [value])]
    if sign == "~":
        return any(wanted.lower() in text.lower() for text in texts)
    # For a list, = holds if one element is equal, and != if none is.
    return (wanted in texts) == (sign == "=")


def _text(value: Any) -> str:
    """Return a value as people type it in a filter: ``true``, ``null``, else its text."""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)
