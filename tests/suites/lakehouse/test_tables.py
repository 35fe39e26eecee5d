"""The tables themselves: features that every reader has, constraints, other readers."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lakehouse import schemas, tables
from lakehouse.errors import LakehouseError, SchemaDiffers
from lakehouse.jobs import pipeline, rebuild
from lakehouse.tables import Lake
from plans.usage.reading import UsageCell
from tests.support.lakehouse.samples import Landed, at, beat, row
from workers.metering import bronze, gold
from workers.metering.pipeline import Table

pytestmark = pytest.mark.spark

FORBIDDEN = {"deletionVectors", "columnMapping", "typeWidening", "v2Checkpoint", "clustering",
             "rowTracking", "identityColumns", "inCommitTimestamp"}  # fmt: skip


def test_any_text_can_be_a_literal(spark: SparkSession) -> None:
    for text in ("it's", "C:\\", "\\'", "a\\nb"):
        assert spark.sql(f"SELECT '{schemas.quoted(text)}' AS x").collect()[0]["x"] == text


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake with one day of usage in it."""
    root = tmp_path_factory.mktemp("tables")
    landed = Landed(Path(root))
    # The other broker's newest sample is older, so the watermark is not the newest sample of all.
    other = beat(at(10, 1), 1, source="spc_2/broker-0", space_id="spc_2")
    landed(
        *(row(at(10, 1), 1, messages_in=5), beat(at(10, 1), 1), row(at(10, 2), 2, messages_in=4)),
        other,
    )
    made = Lake(spark, str(root))
    pipeline.run(made)
    return made


def open_table(lake: Lake, table: schemas.Table) -> DeltaTable:
    return DeltaTable(lake.path(table))


@pytest.mark.parametrize("table", schemas.ALL, ids=lambda table: table.name)
def test_table_uses_only_features_that_every_reader_has(lake: Lake, table: schemas.Table) -> None:
    protocol = open_table(lake, table).protocol()
    features = {*(protocol.reader_features or ()), *(protocol.writer_features or ())}
    settings = open_table(lake, table).metadata().configuration

    assert protocol.min_reader_version == 1
    assert protocol.min_writer_version <= 3
    assert features & FORBIDDEN == set()
    kept = schemas.AUDIT_DAYS if table in schemas.PINNED else 30
    assert settings["delta.logRetentionDuration"] == f"interval {kept} days"
    assert settings["delta.deletedFileRetentionDuration"] == f"interval {kept} days"


@pytest.mark.parametrize(
    ("table", "broken"),
    [
        (schemas.STATE, {"messages_in": -1}),
        (schemas.STATE, {"seq": 0}),
        (schemas.STATE, {"bucket_at": at(0, day=3)}),
        (schemas.USAGE, {"quantity": 0}),
        (schemas.USAGE, {"quantity": None}),
        (schemas.USAGE_DAILY, {"quantity": -5}),
        (schemas.QUALITY, {"holes": -1}),
    ],
    ids=lambda value: getattr(value, "name", None) or next(iter(value)),
)
def test_table_refuses_rows_that_break_a_constraint(
    lake: Lake, table: schemas.Table, broken: dict[str, object]
) -> None:
    rows = tables.read(lake, table).limit(1)
    for name, value in broken.items():
        rows = rows.withColumn(name, F.lit(value).cast(table.schema[name].dataType))
    before = tables.pin(lake, table)

    with pytest.raises(Exception, match=r"DELTA_(VIOLATE_CONSTRAINT|NOT_NULL)|not.null|NULL"):
        tables.append(lake, table, rows, tables.Commit("test", 1))

    assert tables.pin(lake, table) == before


def test_gold_read_by_another_reader_equals_spark(lake: Lake) -> None:
    by_spark = {tuple(row) for row in tables.read(lake, schemas.USAGE).collect()}
    other = pa.table(open_table(lake, schemas.USAGE).to_pyarrow_table())

    names = schemas.USAGE.schema.fieldNames()
    by_other = {tuple(row[name] for name in names) for row in other.to_pylist()}

    assert len(by_spark) == 1
    assert {(*r[:4], r[4].timestamp(), *r[5:]) for r in by_other} == {
        (*r[:4], r[4].timestamp(), *r[5:]) for r in by_spark
    }


def test_gold_carries_the_note_that_the_copy_reads(lake: Lake) -> None:
    newest = open_table(lake, schemas.USAGE).history(1)[0]
    pin = tables.pin(lake, schemas.USAGE)
    cells = gold.cells(Path(lake.root), Table(pin.table_id, pin.version), "ten_a", at(10), at(11))

    assert json.loads(newest["userMetadata"])["as_of"] == at(10, 1).isoformat()
    assert cells == [UsageCell("ten_a", "spc_1", "orders", "messages_in", at(10), 5)]


