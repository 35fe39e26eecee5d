"""Housekeeping with Spark: fewer files, equal rows, versions that can still be read."""

from datetime import timedelta

import pytest

from lakehouse import schemas, tables
from lakehouse.jobs import housekeeping, pipeline, rebuild
from lakehouse.tables import Lake
from tests.support.lakehouse.samples import Landed, at, beat, row

pytestmark = [pytest.mark.spark, pytest.mark.drill]


def test_tables_are_compacted_once_and_every_version_stays_readable(
    lake: Lake, landed: Landed
) -> None:
    for seq in (1, 2, 3):
        landed(row(at(10, 16 * seq), seq, messages_in=seq * 10), beat(at(10, 16 * seq), seq))
        pipeline.run(lake)
    pinned = {table.name: tables.pin(lake, table).version for table in schemas.DERIVED}
    before = {t.name: sorted(tables.read(lake, t).collect()) for t in schemas.DERIVED}
    today = at(0, day=4).date()

    first = housekeeping.run(lake, today)["tables"]
    again = housekeeping.run(lake, today)["tables"]

    assert first["state.buckets"]["days"] == 1
    assert first["state.buckets"]["files_before"] > first["state.buckets"]["files_after"] == 1
    assert {name: table["days"] for name, table in again.items()} == dict.fromkeys(first, 0)
    for table in schemas.DERIVED:
        assert sorted(tables.read(lake, table).collect()) == before[table.name]
        assert sorted(tables.read(lake, table, pinned[table.name]).collect()) == before[table.name]
    landed(row(at(11), 4, messages_in=45), beat(at(11), 4))
    pipeline.run(lake)
    assert set(rebuild.run(lake, write=False)["differences"].values()) == {0}


def test_incarnations_that_are_silent_for_long_rest(lake: Lake, landed: Landed) -> None:
    landed(row(at(10), 1, messages_in=5))
    landed(row(at(10, day=40), 1, messages_in=1, boot_id="new"))
    pipeline.run(lake)

    housekeeping.run(lake, at(0, day=40).date() + timedelta(days=1))

    heads = tables.read(lake, schemas.HEADS).collect()
    assert {head["boot_id"]: head["resting"] for head in heads} == {"boot-1": True, "new": False}
    landed(row(at(10, day=41), 2, messages_in=8))
    pipeline.run(lake)
    cells = tables.read(lake, schemas.USAGE).orderBy("date").collect()
    assert [cell["quantity"] for cell in cells] == [5, 1, 3]
    assert set(rebuild.run(lake, write=False)["differences"].values()) == {0}
