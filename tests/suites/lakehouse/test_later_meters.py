"""A lakehouse of before some meters were added: one run adds them, and no row is rewritten."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lakehouse import checks, schemas, tables
from lakehouse.jobs import housekeeping, pipeline, rebuild
from lakehouse.tables import Lake
from plans.invoicing import comparisons
from plans.invoicing.evidence import SampleSet, UsageKey
from plans.rating.periods import Period
from tests.support.lakehouse import older
from tests.support.lakehouse.samples import Landed, at, beat, row
from workers.metering import batch_recompute, delta, gold, recompute
from workers.metering.pipeline import Table

pytestmark = pytest.mark.spark

LACKING = (schemas.QUARANTINE, schemas.STATE, schemas.OPENINGS, schemas.HEADS)
# The first day is of before the meters, the second one of both.
OLD = [
    [row(at(10, 1), 1, messages_in=5), beat(at(10, 1), 1), row(at(11), 2, messages_in=-1)],
    [row(at(9, day=1), 3, messages_in=8), beat(at(9, day=1), 3)],
]
NEW = [
    row(at(9, 20, day=1), 4, messages_in=9, bytes_in=5000, steps_64k_in=1),
    beat(at(9, 20, day=1), 4),
    row(at(9, day=2), 5, messages_in=11, bytes_in=5700, steps_64k_in=3),
]
WHOLE = Period(at(0), at(0, day=5))


@pytest.fixture(scope="module")
def made(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lakehouse in which no later meter counted anything, made by this version."""
    root = tmp_path_factory.mktemp("made")
    landed = Landed(root)
    for rows in OLD:
        landed(*rows)
        pipeline.run(Lake(spark, str(root)))
    return root


@pytest.fixture
def old(made: Path, spark: SparkSession, tmp_path: Path) -> Lake:
    """The same lakehouse, as a version without these meters would have made it."""
    return Lake(spark, str(older.copy(made, tmp_path / "old")))


def land(lake: Lake, *rows: Any) -> None:
    """Land rows as a worker of this version does."""
    Landed(Path(lake.root))(*rows)


def used(lake: Lake, meter: str) -> dict[str, int]:
    """Return the usage of a meter by bucket, such as {"21 10:15": 3}."""
    cells = tables.read(lake, schemas.USAGE).where(F.col("meter") == meter).collect()
    return {f"{c['bucket_at']:%d %H:%M}": c["quantity"] for c in cells}


def pins(lake: Lake) -> dict[str, Table]:
    found = {table.name: tables.pin(lake, table) for table in schemas.ALL}
    return {name: Table(pin.table_id, pin.version) for name, pin in found.items()}


def files(lake: Lake, found: Iterable[schemas.Table]) -> dict[str, set[str]]:
    return {t.name: {p.name for p in Path(lake.path(t)).rglob("*.parquet")} for t in found}


@dataclass(frozen=True)
class Billed:
    """The old lakehouse after a run with ``NEW`` samples.

    ``before`` are the pins of before the run; ``alone`` and ``together`` is what the recomputations
    of one tenant and of many said then.
    """

    lake: Lake
    report: dict[str, Any]
    before: dict[str, Table]
    alone: tuple[Mapping[UsageKey, int], SampleSet]
    together: batch_recompute.PeriodUsage


