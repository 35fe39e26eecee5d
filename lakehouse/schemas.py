"""Declares the Delta tables: name, path, grain, key, columns with units, partitioning, constraints.

The bronze columns come from ``bronze_schema.json``, which ``workers.metering.bronze`` reads too:
workers and lakehouse share that file and no code. Quantities are bigint, instants are UTC
timestamps. Money is only in ``gold.backtest``, as results of the control plane: Spark computes
none.

A meter that is added later is a nullable column of bronze (``OPTIONAL``). Existing tables get the
column, without a rewrite of their rows, by the next run of a job (``tables.ensure``), and bronze by
the next worker (``workers.metering.committer``). Any other change of the columns needs a migration
job; name it here. There is none yet.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql.types import (
    BooleanType,
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
    "boolean": BooleanType(),
}

_DOCUMENT: Mapping[str, Any] = json.loads(
    Path(__file__).with_name("bronze_schema.json").read_text(encoding="utf-8")
)
_BRONZE: Sequence[Mapping[str, Any]] = _DOCUMENT["columns"]
# Invoices pin table versions for the audit period: eleven years, in days.
AUDIT_DAYS: int = _DOCUMENT["audit_days"]


# A counter only grows inside one incarnation. A peak begins again in each bucket.
COUNTERS = tuple(column["name"] for column in _BRONZE if column.get("role") == "counter")
# There is exactly one peak (otherwise this line fails). Gold takes its maximum, not differences.
(PEAK,) = (column["name"] for column in _BRONZE if column.get("role") == "peak")
MAXIMA = (*COUNTERS, PEAK)
# Meters that older rows lack. Null in such a row says that nothing was counted: the row is valid,
# and its maximum is 0.
OPTIONAL = tuple(c["name"] for c in _BRONZE if c["name"] in MAXIMA and c["nullable"])
# The key of one incarnation of an address on a source. Its counters only grow, so the state keeps
# their maxima.
LIFE = ("tenant_id", "space_id", "source", "boot_id", "address", "epoch")


@dataclass(frozen=True)
class Table:
    """Declares one Delta table; ``tables`` creates, reads and writes it.

    ``path`` is relative to the lakehouse root. ``grain`` says what one row is. ``key`` identifies a
    row, but Delta does not enforce it. ``constraints`` are SQL conditions by name, which Delta
    checks at each write. ``statistics`` are the columns with minimum and maximum per file; empty
    means Delta's default. ``kept_days`` says for how many days old versions can be read.
    ``upkeep`` are the columns that depend on when housekeeping ran, so ``rebuild`` does not compare
    them. ``zeros`` are the columns whose nulls are read as 0.
    """

    name: str
    path: str
    grain: str
    schema: StructType
    key: tuple[str, ...]
    constraints: Mapping[str, str] = field(default_factory=dict)
    statistics: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ("date",)
    kept_days: int = AUDIT_DAYS
    upkeep: tuple[str, ...] = ()
    zeros: tuple[str, ...] = ()

    def column_definitions(self, names: Collection[str] | None = None) -> list[str]:
        """Return an SQL definition of each column, or of those in ``names``, in their order."""
        found = []
        for column in self.schema.fields:
            if names is not None and column.name not in names:
                continue
            kind = column.dataType.simpleString()
            required = "" if column.nullable else " NOT NULL"
            comment = quoted(column.metadata["comment"])
            found.append(f"`{column.name}` {kind}{required} COMMENT '{comment}'")
        return found

    def selection(self, stored: Collection[str]) -> list[str]:
        """Return an SQL expression for each column, of a version that has the columns ``stored``.

        Meters that the version lacks are null, and nulls of ``zeros`` are 0.
        """
        found = []
        for name in self.schema.fieldNames():
            is_lacking = name in OPTIONAL and name not in stored
            value = "CAST(NULL AS bigint)" if is_lacking else name
            found.append(f"{f'coalesce({value}, 0)' if name in self.zeros else value} AS {name}")
        return found

    def properties(self) -> dict[str, str]:
        """Return Delta's table properties, for CREATE TABLE: retention, constraints, statistics."""
        kept = f"interval {self.kept_days} days"
        properties = {
            # Both are needed: a version can be read only while its log entry and its files exist.
            "delta.logRetentionDuration": kept,
            "delta.deletedFileRetentionDuration": kept,
            # Off, because not every Delta reader supports deletion vectors (docs/lakehouse.md).
            "delta.enableDeletionVectors": "false",
        }
        if self.statistics:
            properties["delta.dataSkippingStatsColumns"] = ",".join(self.statistics)
        for name, condition in self.constraints.items():
            properties[f"delta.constraints.{name}"] = quoted(condition)
        return properties


