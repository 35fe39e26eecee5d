"""Says how each export of ``plans.export_kinds`` is made: its columns and its rows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from plans.export_kinds import INFO, ExportKind, FileFormat
from plans.exports import focus, tables, usage_rows
from plans.exports.tables import Column, Row
from plans.rating.periods import Period
from tenants.models import Tenant

# Takes a tenant and a window, and yields rows. Tenant None: all tenants, if ``for_operator``.
Rows = Callable[[Tenant | None, Period], Iterator[Row]]


@dataclass(frozen=True)
class Export:
    """The columns of an export, and the function that yields its rows in a stable order."""

    columns: Sequence[Column]
    rows: Rows


def _usage(tenant: Tenant | None, window: Period) -> Iterator[Row]:
    if tenant is None:
        raise ValueError("the usage of all tenants is no export")
    return usage_rows.rows(tenant, window)


EXPORTS: Mapping[ExportKind, Export] = {
    ExportKind.FOCUS: Export(
        focus.TABLE, lambda tenant, window: focus.rows(window, tenant.pk if tenant else None)
    ),
    ExportKind.USAGE: Export(usage_rows.COLUMNS, _usage),
}
if missing := INFO.keys() - EXPORTS.keys():
    raise RuntimeError(f"exports that nothing makes: {sorted(missing)}")


def file(
    kind: ExportKind, format: FileFormat, window: Period, tenant: Tenant | None = None
) -> IO[bytes]:
    """Return the file of an export; closing it deletes it. Equal rows give equal bytes.

    ``tenant`` None: of all tenants.

    Raises:
        ValueError: there is no tenant, and the export has no rows of all tenants.
        TooManyRows: the window has more rows than a file takes.
        Unavailable: Parquet needs pyarrow, which is not installed.
    """
    export = EXPORTS[kind]
    return tables.write(export.columns, export.rows(tenant, window), format)
