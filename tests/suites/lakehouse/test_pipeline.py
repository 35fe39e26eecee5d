"""The pipeline as a whole: empty, repeated, stopped between tables."""

from collections.abc import Callable
from typing import Any

import pytest

from lakehouse import schemas, tables
from lakehouse.jobs import pipeline, rebuild
from lakehouse.schemas import Table
from lakehouse.tables import Lake
from tests.support.lakehouse.samples import Landed, at, beat, row

pytestmark = pytest.mark.spark


def test_pipeline_without_bronze_makes_empty_tables_and_an_empty_report(lake: Lake) -> None:
    report = pipeline.run(lake)

    assert report["bronze_version"] is None
    assert report["as_of"] is None
    assert set(report["tables"]) == {t.name for t in schemas.PINNED if t is not schemas.BRONZE}
    assert tables.read(lake, schemas.USAGE).count() == 0


def test_pipeline_again_changes_no_table(lake: Lake, landed: Landed) -> None:
    landed(row(at(10, 1), 1, messages_in=5), beat(at(10, 1), 1))
    first = pipeline.run(lake)

    again = pipeline.run(lake)

    assert again["tables"] == first["tables"]
    assert again["rows"] == {"samples": 0, "quarantined": 0, "files": 0}


def test_as_of_is_where_the_samples_of_every_living_source_reach(
    lake: Lake, landed: Landed
) -> None:
    other: dict[str, Any] = {"space_id": "spc_2", "source": "spc_2/broker-0"}
    landed(
        beat(at(10, 5), 1, source="spc_1/broker-9"),  # scaled in since
        beat(at(10, 14, 20), 1),
        beat(at(10, 14, 50), 1, boot_id="boot-2"),
        beat(at(10, 14, 45), 1, **other),
    )
    # The end of a bucket of one space, landed before any other sample of the next minute.
    landed(beat(at(10, 15, 3), 2, boot_id="boot-2", bucket_at=at(10)))

    between = pipeline.run(lake)
    landed(beat(at(10, 15, 40), 2, **other))
    after = pipeline.run(lake)

    assert between["as_of"] == at(10, 14, 45).isoformat()
    assert after["as_of"] == at(10, 15, 3).isoformat()


@pytest.mark.drill
def test_pipeline_stopped_after_each_table_ends_right(lake: Lake, landed: Landed) -> None:
    # A day each: what a stopped run left undone lies on a day that no later sample touches.
    for seq, table in enumerate(schemas.DERIVED, start=1):
        landed(row(at(10, day=seq), seq, messages_in=10 * seq), beat(at(10, day=seq), seq))
        with pytest.raises(KeyboardInterrupt):
            pipeline.run(lake, _stop_after(table.name))
    after = len(schemas.DERIVED) + 1
    least, last = row(at(10, day=after), after, messages_in=3), 10 * len(schemas.DERIVED) + 1
    landed(least, row(at(10, 1, day=after), after + 1, messages_in=last))

    pipeline.run(lake)

    cells = tables.read(lake, schemas.USAGE).orderBy("date").collect()
    daily = tables.read(lake, schemas.USAGE_DAILY).orderBy("date").collect()
    quality = tables.read(lake, schemas.QUALITY).orderBy("date").collect()
    n_days = len(schemas.DERIVED)
    assert [cell["quantity"] for cell in cells] == [10] * n_days + [1]
    assert [day["quantity"] for day in daily] == [10] * n_days + [1]
    assert [(day["expected_seq"], day["seen_seq"]) for day in quality] == [(1, 1)] * n_days
    assert set(rebuild.run(lake, write=False)["differences"].values()) == {0}
    assert tables.read(lake, schemas.QUARANTINE).count() == 1


def test_a_gold_table_that_one_run_did_not_write_is_written_by_the_next(
    lake: Lake, landed: Landed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Usage and quality are computed side by side, so either may be there without the other."""
    really = tables.replace_where
    gold = (schemas.USAGE, schemas.USAGE_DAILY, schemas.QUALITY)
    for seq, lost in enumerate(gold, start=1):
        landed(row(at(10, day=seq), seq, messages_in=10 * seq), beat(at(10, day=seq), seq))

        def write(at_lake: Lake, table: Table, *rest: Any, lost: Table = lost) -> None:
            if table is lost:
                raise KeyboardInterrupt
            really(at_lake, table, *rest)

        with monkeypatch.context() as killed:
            killed.setattr(tables, "replace_where", write)
            with pytest.raises(KeyboardInterrupt):
                pipeline.run(lake)
        day = f"date = '{at(10, day=seq).date()}'"
        there = {table.name for table in gold if tables.read(lake, table).where(day).count()}
        assert there == {table.name for table in gold if table is not lost} - (
            {schemas.USAGE_DAILY.name} if lost is schemas.USAGE else set()
        )

    pipeline.run(lake)

    assert [tables.read(lake, table).count() for table in gold] == [3, 3, 3]
    assert set(rebuild.run(lake, write=False)["differences"].values()) == {0}


def _stop_after(name: str) -> Callable[[str], None]:
    def stop(done: str) -> None:
        if done == name:
            raise KeyboardInterrupt

    return stop