def quoted(text: str) -> str:
    """Return a text escaped for use between single quotes in Spark SQL."""
    # Backslashes first: those before quotes are added then.
    return text.replace("\\", "\\\\").replace("'", "\\'")


def columns(text: str) -> list[StructField]:
    """Return a field for each line ``name type meaning…``; the meaning is the field's comment.

    Only ``OPTIONAL`` columns are nullable.
    """
    parts = [line.split(maxsplit=2) for line in text.splitlines() if line]
    return [
        StructField(name, _TYPES[kind], name in OPTIONAL, {"comment": meaning})
        for name, kind, meaning in parts
    ]


def not_negative(names: Iterable[str]) -> str:
    """Return the SQL condition that none of the meters ``names`` is negative."""
    # Delta refuses a row for which a constraint is null.
    return " and ".join(
        f"({c} is null or {c} >= 0)" if c in OPTIONAL else f"{c} >= 0" for c in names
    )


# The lines of ``columns`` for the maxima of the sampled meters.
_MAXIMA_COLUMNS = "".join(
    f"{column['name']} bigint {column['meaning']}; the largest value\n"
    for name in MAXIMA
    for column in _BRONZE
    if column["name"] == name
)
_LIFE_COLUMNS = """
tenant_id string owner
space_id string address space
source string <space id>/<instance>, or <space id>/space for sums over instances
boot_id string one incarnation of the source
address string tenant address, '' for the source itself
epoch bigint one incarnation of the address inside the boot
"""

BRONZE = Table(
    "bronze.samples",
    "bronze/samples",
    "one row per source, boot, seq, address and epoch, as received: duplicates are possible",
    StructType(
        [
            StructField(c["name"], _TYPES[c["type"]], c["nullable"], {"comment": c["meaning"]})
            for c in _BRONZE
        ]
    ),
    ("source", "boot_id", "seq", "address", "epoch"),
)

QUARANTINE = Table(
    "bronze.quarantine",
    "bronze/quarantine",
    "one row per refused sample and reason; reason 'fall' is a counter reset inside an incarnation",
    StructType(
        [
            # Nullable, because a row may be refused for a null.
            *(StructField(f.name, f.dataType, True, f.metadata) for f in BRONZE.schema.fields),
            *columns(
                "reason string why: null, negative, time, date, fall\n"
                "detail string for reason 'fall': the counter, its values before and after"
            ),
        ]
    ),
    ("source", "boot_id", "seq", "address", "epoch", "reason"),
    # Not partitioned: it is small, and the date of a refused row may be null or wrong.
    partition_by=(),
)

STATE = Table(
    "state.buckets",
    "state/buckets",
    "one row per source, boot, address, epoch and bucket: the largest value of each meter in it",
    StructType(
        columns(
            _LIFE_COLUMNS
            + """
bucket_at timestamp start of the bucket, UTC
date date UTC date of bucket_at
address_type string queue, topic, anycast, multicast, … or ''
seq bigint largest seq seen
"""
            + _MAXIMA_COLUMNS
            + """
first_taken_at timestamp earliest sample, UTC
last_taken_at timestamp latest sample, UTC
"""
        )
    ),
    (*LIFE, "bucket_at"),
    {
        "bucket_on_date": "date = to_date(bucket_at)",
        "counters_positive": not_negative(MAXIMA),
        "seq_positive": "seq > 0",
        "taken_forward": "last_taken_at >= first_taken_at",
    },
    ("tenant_id", "source", "bucket_at", "seq"),
    zeros=OPTIONAL,
)

