"""Exports a tenant's own gold usage: one row for each bucket, space, address and meter."""

from collections.abc import Iterator

from plans.exports.tables import Column, Row, Type
from plans.rating.periods import Period
from plans.usage import reading

# The names are those of the table ``gold.usage``, except ``space``.
COLUMNS = (
    Column("space_id", Type.CODE),
    Column("space", Type.TEXT),
    Column("address", Type.TEXT),
    Column("meter", Type.CODE),
    Column("bucket_at", Type.INSTANT),
    Column("quantity", Type.INTEGER),
)


def rows(tenant_id: str, window: Period, names: dict[str, str]) -> Iterator[Row]:
    """Yield the tenant's usage in ``window`` in order of time, in base units.

    ``names`` are the names of spaces by id. The rows are those of the copy of gold, which invoices
    read too; no other tenant's row is read.
    """
    for cell in reading.cells(tenant_id, window.starts_at, window.ends_at):
        yield {
            "space_id": cell.space_id,
            "space": names.get(cell.space_id, cell.space_id),
            "address": cell.address,
            "meter": cell.meter,
            "bucket_at": cell.bucket_at,
            "quantity": cell.quantity,
        }
