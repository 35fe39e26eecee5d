"""Every table: grain, key, columns with units, partition, constraints. Names and paths only here.

The bronze columns come from ``bronze_schema.json``, which the collector reads too; so the two
sides share a file and no code. Quantities are bigint, instants are UTC timestamps, and there is no
money. Schema evolution is an explicit migration job, noted here.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql.types import (
    DataType,
    DateType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

_TYPES: Mapping[str, DataType] = {
    "string": StringType(),
    "bigint": LongType(),
    "timestamp": TimestampType(),
    "date": DateType(),
}

# Counters only grow inside one life; a peak is a maximum of its own bucket.
COUNTERS = ("messages_in", "messages_out", "stored_byte_ms", "connections_opened", "connection_ms")
PEAK = "peak_connections"
MAXIMA = (*COUNTERS, PEAK)
# One life of one counter: inside it the counter's state is a maximum.
LIFE = ("tenant_id", "space_id", "source", "boot_id", "address", "epoch")


@dataclass(frozen=True)
class Table:
    """One Delta table. ``path`` is relative to the lakehouse root; ``constraints`` are SQL."""

    name: str
    path: str
    grain: str
    schema: StructType
    key: tuple[str, ...]
    constraints: Mapping[str, str] = field(default_factory=dict)
    statistics: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ("date",)


def _columns(text: str, *, nullable: bool = False) -> list[StructField]:
    """Return fields from lines of ``name type meaning…``."""
    parts = [line.split(maxsplit=2) for line in text.splitlines() if line]
    return [_field(name, kind, meaning, nullable) for name, kind, meaning in parts]


def _field(name: str, kind: str, meaning: str, nullable: bool) -> StructField:
    return StructField(name, _TYPES[kind], nullable, {"comment": meaning})


def _bronze_columns() -> list[StructField]:
    text = Path(__file__).with_name("bronze_schema.json").read_text(encoding="utf-8")
    columns: list[dict[str, Any]] = json.loads(text)["columns"]
    return [_field(c["name"], c["type"], c["meaning"], c["nullable"]) for c in columns]


_LIFE_COLUMNS = """
tenant_id string owner
space_id string address space
source string <space id>/<instance>, or <space id>/space for sums over instances
boot_id string one life of the source
address string tenant address, '' for the source itself
epoch bigint one life of the address inside the boot
"""

BRONZE = Table(
    "bronze.samples",
    "bronze/samples",
    "one row per source, boot, seq, address and epoch, as received: duplicates are possible",
    StructType(_bronze_columns()),
    ("source", "boot_id", "seq", "address", "epoch"),
)

QUARANTINE = Table(
    "bronze.quarantine",
    "bronze/quarantine",
    "one row per refused sample and reason; reason 'fall' is a counter that fell inside its life",
    StructType(
        [
            *(StructField(f.name, f.dataType, True, f.metadata) for f in BRONZE.schema.fields),
            *_columns(
                "reason string why: null, negative, time, date, fall\n"
                "detail string which column, and for a fall its values before and after"
            ),
        ]
    ),
    ("source", "boot_id", "seq", "address", "epoch", "reason"),
    partition_by=(),
)

STATE = Table(
    "state.buckets",
    "state/buckets",
    "one row per life of a counter and bucket: maxima of what was sampled in it",
    StructType(
        _columns(
            _LIFE_COLUMNS
            + """
bucket_at timestamp start of the bucket, UTC
date date UTC date of bucket_at
address_type string queue, topic, anycast, multicast, … or ''
seq bigint largest seq seen
messages_in bigint cumulative, largest
messages_out bigint cumulative, largest
stored_byte_ms bigint running integral of stored bytes, largest
connections_opened bigint cumulative, largest
connection_ms bigint running integral of open connections, largest
peak_connections bigint largest sum over instances
first_taken_at timestamp earliest sample, UTC
last_taken_at timestamp latest sample, UTC
"""
        )
    ),
    (*LIFE, "bucket_at"),
    {
        "bucket_on_date": "date = to_date(bucket_at)",
        "counters_positive": " and ".join(f"{c} >= 0" for c in MAXIMA),
        "seq_positive": "seq > 0",
        "taken_forward": "last_taken_at >= first_taken_at",
    },
    ("tenant_id", "source", "bucket_at", "seq"),
)

USAGE = Table(
    "gold.usage",
    "gold/usage",
    "one row per tenant, space, address, meter and bucket that used anything",
    StructType(
        _columns("""
tenant_id string owner
space_id string address space
address string tenant address, '' for meters of the space
meter string messages_in, messages_out, stored_byte_ms, connections_opened, connection_ms, …
bucket_at timestamp start of the bucket, UTC
date date UTC date of bucket_at
quantity bigint in the meter's base unit: messages, byte-ms, connections, ms
""")
    ),
    ("tenant_id", "space_id", "address", "meter", "bucket_at"),
    {"bucket_on_date": "date = to_date(bucket_at)", "quantity_positive": "quantity > 0"},
    ("tenant_id", "meter", "bucket_at"),
)

USAGE_DAILY = Table(
    "gold.usage_daily",
    "gold/usage_daily",
    "one row per tenant, meter and UTC day; a peak is the largest of any one space",
    StructType(
        _columns("""
tenant_id string owner
meter string as in gold.usage
date date UTC day of the buckets
quantity bigint in the meter's base unit
""")
    ),
    ("tenant_id", "meter", "date"),
    {"quantity_positive": "quantity > 0"},
)

QUALITY = Table(
    "gold.quality",
    "gold/quality",
    "one row per life of a source and UTC day: what should have come and what came",
    StructType(
        _columns("""
tenant_id string owner
space_id string address space
source string as in bronze.samples
boot_id string one life of the source
date date UTC day of the buckets
expected_seq bigint how far seq rose that day
seen_seq bigint how many different seq arrived
holes bigint expected and never seen: harmless when a later sample of the life is there
falls bigint counters that fell inside a life; never billed
longest_gap_ms bigint longest time between two neighbouring samples of the day
first_taken_at timestamp earliest sample, UTC
last_taken_at timestamp latest sample, UTC
""")
    ),
    ("tenant_id", "space_id", "source", "boot_id", "date"),
    {
        "holes_positive": "holes >= 0 and falls >= 0 and longest_gap_ms >= 0",
        "seen_within_expected": "seen_seq + holes >= expected_seq",
    },
    ("tenant_id", "source"),
)

DERIVED = (QUARANTINE, STATE, USAGE, USAGE_DAILY, QUALITY)
ALL = (BRONZE, *DERIVED)
