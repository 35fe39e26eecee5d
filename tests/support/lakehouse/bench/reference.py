"""The same tables as the pipeline's, computed by DuckDB from the same files; and their comparison.

It shares no code with the product. ``python -m tests.support.lakehouse.bench.reference FILES OUT``
computes, as a process whose processor time can be measured.
"""

import sys
from pathlib import Path

import duckdb
from deltalake import DeltaTable

_LIFE = "tenant_id, space_id, source, boot_id, address, epoch"
_COUNTERS = (
    *("messages_in", "messages_out", "stored_byte_ms", "connections_opened", "connection_ms"),
    *("bytes_in", "bytes_out", "steps_64k_in", "steps_64k_out"),
)
_PEAK = "peak_connections"
_GAPS = "holes"  # a column of quality
_CELL = "tenant_id, space_id, address, bucket_at, date"
# Table of the lakehouse -> the columns that are compared.
COMPARED = {
    "state/buckets": f"{_LIFE}, bucket_at, date, seq, {', '.join(_COUNTERS)}, {_PEAK}, "
    "first_taken_at, last_taken_at",
    "gold/usage": "tenant_id, space_id, address, meter, bucket_at, date, quantity",
    "gold/usage_daily": "tenant_id, meter, date, quantity",
    "gold/quality": "tenant_id, space_id, source, boot_id, date, expected_seq, seen_seq, "
    f"{_GAPS}, "
    "longest_gap_ms, first_taken_at, last_taken_at",
}


def compute(bronze: str, out: Path) -> None:
    """Write a Parquet file for each table of ``COMPARED`` below ``out``, from the files ``bronze``.

    ``bronze`` is a pattern of paths with the partition ``date``.
    """
    out.mkdir(parents=True)
    with duckdb.connect(config={"threads": 2, "memory_limit": "4GB"}) as db:
        db.execute(
            f"CREATE VIEW samples AS FROM read_parquet('{bronze}', hive_partitioning = true)"
        )
        for table, query in (
            ("state/buckets", _state()),
            ("gold/usage", _usage()),
            ("gold/usage_daily", _daily()),
            ("gold/quality", _quality()),
        ):
            path = _file(out, table)
            db.execute(f"COPY ({query}) TO '{path}' (COMPRESSION zstd)")
            db.execute(f"CREATE VIEW \"{table}\" AS FROM read_parquet('{path}')")


def differences(root: Path, out: Path) -> dict[str, int]:
    """Return {table: rows that only the lakehouse at ``root`` or only ``out`` has}."""
    found = {}
    with duckdb.connect(config={"threads": 2}) as db:
        for table, columns in COMPARED.items():
            uris = DeltaTable(root / table).file_uris()
            db.execute(
                f"CREATE OR REPLACE VIEW theirs AS SELECT {columns} FROM "
                f"read_parquet({uris}, hive_partitioning = true)"
            )
            db.execute(
                f"CREATE OR REPLACE VIEW ours AS SELECT {columns} FROM '{_file(out, table)}'"
            )
            one = "SELECT count(*) FROM (FROM {} EXCEPT ALL FROM {})"
            counts = [
                (db.execute(one.format(*pair)).fetchone() or (0,))[0]
                for pair in (("theirs", "ours"), ("ours", "theirs"))
            ]
            found[table] = sum(counts)
    return found


def _file(out: Path, table: str) -> Path:
    return out / f"{table.replace('/', '-')}.parquet"


def _state() -> str:
    maxima = ", ".join(f"max({name}) AS {name}" for name in ("seq", *_COUNTERS, _PEAK))
    return (
        f"SELECT {_LIFE}, bucket_at, date, {maxima}, min(taken_at) AS first_taken_at, "
        f"max(taken_at) AS last_taken_at FROM samples GROUP BY {_LIFE}, bucket_at, date"
    )


def _usage() -> str:
    # Maxima of one incarnation rise from bucket to bucket, so usage is their difference.
    grown = ", ".join(
        f"{name} - coalesce(lag({name}) OVER life, 0) AS {name}" for name in _COUNTERS
    )
    sums = ", ".join(f"sum({name})::BIGINT AS {name}" for name in _COUNTERS)
    unpivot = (
        f"UNPIVOT (SELECT {_CELL}, {sums}, max({_PEAK}) AS {_PEAK} FROM ("
        f'SELECT {_CELL}, {grown}, {_PEAK} FROM "state/buckets" '
        f"WINDOW life AS (PARTITION BY {_LIFE} ORDER BY bucket_at)) GROUP BY {_CELL}) "
        f"ON {', '.join(_COUNTERS)}, {_PEAK} INTO NAME meter VALUE quantity"
    )
    return f"FROM ({unpivot}) WHERE quantity > 0"


def _daily() -> str:
    return (
        f"SELECT tenant_id, meter, date, (CASE meter WHEN '{_PEAK}' THEN max(quantity) "
        'ELSE sum(quantity) END)::BIGINT AS quantity FROM "gold/usage" '
        "GROUP BY tenant_id, meter, date"
    )


def _quality() -> str:
    source = "tenant_id, space_id, source, boot_id"
    return f"""
        WITH gaps AS (
            SELECT {source}, date, seq, taken_at, epoch_ms(taken_at) - epoch_ms(lag(taken_at)
                OVER (PARTITION BY {source}, date ORDER BY taken_at)) AS gap
            FROM samples WHERE address = ''
        ), days AS (
            SELECT {source}, date, count(DISTINCT seq) AS seen_seq, max(seq) AS last_seq,
                coalesce(max(gap), 0) AS longest_gap_ms, min(taken_at) AS first_taken_at,
                max(taken_at) AS last_taken_at
            FROM gaps GROUP BY {source}, date
        ), judged AS (
            SELECT *, last_seq - coalesce(lag(last_seq)
                OVER (PARTITION BY {source} ORDER BY date), 0) AS expected_seq
            FROM days
        )
        SELECT *, greatest(expected_seq - seen_seq, 0) AS {_GAPS} FROM judged
    """


if __name__ == "__main__":
    compute(sys.argv[1], Path(sys.argv[2]))
