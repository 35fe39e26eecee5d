"""Gold tables written as the Spark job writes them, but without Spark."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, write_deltalake

from plans.usage.reading import UsageCell
from workers.metering import roots
from workers.metering.pipeline import Table
from workers.metering.roots import Root

_SCHEMA = pa.schema(
    [
        *(pa.field(n, pa.string(), False) for n in ("tenant_id", "space_id", "address", "meter")),
        pa.field("bucket_at", pa.timestamp("us", tz="UTC"), False),
        pa.field("date", pa.date32(), False),
        pa.field("quantity", pa.int64(), False),
    ]
)


def write_gold(
    root: Root, cells: Iterable[UsageCell], as_of: datetime, bronze_version: int = -1
) -> Table:
    """Replace the days of ``cells`` in gold.usage; returns the new version."""
    rows = [{**cell._asdict(), "date": cell.bucket_at.astimezone(UTC).date()} for cell in cells]
    path, options = roots.uri(root, "gold/usage"), roots.options(root)
    days = sorted({row["date"].isoformat() for row in rows})
    note = {"as_of": as_of.isoformat(), "bronze_version": bronze_version}
    is_there = DeltaTable.is_deltatable(path, options)
    write_deltalake(
        path,
        pa.Table.from_pylist(rows, schema=_SCHEMA),
        mode="overwrite",
        partition_by=["date"],
        predicate=f"date >= '{days[0]}'" if is_there and days else None,
        commit_properties=CommitProperties(custom_metadata={"userMetadata": json.dumps(note)}),
        storage_options=options,
    )
    table = DeltaTable(path, storage_options=options)
    return Table(str(table.metadata().id), int(table.version()))