@pytest.fixture(scope="module")
def billed(made: Path, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Billed:
    root = older.copy(made, tmp_path_factory.mktemp("billed") / "old")
    lake = Lake(spark, str(root))
    before = pins(lake)
    alone = recomputed(root, before)
    together = batch_recompute.read(root, before, WHOLE, ["ten_a"])["ten_a"]
    land(lake, *NEW)
    return Billed(lake, pipeline.run(lake), before, alone, together)


def recomputed(root: Path, pinned: dict[str, Table]) -> tuple[Mapping[UsageKey, int], SampleSet]:
    query = recompute.question(root, pinned[delta.BRONZE], "ten_a", WHOLE)
    return recompute.totals(query), recompute.samples(query)


def test_the_old_lakehouse_lacks_the_meters(old: Lake) -> None:
    for table in (schemas.BRONZE, *LACKING):
        assert older.columns(Path(old.root), table.path) == set()
        assert not set(schemas.OPTIONAL) & set(
            old.spark.read.format("delta").load(old.path(table)).columns
        )


def test_one_run_adds_the_meters_and_bills_old_and_new_rows(billed: Billed) -> None:
    lake, report = billed.lake, billed.report
    assert used(lake, "messages_in") == {"21 10:00": 5, "22 09:00": 3, "22 09:15": 1, "23 09:00": 2}
    assert used(lake, "bytes_in") == {"22 09:15": 5000, "23 09:00": 700}
    assert used(lake, "steps_64k_in") == {"22 09:15": 1, "23 09:00": 2}
    assert report["rows"] == {"samples": 3, "quarantined": 0, "files": 2}
    for table in (schemas.BRONZE, *LACKING):
        assert older.columns(Path(lake.root), table.path) == set(schemas.OPTIONAL)
    assert set(rebuild.run(lake, write=False)["differences"].values()) == {0}
    versions = pins(lake)
    again = pipeline.run(lake)
    assert (again["tables"], again["rows"]["samples"]) == (report["tables"], 0)
    assert pins(lake) == versions


def test_adding_the_meters_rewrites_no_file_and_finds_no_rows(old: Lake) -> None:
    before, versions, rows = files(old, LACKING), pins(old), land_nothing(old)
    assert rows == {"samples": 0, "quarantined": 0, "files": 0}

    assert files(old, LACKING) == before
    after = pins(old)
    for table in (schemas.BRONZE, *LACKING):  # one commit each
        assert after[table.name] == Table(versions[table.name].id, versions[table.name].version + 1)
    rest = {t.name for t in schemas.ALL} - {t.name for t in (schemas.BRONZE, *LACKING)}
    assert {name: after[name] for name in rest} == {name: versions[name] for name in rest}
    root = Path(old.root)
    assert delta.has_rows_of(
        delta.open_table(root, delta.BRONZE), versions[schemas.BRONZE.name].version
    )
    assert gold.is_current(root)
    assert gold.report_without_run(root) is not None


def land_nothing(lake: Lake) -> Any:
    """Add the meters as worker and job do, without new samples; return what the run found."""
    Landed(Path(lake.root))
    return pipeline.run(lake)["rows"]


def test_a_run_that_bronze_lacks_the_meters_for_is_right_too(old: Lake) -> None:
    pipeline.run(old)

    assert set(rebuild.run(old, write=False)["differences"].values()) == {0}
    assert older.columns(Path(old.root), schemas.BRONZE.path) == set()  # Spark never writes it
    land(old, *NEW)
    pipeline.run(old)
    assert used(old, "bytes_in") == {"22 09:15": 5000, "23 09:00": 700}
    assert set(rebuild.run(old, write=False)["differences"].values()) == {0}


def test_a_run_that_is_killed_between_two_tables_is_done_by_the_next(
    old: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    land(old, *NEW)
    really = tables.ensure

    def die_after(lake: Lake, table: schemas.Table) -> None:
        really(lake, table)
        if table is schemas.STATE:
            raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        killed.setattr(tables, "ensure", die_after)
        with pytest.raises(KeyboardInterrupt):
            pipeline.run(old)
    assert older.columns(Path(old.root), schemas.STATE.path) == set(schemas.OPTIONAL)
    assert older.columns(Path(old.root), schemas.HEADS.path) == set()

    pipeline.run(old)

    assert used(old, "bytes_in") == {"22 09:15": 5000, "23 09:00": 700}
    assert set(rebuild.run(old, write=False)["differences"].values()) == {0}


def test_housekeeping_and_rebuild_add_the_meters_too(old: Lake) -> None:
    assert set(rebuild.run(old, write=True)["differences"].values()) == {0}
    for table in LACKING:
        assert older.columns(Path(old.root), table.path) == set(schemas.OPTIONAL)


@pytest.mark.drill
def test_a_compacted_lakehouse_goes_on(old: Lake) -> None:
    housekeeping.run(old, at(0, day=40).date())
    for table in LACKING:
        assert older.columns(Path(old.root), table.path) == set(schemas.OPTIONAL)
    land(old, *NEW)

    pipeline.run(old)

    assert used(old, "bytes_in") == {"22 09:15": 5000, "23 09:00": 700}
    assert set(rebuild.run(old, write=False)["differences"].values()) == {0}


def test_late_rows_raise_openings_of_before_the_meters(old: Lake) -> None:
    # Earlier than the opening of the second day, which has null in the meter.
    land(old, row(at(11, 30), 2, messages_in=5, bytes_in=300))
    land(old, row(at(10, day=1), 6, messages_in=8, bytes_in=800))

    pipeline.run(old)

    assert used(old, "bytes_in") == {"21 11:30": 300, "22 10:00": 500}
    assert set(rebuild.run(old, write=False)["differences"].values()) == {0}


def test_the_recomputations_agree_with_gold_before_and_after(billed: Billed) -> None:
    lake, root, before, after = (
        billed.lake,
        Path(billed.lake.root),
        billed.before,
        pins(billed.lake),
    )
    expected, batch = billed.alone, billed.together
    assert (batch.recomputed, batch.samples.hash) == (expected[0], expected[1].hash)

    newest = recompute.question(root, after[delta.BRONZE], "ten_a", WHOLE)
    cells = gold.cells(root, after[delta.USAGE], "ten_a", WHOLE.starts_at, WHOLE.ends_at)
    both = batch_recompute.read(root, after, WHOLE, ["ten_a"])["ten_a"]

    assert recompute.totals(newest) == comparisons.figures(cells) == both.recomputed == both.gold
    assert recompute.samples(newest).hash == both.samples.hash
    assert recompute.counter_resets(newest) == ()
    # What an invoice pinned before reads the same now.
    assert recomputed(root, before) == expected
    old_state = tables.read(lake, schemas.STATE, before[delta.STATE].version).collect()
    assert {state["bytes_in"] for state in old_state} == {0}


def test_a_null_of_a_later_meter_is_no_fault_and_any_other_null_is(old: Lake) -> None:
    land(old, *NEW)
    bronze = tables.read(old, schemas.BRONZE)
    assert bronze.where("bytes_in IS NULL").count() == 5
    valid = checks.valid(bronze)
    assert checks.refused(bronze).select("seq", "reason").collect() == [(2, "negative")]
    # A number first, and null later in the incarnation.
    state = tables.read(old, schemas.HEADS).withColumn("bytes_in", F.lit(70).cast("bigint"))
    assert checks.counter_resets(valid.where("bytes_in IS NULL"), state).count() == 0

    lacking = bronze.where("seq = 1").withColumn("messages_in", F.lit(None).cast("bigint"))

    assert {r["reason"] for r in checks.refused(lacking).collect()} == {"null"}
