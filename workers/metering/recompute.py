"""The tenant's usage once more, from bronze alone and by another engine (DataFusion, no Spark).

What Spark adds up bucket by bucket is here, per life of a counter, one subtraction: the largest
value before the period's end minus the largest before its start. The close gate compares the two.
Also what only the samples themselves show: their ids, holes in ``seq``, counters that fell.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import Any

from deltalake import DeltaTable

from plans.invoicing import Fall, Hole, UsageKey
from plans.periods import Period
from workers.metering import delta
from workers.metering.pipeline import Table
from workers.metering.roots import Root

_COUNTERS = ("messages_in", "messages_out", "stored_byte_ms", "connections_opened", "connection_ms")
_PEAK = "peak_connections"
_LIFE = "space_id, source, boot_id, address, epoch"
# The rules a single row must keep; what breaks one is in quarantine and bills nothing. The date is
# compared as text: DataFusion 55 cannot plan a filter with a cast from timestamp to date once the
# files have statistics ("Selectivity is out of limit").
_VALID = " AND ".join(
    [
        "seq > 0",
        "epoch >= 0",
        *(f"{counter} >= 0" for counter in (*_COUNTERS, _PEAK)),
        "bucket_at <= taken_at",
        "CAST(date AS varchar) = to_char(bucket_at, '%Y-%m-%d')",
    ]
)


@dataclass(frozen=True)
class Question:
    """One tenant's period in one version of bronze."""

    table: DeltaTable
    tenant_id: str
    period: Period

    def ask(self, sql: str) -> list[dict[str, Any]]:
        """Return the rows of ``sql`` over ``samples``: the tenant's valid rows up to the end."""
        last = self.period.ends_at.astimezone(UTC).date() + timedelta(days=1)
        tenant = f"tenant_id = {delta.text(self.tenant_id)}"
        # The day after the end too: the first sample after it closes or opens a hole.
        samples = (
            f"WITH samples AS (SELECT * FROM bronze WHERE {tenant} AND {_VALID} "
            f"AND date <= date '{last}')"
        )
        return delta.ask(samples + sql, {"bronze": self.table})

    @property
    def before_end(self) -> str:
        return f"bucket_at < {delta.instant(self.period.ends_at)}"

    @property
    def inside(self) -> str:
        return f"bucket_at >= {delta.instant(self.period.starts_at)} AND {self.before_end}"


def question(root: Root, pin: Table, tenant_id: str, period: Period) -> Question:
    """Return a question to bronze at the pinned version.

    Raises:
        TableReplaced: the pinned table is not there any more.
    """
    table = delta.open_table(root, delta.BRONZE, version=pin.version, table_id=pin.id)
    return Question(table, tenant_id, period)


def totals(asked: Question) -> dict[UsageKey, int]:
    """Return every non-zero figure of the period: sums, and the largest of a peak."""
    start = delta.instant(asked.period.starts_at)
    reached = ", ".join(
        f"max(CASE WHEN {asked.before_end} THEN {c} END) AS end_{c}, "
        f"max(CASE WHEN bucket_at < {start} THEN {c} END) AS start_{c}"
        for c in _COUNTERS
    )
    grown = ", ".join(
        f"CAST(sum(coalesce(end_{c}, 0) - coalesce(start_{c}, 0)) AS bigint) AS {c}"
        for c in _COUNTERS
    )
    rows = asked.ask(
        f", lives AS (SELECT {_LIFE}, {reached}, "
        f"max(CASE WHEN {asked.inside} THEN {_PEAK} END) AS {_PEAK} FROM samples GROUP BY {_LIFE}) "
        f"SELECT space_id, address, {grown}, coalesce(max({_PEAK}), 0) AS {_PEAK} "
        "FROM lives GROUP BY space_id, address"
    )
    return {
        UsageKey(row["space_id"], row["address"], meter): row[meter]
        for row in rows
        for meter in (*_COUNTERS, _PEAK)
        if row[meter]
    }


def sample_ids(asked: Question) -> tuple[str, int]:
    """Return the SHA-256 over the sorted ids of the period's samples, and how many there are.

    An id is (source, boot_id, address, epoch, seq): order, repetition and batching change nothing.
    """
    rows = asked.ask(
        f" SELECT DISTINCT source, boot_id, address, epoch, seq FROM samples WHERE {asked.inside}"
    )
    ids = sorted(
        "\x1f".join(str(row[name]) for name in ("source", "boot_id", "address", "epoch", "seq"))
        for row in rows
    )
    return hashlib.sha256("\x1e".join(ids).encode()).hexdigest(), len(ids)


def sampled_spaces(asked: Question) -> frozenset[str]:
    """Return the spaces with at least one sample in the period."""
    rows = asked.ask(f" SELECT DISTINCT space_id FROM samples WHERE {asked.inside}")
    return frozenset(row["space_id"] for row in rows)


def falls(asked: Question) -> tuple[Fall, ...]:
    """Return each counter of the period that is below what its life had reached earlier."""
    window = (
        f"OVER (PARTITION BY {_LIFE} ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    )
    before = ", ".join(f"max({c}) {window} AS before_{c}" for c in _COUNTERS)
    fell = " OR ".join(f"{c} < before_{c}" for c in _COUNTERS)
    rows = asked.ask(
        f", distinct_samples AS (SELECT DISTINCT {_LIFE}, seq, bucket_at, {', '.join(_COUNTERS)} "
        f"FROM samples), walked AS (SELECT *, {before} FROM distinct_samples) "
        f"SELECT * FROM walked WHERE ({fell}) AND {asked.inside} ORDER BY {_LIFE}, seq"
    )
    return tuple(fall for row in rows for fall in _falls_of(row))


def holes(asked: Question) -> tuple[Hole, ...]:
    """Return the numbers missing between two samples of a life that touch the period.

    ``at_end`` when the next sample that did arrive belongs to a later period.
    """
    end = delta.instant(asked.period.ends_at)
    rows = asked.ask(
        ", beats AS (SELECT DISTINCT source, boot_id, seq, bucket_at FROM samples "
        "WHERE address = ''), walked AS (SELECT *, lag(seq, 1, 0) OVER life AS before_seq, "
        "lag(bucket_at) OVER life AS before_at FROM beats "
        "WINDOW life AS (PARTITION BY source, boot_id ORDER BY seq)) "
        f"SELECT source, boot_id, before_seq, seq, bucket_at >= {end} AS at_end FROM walked "
        f"WHERE seq > before_seq + 1 AND coalesce(before_at, bucket_at) < {end} "
        f"AND bucket_at >= {delta.instant(asked.period.starts_at)} ORDER BY source, boot_id, seq"
    )
    return tuple(
        Hole(row["source"], row["boot_id"], row["before_seq"] + 1, row["seq"] - 1, row["at_end"])
        for row in rows
    )


def last_seqs(asked: Question) -> dict[tuple[str, str], int]:
    """Return the largest ``seq`` of each life (source, boot_id) in bronze, later periods too."""
    rows = delta.ask(
        "SELECT source, boot_id, max(seq) AS seq FROM bronze "
        f"WHERE tenant_id = {delta.text(asked.tenant_id)} AND address = '' "
        "GROUP BY source, boot_id",
        {"bronze": asked.table},
    )
    return {(row["source"], row["boot_id"]): row["seq"] for row in rows}


def _falls_of(row: dict[str, Any]) -> Iterable[Fall]:
    for counter in _COUNTERS:
        before, after = row[f"before_{counter}"], row[counter]
        if before is not None and after < before:
            yield Fall(row["source"], row["boot_id"], row["address"], counter, before, after)
