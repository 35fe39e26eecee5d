"""The evidence hash: equal in every engine, independent of order, and different for any change."""

import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from deltalake import DeltaTable, QueryBuilder

from plans.rating.periods import Period
from tests.support.lakehouse import older
from tests.support.lakehouse.samples import Landed, at, beat, row
from tests.support.metering import hashed_samples
from workers.metering import bronze, committer, delta, recompute, sample_hash
from workers.metering.pipeline import Table
from workers.metering.sample_hash import Dialect

DUCKDB = Dialect(
    octets="strlen({})",
    micros="epoch_us({})",
    digest="sha256({})",
    word=lambda column, first: f"CAST('0x' || substr({column}, {first}, 8) AS BIGINT)",
)
PERIOD = Period(at(10), at(11))
SUMS = sample_hash.sums_sql()


@pytest.fixture
def landed(tmp_path: Path) -> Landed:
    """Samples with long and odd names, large counters, a peak and a duplicate."""
    dice, found = random.Random(16), Landed(tmp_path)
    rows = [
        row(
            at(10, n % 60, n % 7) + timedelta(microseconds=dice.randrange(1_000_000)),
            n,
            address=dice.choice(["orders", "größe/1", "a:b,c", ""]),
            messages_in=dice.choice([0, 1, 2**62]),
            stored_byte_ms=dice.randrange(3),
        )
        for n in range(1, 120)
    ]
    found(*rows, beat(at(10, 1), 200, peak_connections=7))
    found(*rows[5:9])
    return found


def pinned(table: DeltaTable, root: Path) -> recompute.Question:
    pin = Table(str(table.metadata().id), int(table.version()))
    return recompute.question(root, pin, "ten_a", PERIOD)


def of_duckdb(table: DeltaTable) -> tuple[str, int]:
    samples = pa.table(QueryBuilder().register("b", table).execute("SELECT * FROM b").read_all())
    assert samples.num_rows > 0  # DuckDB finds ``samples`` by its name
    with duckdb.connect() as engine:
        words = sample_hash.words_sql(DUCKDB, "samples")
        ((*sums, n),) = engine.sql(f"SELECT {SUMS} FROM ({words}) AS w").fetchall()
    return sample_hash.combined(sums), n


def test_python_duckdb_and_datafusion_compute_the_same_hash(landed: Landed) -> None:
    rows = delta.ask("SELECT * FROM b", {"b": landed.table})
    found = recompute.samples(pinned(landed.table, Path(str(landed.root))))

    assert (found.hash, found.n_samples) == hashed_samples.of_rows(rows)
    assert (found.hash, found.n_samples) == of_duckdb(landed.table)
    assert (found.n_samples, found.doubled) == (120, ())


def test_the_hash_of_a_known_sample_never_changes() -> None:
    """Manifests store it for eleven years: this rule never changes, a new one gets a number."""
    sample = row(at(10, 1), 7, messages_in=5).columns
    text = (
        "5:ten_a,5:spc_1,14:spc_1/broker-0,6:boot-1,7,1795255260000000,1795255200000000,6:orders,"
        "5:queue,0,messages_in=5,2026-11-21,"
    )

    assert hashed_samples.encoded({**sample, "date": at(10).date()}) == text
    found, n = hashed_samples.of_rows([{**sample, "date": at(10).date()}] * 2)
    assert (len(found), n) == (64, 1)


@pytest.mark.parametrize("column", [n for n, _ in bronze.kinds() if n != "batch_id"])
def test_any_changed_value_changes_the_hash(column: str) -> None:
    columns: dict[str, Any] = {**row(at(10, 1), 7).columns, "date": at(10).date()}
    value = columns[column]
    other = value + "x" if isinstance(value, str) else value + timedelta(days=1) if hasattr(
        value, "year") else value + 1  # fmt: skip

    found = hashed_samples.of_rows([columns])
    assert found != hashed_samples.of_rows([{**columns, column: other}])
    # A sample of before a later meter was added has null in it.
    is_later = column in bronze.optional()
    assert (found == hashed_samples.of_rows([{**columns, column: None}])) == is_later


def test_a_sample_of_before_a_meter_was_added_has_its_hash_in_every_engine(
    landed: Landed, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whether the table lacks the column, or has null in it."""
    expected = recompute.samples(pinned(landed.table, tmp_path)).hash
    old = older.copy(tmp_path, tmp_path_factory.mktemp("older"))
    lacking = DeltaTable(old / bronze.TABLE)
    assert recompute.samples(pinned(lacking, old)).hash == expected

    table = committer.ensure_table(old)

    rows = delta.ask("SELECT * FROM b", {"b": table})
    assert {row["bytes_in"] for row in rows} == {None}
    assert recompute.samples(pinned(table, old)).hash == expected
    assert hashed_samples.of_rows(rows)[0] == of_duckdb(table)[0] == expected


def test_two_values_of_one_sample_are_named(landed: Landed) -> None:
    landed(row(at(10, 30), 900, messages_in=1), row(at(10, 30), 901))
    landed(row(at(10, 30), 900, messages_in=2))

    found = recompute.samples(pinned(landed.table, Path(str(landed.root))))

    assert found.doubled == ("spc_1/broker-0 boot-1 orders 0 900",)
