"""Random histories of samples in a bronze table, written by DuckDB as the product lays them out.

A history has 28 days. Each source has a heartbeat and three queues, and restarts about each two
days. 2 % of the samples are there twice. The samples of a day lie in its files in random order.
Equal arguments give equal rows.
"""

import math
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import duckdb
import pyarrow as pa

from workers.metering import bronze, committer

DAYS = 28
FIRST = date(2026, 10, 1)
_BUCKETS = 96  # of a day
_ADDRESSES = 4  # of a source; 0 is the heartbeat
_ROWS_OF_FILE = 250_000
_SOURCES_OF_TENANT = 2


@dataclass(frozen=True)
class Plan:
    """What a history has: about ``samples`` rows, ``per_bucket`` of each counter in a bucket."""

    samples: int
    per_bucket: int

    @property
    def sources(self) -> int:
        per_source = DAYS * _BUCKETS * _ADDRESSES * self.per_bucket
        return max(1, round(self.samples / per_source))

    @property
    def name(self) -> str:
        kind = "dense" if self.per_bucket > 1 else "sparse"
        return f"{self.samples / 1_000_000:g} M samples, {kind}"


def write(root: Path, plan: Plan) -> int:
    """Write the history below ``root`` and commit it to bronze in one commit; return its rows."""
    table = committer.ensure_table(root)
    days = [FIRST + timedelta(days=n) for n in range(DAYS)]
    paths = [path for day in days for path in _write_day(root, plan, day, _samples(plan, day))]
    committer.commit_files(table, root, paths, 1)
    actions = pa.table(table.get_add_actions(flatten=True)).to_pylist()
    return sum(action["num_records"] for action in actions)


def add(root: Path, plan: Plan, rows: int) -> None:
    """Add about ``rows`` samples of the day after the history, of the same sources."""
    table = committer.ensure_table(root)
    day = FIRST + timedelta(days=DAYS)
    wanted = f"SELECT * FROM ({_samples(plan, day)}) ORDER BY seq LIMIT {rows}"
    if rows > (whole := plan.sources * _ADDRESSES * _BUCKETS * plan.per_bucket):
        # A small history has fewer sources: each of them then samples more often that day.
        often = math.ceil(rows / whole) * plan.per_bucket
        wanted = f"SELECT * FROM ({_samples(plan, day, often)}) LIMIT {rows}"
    committer.commit_files(table, root, _write_day(root, plan, day, wanted), 2)


def _write_day(root: Path, plan: Plan, day: date, samples: str) -> list[str]:
    """Write ``samples``, a query of the rows of ``day``, as files; return their paths."""
    n_files = max(2, plan.samples // DAYS // _ROWS_OF_FILE)
    columns = ", ".join(name for name in bronze.schema().names if name not in ("batch_id", "date"))
    with duckdb.connect(config={"threads": 2}) as db:
        db.execute(
            f"CREATE TABLE day AS SELECT *, hash(source, address, seq) AS h FROM ({samples})"
        )
        # A repeated sample lies in another batch.
        db.execute("INSERT INTO day SELECT * REPLACE (h + 1 AS h) FROM day WHERE h % 50 = 0")
        paths = []
        for n in range(n_files):
            path = bronze.file_path(f"bench-{plan.per_bucket}-{n}", day)
            target = root / bronze.TABLE / path
            target.parent.mkdir(parents=True, exist_ok=True)
            rows = f"SELECT 'bench-{n}' AS batch_id, {columns} FROM day WHERE h % {n_files} = {n}"
            db.execute(f"COPY ({rows} ORDER BY hash(h)) TO '{target}' (COMPRESSION zstd)")
            paths.append(path)
    return paths


def _samples(plan: Plan, day: date, per_bucket: int = 0) -> str:
    """Return a query of all samples of ``day``, each once."""
    often = per_bucket or plan.per_bucket
    a_day = _BUCKETS * often
    step = 86_400_000_000 // a_day  # microseconds
    first = (day - FIRST).days * _BUCKETS * plan.per_bucket
    # Each source restarts at times of its own; ``n`` counts the samples since its last restart.
    period = 2 * _BUCKETS * plan.per_bucket + 7
    return f"""
        SELECT 'ten_' || source_no // {_SOURCES_OF_TENANT} AS tenant_id,
            'spc_' || source_no AS space_id,
            'spc_' || source_no || '/broker-0' AS source,
            'boot-' || (step_no + shift) // {period} AS boot_id,
            n + 1 AS seq,
            taken_at::TIMESTAMPTZ AS taken_at,
            time_bucket(INTERVAL 15 MINUTES, taken_at)::TIMESTAMPTZ AS bucket_at,
            CASE address_no WHEN 0 THEN '' ELSE 'queue-' || address_no END AS address,
            CASE address_no WHEN 0 THEN '' ELSE 'queue' END AS address_type,
            0::BIGINT AS epoch,
            CASE address_no WHEN 0 THEN 0 ELSE n * rate + n % 5 END AS messages_in,
            CASE address_no WHEN 0 THEN 0 ELSE n * rate END AS messages_out,
            CASE address_no WHEN 0 THEN 0 ELSE n * rate * 1000 END AS stored_byte_ms,
            CASE address_no WHEN 0 THEN n // 7 ELSE 0 END AS connections_opened,
            CASE address_no WHEN 0 THEN n * 10000 ELSE 0 END AS connection_ms,
            CASE address_no WHEN 0 THEN n % 9 ELSE 0 END AS peak_connections,
            CASE address_no WHEN 0 THEN 0 ELSE n * rate * 700 END AS bytes_in,
            CASE address_no WHEN 0 THEN 0 ELSE n * rate * 690 END AS bytes_out,
            CASE address_no WHEN 0 THEN 0 ELSE n * rate * 2 END AS steps_64k_in,
            CASE address_no WHEN 0 THEN 0 ELSE n * rate + n % 3 END AS steps_64k_out
        FROM (
            SELECT *, {first} + at_day AS step_no, source_no * 37 AS shift,
                ({first} + at_day + source_no * 37) % {period} AS n,
                5 + (source_no * 7 + address_no) % 50 AS rate,
                TIMESTAMP '{day}' + to_microseconds({step} * at_day + {step // 2}) AS taken_at
            FROM range({plan.sources}) s(source_no), range({_ADDRESSES}) a(address_no),
                range({a_day}) t(at_day)
        )
    """