def test_bronze_has_one_schema_on_both_sides(lake: Lake) -> None:
    by_spark = [
        (f.name, f.dataType.simpleString(), f.nullable) for f in schemas.BRONZE.schema.fields
    ]
    types = {"string": "string", "int64": "bigint", "timestamp[us, tz=UTC]": "timestamp",
             "date32[day]": "date"}  # fmt: skip

    assert [(f.name, types[str(f.type)], f.nullable) for f in bronze.schema()] == by_spark


def test_ensure_refuses_a_table_with_other_columns(spark: SparkSession, tmp_path: Path) -> None:
    lake = Lake(spark, str(tmp_path))
    spark.range(1).write.format("delta").save(lake.path(schemas.USAGE))

    with pytest.raises(SchemaDiffers):
        tables.ensure(lake, schemas.USAGE)


def test_append_with_the_same_transaction_id_does_nothing(lake: Lake, tmp_path: Path) -> None:
    fresh = Lake(lake.spark, str(tmp_path))
    tables.ensure(fresh, schemas.USAGE)
    rows = tables.read(lake, schemas.USAGE).limit(1)
    tables.append(fresh, schemas.USAGE, rows, tables.Commit("twice", 7))

    tables.append(fresh, schemas.USAGE, rows, tables.Commit("twice", 7))

    assert tables.read(fresh, schemas.USAGE).count() == 1


def test_compaction_brings_nothing_new(spark: SparkSession, tmp_path: Path) -> None:
    landed = Landed(tmp_path)
    landed(row(at(10, 1), 1, messages_in=1))
    before = landed(row(at(10, 2), 2, messages_in=2))
    landed.table.optimize.compact()
    landed.table.update_incremental()

    added = tables.added_since(Lake(spark, str(tmp_path)), before, landed.table.version())

    assert landed.table.version() == before + 1
    assert (added.dates, added.n_rows) == ((), 0)


def test_everything_is_read_when_a_log_entry_is_gone(spark: SparkSession, tmp_path: Path) -> None:
    landed = Landed(tmp_path)
    for seq in (1, 2, 3):
        landed(row(at(10, seq), seq, messages_in=seq))
    landed.table.create_checkpoint()
    log = tmp_path / "bronze" / "samples" / "_delta_log"
    (log / f"{3:020d}.json").unlink()

    added = tables.added_since(Lake(spark, str(tmp_path)), 1, landed.table.version())

    assert (added.n_rows, added.dates) == (3, (at(10).date(),))
    assert added.rows.count() == 3


def test_rebuild_finds_the_same_tables(lake: Lake) -> None:
    before = {table.name: tables.pin(lake, table) for table in schemas.DERIVED}

    report = rebuild.run(lake, write=False)

    compared = [table.name for table in schemas.DERIVED if table is not schemas.QUARANTINE]
    assert report["differences"] == dict.fromkeys(compared, 0)
    assert {table.name: tables.pin(lake, table) for table in schemas.DERIVED} == before


def test_a_first_run_after_a_rebuild_adds_no_row_twice(spark: SparkSession, tmp_path: Path) -> None:
    """A first run appends to new tables. Those that a rebuild has filled have all keys already."""
    Landed(tmp_path)(row(at(10, 1), 1, messages_in=5), beat(at(10, 1), 1))
    lake = Lake(spark, str(tmp_path))
    rebuild.run(lake, write=True)
    built = tables.read(lake, schemas.STATE).count()

    pipeline.run(lake)

    assert built == 2
    assert set(rebuild.run(lake, write=False)["differences"].values()) == {0}


def test_rebuild_without_bronze_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(LakehouseError, match=r"has no table bronze\.samples"):
        rebuild.run(Lake(spark, str(tmp_path)), write=True)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.drill
def test_rebuild_repairs_a_table_and_keeps_its_old_version(lake: Lake) -> None:
    before = tables.pin(lake, schemas.USAGE)
    lake.spark.sql(f"UPDATE delta.`{lake.path(schemas.USAGE)}` SET quantity = 77")

    report = rebuild.run(lake, write=True)

    assert report["differences"]["gold.usage"] == 2
    assert [r["quantity"] for r in tables.read(lake, schemas.USAGE).collect()] == [5]
    assert tables.read(lake, schemas.USAGE, before.version).collect()[0]["quantity"] == 5
    assert tables.pin(lake, schemas.USAGE).table_id == before.table_id
    note = json.loads(open_table(lake, schemas.USAGE).history(1)[0]["userMetadata"])
    assert note["as_of"] == pipeline.as_of(lake) == at(10, 1).isoformat()
