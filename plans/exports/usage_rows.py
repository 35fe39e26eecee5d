"""Exports a tenant's own gold usage: one row for each bucket, space, address and meter."""

from collections.abc import Iterator

from plans.exports.tables import Column, Row, Type
from plans.rating.periods import Period
from plans.usage import reading
from tenants.models import AddressSpace, Tenant

# The names are those of the table ``gold.usage``, except ``space``.
COLUMNS = (
    Column("space_id", Type.CODE),
    Column("space", Type.TEXT),
    Column("address", Type.TEXT),
    Column("meter", Type.CODE),
    Column("bucket_at", Type.INSTANT),
    Column("quantity", Type.INTEGER),
)


def rows(tenant: Tenant, window: Period) -> Iterator[Row]:
    """Yield the tenant's usage in ``window`` in order of time, in base units.

    The rows are those of the copy of gold, which invoices read too; no row of another tenant is
    read. Deleted spaces keep their name.
    """
    names = dict(AddressSpace.objects.filter(tenant=tenant).values_list("pk", "name"))
    for cell in reading.cells(tenant.pk, window.starts_at, window.ends_at):
        yield {
            "space_id": cell.space_id,
            "space": names.get(cell.space_id, cell.space_id),
            "address": cell.address,
            "meter": cell.meter,
            "bucket_at": cell.bucket_at,
            "quantity": cell.quantity,
        }