# OPENINGS, HEADS and SOURCES are computed from the buckets alone, and no invoice pins them. So
# their old versions are kept for a month only: nothing but the next run reads them.
_WORKING_DAYS = 30
_REACHED_COLUMNS = "seq bigint largest seq before the day\n" + "".join(
    f"{name} bigint largest value before the day\n" for name in COUNTERS
)
_REACHED_POSITIVE = {
    "counters_positive": not_negative(COUNTERS),
    "seq_positive": "seq > 0",
}

OPENINGS = Table(
    "state.openings",
    "state/openings",
    "one row per incarnation of a counter and UTC day with buckets, except its first day: the "
    "maxima before the day",
    StructType(columns(_LIFE_COLUMNS + "date date UTC day of the buckets\n" + _REACHED_COLUMNS)),
    (*LIFE, "date"),
    _REACHED_POSITIVE,
    ("tenant_id", "source", "seq"),
    kept_days=_WORKING_DAYS,
    zeros=OPTIONAL,
)

HEADS = Table(
    "state.heads",
    "state/heads",
    "one row per incarnation of a counter: its first and last day, and its maxima until now",
    StructType(
        columns(
            _LIFE_COLUMNS
            + """
first_date date earliest UTC day with buckets
date date latest UTC day with buckets
resting boolean whether it has had no bucket for long; partition
"""
            + _REACHED_COLUMNS.replace("before the day", "until now")
        )
    ),
    LIFE,
    {**_REACHED_POSITIVE, "dates_forward": "date >= first_date"},
    ("tenant_id", "source", "date"),
    partition_by=("resting",),
    kept_days=_WORKING_DAYS,
    upkeep=("resting",),
    zeros=OPTIONAL,
)

SOURCES = Table(
    "state.sources",
    "state/sources",
    "one row per source: its newest sample",
    StructType(
        columns("""
tenant_id string owner
space_id string address space
source string as in bronze.samples
last_taken_at timestamp latest sample, UTC
""")
    ),
    ("source",),
    partition_by=(),
    kept_days=_WORKING_DAYS,
)

USAGE = Table(
    "gold.usage",
    "gold/usage",
    "one row per tenant, space, address, meter and bucket that used anything",
    StructType(
        columns("""
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
        columns("""
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
    "one row per incarnation of a source and UTC day: expected and received samples",
    StructType(
        columns("""
tenant_id string owner
space_id string address space
source string as in bronze.samples
boot_id string one incarnation of the source
date date UTC day of the buckets
expected_seq bigint how far seq rose that day
seen_seq bigint how many different seq arrived
holes bigint expected and never seen: harmless when a later sample of the incarnation exists
falls bigint samples with a counter reset; a reset is never billed
longest_gap_ms bigint longest time between two consecutive samples of the day
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

BACKTEST = Table(
    "gold.backtest",
    "gold/backtest",
    "one row per back-test, tenant and billing month: what it cost, and would cost under a draft",
    StructType(
        columns("""
back_test string id of the back-test; partition
tenant_id string owner
plan string commercial plan at the end of the month
month_at timestamp begin of the billing month, UTC
currency string ISO 4217 code of the amounts
present_net_minor bigint net amount under the catalog then, in minor units
present_total_minor bigint the same with tax
draft_net_minor bigint net amount under the draft, in minor units
draft_total_minor bigint the same with tax
""")
    ),
    ("back_test", "tenant_id", "month_at"),
    {"currency_is_code": "length(currency) = 3"},
    ("tenant_id", "month_at"),
    partition_by=("back_test",),
)

# In the order in which ``pipeline`` and ``rebuild`` write them. ``HEADS`` comes after ``OPENINGS``:
# a run that was stopped between them computes the openings again from the older heads.
DERIVED = (QUARANTINE, STATE, OPENINGS, HEADS, SOURCES, USAGE, USAGE_DAILY, QUALITY)
ALL = (BRONZE, *DERIVED)
# Written on demand, and not by the pipeline.
ON_DEMAND = (BACKTEST,)
# Reports name their versions, and invoices pin them.
PINNED = tuple(table for table in ALL if table.kept_days == AUDIT_DAYS)
