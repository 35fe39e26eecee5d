"""Recompute the usage of many tenants from bronze at once, in one period.

``recompute`` reads all history of one tenant. This module reads only the days of the period, of all
its tenants together: what each incarnation had reached before them is in ``state.openings``. It
returns what is enough if the samples are complete and consistent. It marks other tenants as
doubtful; callers then examine each of those with ``recompute``, which also finds the details.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta
from functools import cached_property
from typing import Any

from deltalake import DeltaTable

from plans.invoicing.evidence import SampleSet, UsageKey
from plans.rating.periods import Period
from plans.usage import reading
from workers.metering import delta, recompute, sample_hash
from workers.metering.pipeline import Table
from workers.metering.roots import Root

# Samples of one query: it keeps a text of about 200 bytes for each.
_SAMPLES_AT_ONCE = 1_000_000
_LIFE = f"tenant_id, {recompute.KEY}"
# The hash of no samples: in each of its words the sum of nothing.
_NOTHING = "0" * 8 * len(sample_hash.WORDS)


@dataclass(frozen=True)
class PeriodUsage:
    """What a period's samples say about one tenant.

    ``gold`` and ``recomputed`` are as in ``Evidence``. ``last_seqs`` has the largest ``seq`` of
    each incarnation since the period began. ``is_doubtful``: there is a gap in ``seq``, a counter
    reset, or a sample with two values.
    """

    gold: Mapping[UsageKey, int]
    recomputed: Mapping[UsageKey, int]
    samples: SampleSet
    sampled_spaces: frozenset[str]
    last_seqs: Mapping[tuple[str, str], int]
    is_doubtful: bool


def read(
    root: Root, pins: Mapping[str, Table], period: Period, tenant_ids: Sequence[str]
) -> dict[str, PeriodUsage]:
    """Return the usage of each tenant, by its id, at the versions of ``pins``.

    Empty if the lakehouse has no openings yet: then examine each tenant with ``recompute``.

    Raises:
        TableReplaced: a pinned table does not exist any more.
    """
    if not delta.exists(root, delta.OPENINGS):
        return {}
    return Reader.open(root, pins, period).read(tenant_ids)


@dataclass(frozen=True)
class Reader:
    """Reads the usage of tenants in one period: from bronze and gold at pinned versions.

    ``openings`` is the table ``state.openings``. It includes the version of bronze, and may be
    newer. If it is newer, a late sample may make a tenant doubtful, but never hides a difference.
    """

    bronze: DeltaTable
    usage: DeltaTable
    openings: DeltaTable
    period: Period

    @classmethod
    def open(cls, root: Root, pins: Mapping[str, Table], period: Period) -> "Reader":
        """Open the tables at the versions of ``pins``, and the newest openings.

        Raises:
            TableReplaced: a pinned table does not exist any more.
        """
        bronze, usage = (
            delta.open_table(root, name, version=pins[name].version, table_id=pins[name].id)
            for name in (delta.BRONZE, delta.USAGE)
        )
        return cls(bronze, usage, delta.open_table(root, delta.OPENINGS), period)

    def read(self, tenant_ids: Sequence[str]) -> dict[str, PeriodUsage]:
        """Return the usage of each tenant. More samples, not more tenants, need more queries."""
        found: dict[str, PeriodUsage] = {}
        for chunk in self._chunks(tenant_ids):
            found |= _Chunk(self, chunk).read()
        return found

    def _chunks(self, tenant_ids: Sequence[str]) -> Iterator[list[str]]:
        """Yield the tenants in groups with about ``_SAMPLES_AT_ONCE`` samples in the period."""
        days = f"date >= date '{self.first_day}' AND date <= date '{self.last_day}'"
        rows = delta.ask(
            f"SELECT tenant_id, count(*) AS n FROM bronze WHERE {days} GROUP BY tenant_id",
            {"bronze": self.bronze},
        )
        counts = {row["tenant_id"]: row["n"] for row in rows}
        chunk, n_samples = list[str](), 0
        for tenant_id in tenant_ids:
            chunk.append(tenant_id)
            n_samples += counts.get(tenant_id, 0)
            if n_samples >= _SAMPLES_AT_ONCE:
                yield chunk
                chunk, n_samples = [], 0
        if chunk:
            yield chunk

    @property
    def first_day(self) -> str:
        return str(self.period.starts_at.astimezone(UTC).date())

    @property
    def last_day(self) -> str:
        # One day more than the period: the first sample after its end shows a gap before it.
        return str(self.period.ends_at.astimezone(UTC).date() + timedelta(days=1))

    @property
    def before_end(self) -> str:
        return f"bucket_at < {delta.instant(self.period.ends_at)}"

    @property
    def inside(self) -> str:
        return f"bucket_at >= {delta.instant(self.period.starts_at)} AND {self.before_end}"


@dataclass(frozen=True)
class _Chunk:
    """Reads some tenants. Each method but ``read`` is one query for all of them."""

    reader: Reader
    tenant_ids: Sequence[str]

    def read(self) -> dict[str, PeriodUsage]:
        gold, recomputed = self.gold(), self.recomputed()
        hashes, spaces, last_seqs = self.hashes(), self.sampled_spaces(), self.last_seqs()
        doubtful = {*self.with_gaps(), *self.with_resets()}
        nothing = SampleSet(sample_hash.VALUES, _NOTHING, 0)
        return {
            id: PeriodUsage(
                gold.get(id, {}),
                recomputed.get(id, {}),
                hashes[id][0] if id in hashes else nothing,
                frozenset(spaces.get(id, ())),
                last_seqs.get(id, {}),
                id in doubtful or (id in hashes and hashes[id][1]),
            )
            for id in self.tenant_ids
        }

    @cached_property
    def _tenants(self) -> str:
        return f"tenant_id IN ({', '.join(map(delta.text, self.tenant_ids))})"

    def _ask(self, sql: str) -> list[dict[str, Any]]:
        """Return the rows of ``sql``, which continues a ``WITH samples AS (…)`` clause.

        ``samples`` are the valid rows of the chunk in the days of the period. ``opened`` are the
        incarnations among them, with the first of these days and what they had reached before it:
        ``open_seq`` and ``open_<counter>``, null if they had not begun.
        """
        reader, counters = self.reader, recompute.COUNTERS
        has = {column.name for column in reader.openings.schema().fields}
        # The openings may be older than a counter, until the next run of the pipeline.
        reached = ", ".join(
            f"{f'o.{c}' if c in has else 'CAST(NULL AS bigint)'} AS open_{c}"
            for c in ("seq", *counters)
        )
        same = " AND ".join(f"o.{c} = f.{c}" for c in (*_LIFE.split(", "), "date"))
        samples = (
            f"samples AS (SELECT * FROM counted WHERE {self._tenants} AND {recompute.VALID} "
            f"AND date >= date '{reader.first_day}' AND date <= date '{reader.last_day}')"
        )
        opened = (
            f"began AS (SELECT {_LIFE}, min(date) AS date FROM samples GROUP BY {_LIFE}), "
            f"opened AS (SELECT f.*, {reached} FROM began f LEFT JOIN openings o ON {same})"
        )
        counted = recompute.counted(reader.bronze)
        tables = {"bronze": reader.bronze, "openings": reader.openings}
        return delta.ask(f"WITH {counted}, {samples}, {opened}{sql}", tables)

    def recomputed(self) -> dict[str, dict[UsageKey, int]]:
        """Return every non-zero quantity of the period in base units.

        Of a counter it is the largest value before the period's end minus the largest before its
        start, summed over incarnations; of the peak the largest value.
        """
        counters, peak, reader = recompute.COUNTERS, recompute.PEAK, self.reader
        start = delta.instant(reader.period.starts_at)
        reached = ", ".join(
            f"max(CASE WHEN {reader.before_end} THEN {c} END) AS end_{c}, "
            f"max(CASE WHEN bucket_at < {start} THEN {c} END) AS start_{c}"
            for c in counters
        )
        # Never negative: of a counter that fell nothing counts, and ``with_resets`` reports it.
        grown = ", ".join(
            f"CAST(sum(greatest(coalesce(end_{c}, 0), coalesce(start_{c}, 0), "
            f"coalesce(open_{c}, 0)) - greatest(coalesce(start_{c}, 0), coalesce(open_{c}, 0))) "
            f"AS bigint) AS {c}"
            for c in counters
        )
        rows = self._ask(
            f", epochs AS (SELECT {_LIFE}, {reached}, "
            f"max(CASE WHEN {reader.inside} THEN {peak} END) AS {peak} FROM samples "
            f"GROUP BY {_LIFE}) SELECT tenant_id, space_id, address, {grown}, "
            f"coalesce(max({peak}), 0) AS {peak} FROM epochs JOIN opened USING ({_LIFE}) "
            "GROUP BY tenant_id, space_id, address"
        )
        found: dict[str, dict[UsageKey, int]] = {}
        for row in rows:
            mine = found.setdefault(row["tenant_id"], {})
            for meter in (*counters, peak):
                if row[meter]:
                    mine[UsageKey(row["space_id"], row["address"], meter)] = row[meter]
        return found

    def gold(self) -> dict[str, dict[UsageKey, int]]:
        reader = self.reader
        rows = delta.ask(
            "SELECT tenant_id, space_id, address, meter, CAST(sum(quantity) AS bigint) AS total, "
            f"max(quantity) AS peak FROM usage WHERE {self._tenants} AND {reader.inside} "
            f"AND date >= date '{reader.first_day}' AND date <= date '{reader.last_day}' "
            "GROUP BY tenant_id, space_id, address, meter",
            {"usage": reader.usage},
        )
        found: dict[str, dict[UsageKey, int]] = {}
        for row in rows:
            quantity = row["peak"] if reading.is_peak(row["meter"]) else row["total"]
            key = UsageKey(row["space_id"], row["address"], row["meter"])
            found.setdefault(row["tenant_id"], {})[key] = quantity
        return found

    def hashes(self) -> dict[str, tuple[SampleSet, bool]]:
        """Return the samples' hash, and whether a sample arrived with two values."""
        key = ("tenant_id", *sample_hash.KEY)
        words = sample_hash.words_sql(
            sample_hash.DATAFUSION, "samples", self.reader.inside, key=key
        )
        rows = self._ask(
            f", words AS ({words}), keys AS (SELECT {', '.join(key)}, {sample_hash.sums_sql()} "
            f"FROM words GROUP BY {', '.join(key)}) "
            f"SELECT tenant_id, {sample_hash.sums_sql('CAST(sum(n) AS bigint)')}, "
            "count(*) AS n_keys FROM keys GROUP BY tenant_id"
        )
        return {
            row["tenant_id"]: (
                SampleSet(
                    sample_hash.VALUES,
                    sample_hash.combined([row[word] for word in sample_hash.WORDS]),
                    row["n"],
                ),
                row["n"] != row["n_keys"],
            )
            for row in rows
        }

    def sampled_spaces(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for row in self._ask(
            f" SELECT DISTINCT tenant_id, space_id FROM samples WHERE {self.reader.inside}"
        ):
            found.setdefault(row["tenant_id"], set()).add(row["space_id"])
        return found

    def last_seqs(self) -> dict[str, dict[tuple[str, str], int]]:
        """Return the largest ``seq`` of each incarnation, from the period's first day on."""
        # Without a last day: the numbers that this is compared with go on after the period.
        rows = delta.ask(
            "SELECT tenant_id, source, boot_id, max(seq) AS seq FROM bronze "
            f"WHERE {self._tenants} AND address = '' AND date >= date '{self.reader.first_day}' "
            "GROUP BY tenant_id, source, boot_id",
            {"bronze": self.reader.bronze},
        )
        found: dict[str, dict[tuple[str, str], int]] = {}
        for row in rows:
            mine = found.setdefault(row["tenant_id"], {})
            mine[row["source"], row["boot_id"]] = row["seq"]
        return found

    def with_gaps(self) -> set[str]:
        """Return the tenants with a gap in ``seq`` before a sample, if it touches the period."""
        end = delta.instant(self.reader.period.ends_at)
        incarnation = "PARTITION BY source, boot_id ORDER BY seq"
        # Rows with an empty address are the heartbeats: one for each ``seq`` of a source.
        rows = self._ask(
            ", begun AS (SELECT source, boot_id, max(open_seq) AS open_seq FROM opened "
            "WHERE address = '' GROUP BY source, boot_id), "
            "heartbeats AS (SELECT DISTINCT tenant_id, source, boot_id, seq, bucket_at "
            "FROM samples WHERE address = ''), "
            f"walked AS (SELECT *, lag(seq) OVER ({incarnation}) AS before_seq, "
            f"lag(bucket_at) OVER ({incarnation}) AS before_at FROM heartbeats) "
            "SELECT DISTINCT tenant_id FROM walked JOIN begun USING (source, boot_id) "
            "WHERE seq > coalesce(before_seq, open_seq, 0) + 1 "
            # With an opening, what is before the first row is before the period.
            "AND (before_at IS NULL AND open_seq IS NOT NULL "
            f"OR coalesce(before_at, bucket_at) < {end}) "
            f"AND bucket_at >= {delta.instant(self.reader.period.starts_at)}"
        )
        return {row["tenant_id"] for row in rows}

    def with_resets(self) -> set[str]:
        """Return the tenants with a counter reset inside an incarnation in the period."""
        counters = recompute.COUNTERS
        window = (
            f"OVER (PARTITION BY {_LIFE} ORDER BY seq "
            "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
        )
        before = ", ".join(f"max({c}) {window} AS before_{c}" for c in counters)
        is_below = " OR ".join(
            f"{c} < greatest(coalesce(before_{c}, 0), coalesce(open_{c}, 0))" for c in counters
        )
        rows = self._ask(
            f", distinct_samples AS (SELECT DISTINCT {_LIFE}, seq, bucket_at, "
            f"{', '.join(counters)} FROM samples), "
            f"walked AS (SELECT *, {before} FROM distinct_samples) "
            f"SELECT DISTINCT tenant_id FROM walked JOIN opened USING ({_LIFE}) "
            f"WHERE ({is_below}) AND {self.reader.inside}"
        )
        return {row["tenant_id"] for row in rows}
