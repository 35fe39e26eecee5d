"""Recompute a tenant's usage from bronze alone, with another engine (DataFusion, not Spark).

Spark adds up the usage of each bucket. This module needs one subtraction per counter and
incarnation: the largest value before the period's end minus the largest before its start. The close
validation compares the two results.

The module also finds what only the samples show: the hash of their values, samples with one key and
two values, the spaces that have any, gaps in ``seq``, and counter resets.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from deltalake import DeltaTable

from plans.invoicing.evidence import CounterReset, Gap, SampleSet, UsageKey
from plans.rating.periods import Period
from workers.metering import bronze, delta, sample_hash
from workers.metering.pipeline import Table
from workers.metering.roots import Root

COUNTERS = bronze.columns_of_role("counter")
(PEAK,) = bronze.columns_of_role("peak")
# Identifies one cumulative counter: an epoch of an address in an incarnation of a source.
KEY = "space_id, source, boot_id, address, epoch"
# The rules for a single row. The pipeline quarantines rows that break one, and bills nothing for
# them. The date is compared as text: DataFusion 55 cannot plan a filter with a cast from timestamp
# to date once the files have statistics ("Selectivity is out of limit").
VALID = " AND ".join(
    [
        "seq > 0",
        "epoch >= 0",
        *(bronze.not_negative(meter) for meter in (*COUNTERS, PEAK)),
        "bucket_at <= taken_at",
        "CAST(date AS varchar) = to_char(bucket_at, '%Y-%m-%d')",
    ]
)


@dataclass(frozen=True)
class Question:
    """Queries the samples of one tenant for one billing period, in one version of bronze.

    The functions of this module take it as their argument.
    """

    table: DeltaTable
    tenant_id: str
    period: Period

    def ask(self, sql: str) -> list[dict[str, Any]]:
        """Return the rows of ``sql``, which continues a ``WITH samples AS (…)`` clause.

        ``samples`` are the tenant's valid rows of any time up to a day after the period.

        Raises:
            TableReplaced: files of the table are missing.
        """
        last = self.period.ends_at.astimezone(UTC).date() + timedelta(days=1)
        tenant = f"tenant_id = {delta.text(self.tenant_id)}"
        # One day more than the period: the first sample after its end shows a gap before it.
        samples = (
            f", samples AS (SELECT * FROM counted WHERE {tenant} AND {VALID} "
            f"AND date <= date '{last}')"
        )
        return delta.ask(f"WITH {counted(self.table)}{samples}{sql}", {"bronze": self.table})

    @property
    def before_end(self) -> str:
        return f"bucket_at < {delta.instant(self.period.ends_at)}"

    @property
    def inside(self) -> str:
        return f"bucket_at >= {delta.instant(self.period.starts_at)} AND {self.before_end}"


def counted(bronze: DeltaTable) -> str:
    """Return the SQL of a table ``counted``: the rows of ``bronze`` with a column for each counter.

    A pinned version may be older than a counter: then nothing was counted by it. A row may be older
    too: then the counter is null, which counts like 0 and is no counter reset.
    """
    has = {column.name for column in bronze.schema().fields}
    later = "".join(f", CAST(0 AS bigint) AS {c}" for c in COUNTERS if c not in has)
    return f"counted AS (SELECT *{later} FROM bronze)"


def question(root: Root, pin: Table, tenant_id: str, period: Period) -> Question:
    """Open bronze at the pinned version for queries about a tenant's period.

    Raises:
        TableReplaced: the pinned table does not exist any more.
    """
    table = delta.open_table(root, delta.BRONZE, version=pin.version, table_id=pin.id)
    return Question(table, tenant_id, period)


def totals(query: Question) -> dict[UsageKey, int]:
    """Return every non-zero quantity of the period in base units, by space, address and meter.

    A counter's quantity is the sum over incarnations and epochs; the peak's is its maximum.
    """
    start = delta.instant(query.period.starts_at)
    reached = ", ".join(
        f"max(CASE WHEN {query.before_end} THEN {c} END) AS end_{c}, "
        f"max(CASE WHEN bucket_at < {start} THEN {c} END) AS start_{c}"
        for c in COUNTERS
    )
    grown = ", ".join(
        f"CAST(sum(coalesce(end_{c}, 0) - coalesce(start_{c}, 0)) AS bigint) AS {c}"
        for c in COUNTERS
    )
    rows = query.ask(
        f", epochs AS (SELECT {KEY}, {reached}, "
        f"max(CASE WHEN {query.inside} THEN {PEAK} END) AS {PEAK} FROM samples GROUP BY {KEY}) "
        f"SELECT space_id, address, {grown}, coalesce(max({PEAK}), 0) AS {PEAK} "
        "FROM epochs GROUP BY space_id, address"
    )
    return {
        UsageKey(row["space_id"], row["address"], meter): row[meter]
        for row in rows
        for meter in (*COUNTERS, PEAK)
        if row[meter]
    }


def samples(query: Question, version: int = sample_hash.VALUES) -> SampleSet:
    """Return the hash and the number of the period's samples, by a version of the hash.

    With the version ``sample_hash.VALUES`` it also has the keys that have two different values.
    """
    if version == sample_hash.IDS:
        return SampleSet(version, *sample_ids(query))
    words = sample_hash.words_sql(sample_hash.DATAFUSION, "samples", query.inside)
    key = ", ".join(sample_hash.KEY)
    (row,) = query.ask(
        f", words AS ({words}), keys AS (SELECT {key}, {sample_hash.sums_sql()} FROM words "
        f"GROUP BY {key}) SELECT {sample_hash.sums_sql('CAST(sum(n) AS bigint)')}, "
        "count(*) AS n_keys FROM keys"
    )
    found = sample_hash.combined([row[word] or 0 for word in sample_hash.WORDS])
    n_samples = row["n"] or 0
    doubled = _doubled(query) if n_samples != row["n_keys"] else ()
    return SampleSet(version, found, n_samples, doubled)


def samples_by_bucket(query: Question) -> dict[datetime, SampleSet]:
    """Return the hash and the number of the samples of each bucket of the period.

    The hash has the version ``sample_hash.VALUES``. ``doubled`` is empty: ``samples`` finds them.
    """
    words = sample_hash.words_sql(sample_hash.DATAFUSION, "samples", query.inside, "bucket_at")
    rows = query.ask(
        f", words AS ({words}) SELECT bucket_at, {sample_hash.sums_sql()} FROM words "
        "GROUP BY bucket_at"
    )
    return {
        row["bucket_at"]: SampleSet(
            sample_hash.VALUES,
            sample_hash.combined([row[word] for word in sample_hash.WORDS]),
            row["n"],
        )
        for row in rows
    }


def sample_rows(query: Question, first: int, most: int) -> list[dict[str, Any]]:
    """Return at most ``most`` of the period's distinct samples, from number ``first`` on, from 0.

    Each has the columns that the hash covers, and its own ``sha256``. They are sorted by key.
    """
    rows = sample_hash.rows_sql(sample_hash.DATAFUSION, "samples", query.inside)
    order = ", ".join((*sample_hash.KEY, "sha256"))
    return query.ask(
        f", rows AS ({rows}) SELECT * FROM rows ORDER BY {order} LIMIT {most} OFFSET {first}"
    )


def counters(query: Question, most: int) -> tuple[list[dict[str, Any]], int]:
    """Return at most ``most`` counters with samples in the period, and how many there are.

    Each has its key, and for each counter ``c`` the columns ``before_c`` and ``after_c``: the
    largest value before the period (0: none), and the largest one before its end. The peak has its
    largest value inside the period. So usage is the difference, as ``totals`` adds it up.
    """
    start = delta.instant(query.period.starts_at)
    reached = ", ".join(
        f"coalesce(max(CASE WHEN bucket_at < {start} THEN {c} END), 0) AS before_{c}, "
        f"max(CASE WHEN {query.before_end} THEN {c} END) AS after_{c}"
        for c in COUNTERS
    )
    peak = f"coalesce(max(CASE WHEN {query.inside} THEN {PEAK} END), 0) AS {PEAK}"
    # Counters without a sample in the period have no usage in it.
    rows = query.ask(
        f", reached AS (SELECT {KEY}, {reached}, {peak}, "
        f"sum(CASE WHEN {query.inside} THEN 1 ELSE 0 END) AS n FROM samples GROUP BY {KEY}), "
        "active AS (SELECT *, count(*) OVER () AS n_all FROM reached WHERE n > 0) "
        f"SELECT * FROM active ORDER BY {KEY} LIMIT {most}"
    )
    return rows, rows[0]["n_all"] if rows else 0


def sample_ids(query: Question) -> tuple[str, int]:
    """Return the SHA-256 over the sorted ids of the period's samples, and how many there are.

    This is version 1 of the hash (``sample_hash.IDS``). An id is (source, boot_id, address, epoch,
    seq), so order, duplicates and batches do not matter.
    """
    rows = query.ask(
        f" SELECT DISTINCT source, boot_id, address, epoch, seq FROM samples WHERE {query.inside}"
    )
    ids = sorted(
        "\x1f".join(str(row[name]) for name in ("source", "boot_id", "address", "epoch", "seq"))
        for row in rows
    )
    return hashlib.sha256("\x1e".join(ids).encode()).hexdigest(), len(ids)


def sampled_spaces(query: Question) -> frozenset[str]:
    """Return the ids of the spaces with at least one sample in the period."""
    rows = query.ask(f" SELECT DISTINCT space_id FROM samples WHERE {query.inside}")
    return frozenset(row["space_id"] for row in rows)


def counter_resets(query: Question) -> tuple[CounterReset, ...]:
    """Return each counter reset: a value in the period that is below an earlier one.

    Only values of one epoch of an address in one incarnation are compared, in the order of ``seq``.
    """
    window = (
        f"OVER (PARTITION BY {KEY} ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    )
    before = ", ".join(f"max({c}) {window} AS before_{c}" for c in COUNTERS)
    is_below = " OR ".join(f"{c} < before_{c}" for c in COUNTERS)
    rows = query.ask(
        f", distinct_samples AS (SELECT DISTINCT {KEY}, seq, bucket_at, {', '.join(COUNTERS)} "
        f"FROM samples), walked AS (SELECT *, {before} FROM distinct_samples) "
        f"SELECT * FROM walked WHERE ({is_below}) AND {query.inside} ORDER BY {KEY}, seq"
    )
    return tuple(reset for row in rows for reset in _resets_of(row))


def gaps(query: Question) -> tuple[Gap, ...]:
    """Return the gaps in ``seq`` before a sample of an incarnation, if they touch the period.

    ``at_end`` is set if the first sample after the gap belongs to a later period. A gap after the
    last sample of an incarnation shows only in a comparison with the states
    (``quality.lost_ends``).
    """
    end = delta.instant(query.period.ends_at)
    # Rows with an empty address are the heartbeats: one for each ``seq`` of a source.
    rows = query.ask(
        ", heartbeats AS (SELECT DISTINCT source, boot_id, seq, bucket_at FROM samples "
        "WHERE address = ''), walked AS (SELECT *, lag(seq, 1, 0) OVER incarnation AS before_seq, "
        "lag(bucket_at) OVER incarnation AS before_at FROM heartbeats "
        "WINDOW incarnation AS (PARTITION BY source, boot_id ORDER BY seq)) "
        f"SELECT source, boot_id, before_seq, seq, bucket_at >= {end} AS at_end FROM walked "
        f"WHERE seq > before_seq + 1 AND coalesce(before_at, bucket_at) < {end} "
        f"AND bucket_at >= {delta.instant(query.period.starts_at)} ORDER BY source, boot_id, seq"
    )
    return tuple(
        Gap(row["source"], row["boot_id"], row["before_seq"] + 1, row["seq"] - 1, row["at_end"])
        for row in rows
    )


def last_seqs(query: Question) -> dict[tuple[str, str], int]:
    """Return {(source, boot_id): largest ``seq`` in bronze} of the tenant, at any time."""
    rows = delta.ask(
        "SELECT source, boot_id, max(seq) AS seq FROM bronze "
        f"WHERE tenant_id = {delta.text(query.tenant_id)} AND address = '' "
        "GROUP BY source, boot_id",
        {"bronze": query.table},
    )
    return {(row["source"], row["boot_id"]): row["seq"] for row in rows}


def _doubled(query: Question) -> tuple[str, ...]:
    """Return the keys of samples with several values: ``source boot_id address epoch seq``."""
    key = ", ".join(sample_hash.KEY)
    words = sample_hash.words_sql(sample_hash.DATAFUSION, "samples", query.inside)
    rows = query.ask(
        f", words AS ({words}) SELECT {key} FROM words GROUP BY {key} HAVING count(*) > 1 "
        f"ORDER BY {key}"
    )
    return tuple(" ".join(str(row[name]) for name in sample_hash.KEY) for row in rows)


def _resets_of(row: dict[str, Any]) -> Iterable[CounterReset]:
    for counter in COUNTERS:
        before, after = row[f"before_{counter}"], row[counter]
        if None not in (before, after) and after < before:
            yield CounterReset(
                row["source"], row["boot_id"], row["address"], counter, before, after
            )
