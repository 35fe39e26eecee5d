"""Gold from openings equals gold from all days at once, in any order of arrival, after any kill.

Random histories of five days land in random batches: shuffled, late, repeated, with counters that
fall, with days on which an incarnation has no bucket. Runs stop after a random table. ``rebuild``
is the oracle: it computes usage and quality without openings.
"""

import random
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from lakehouse import schemas, tables
from lakehouse.jobs import pipeline, rebuild
from lakehouse.tables import Lake
from tests.support.lakehouse.samples import Landed, at, beat, row
from workers.metering.source_states import SampleRow

pytestmark = pytest.mark.spark


def history(chance: random.Random, n: int) -> Iterator[SampleRow]:
    """One source of its own tenant: a heartbeat and two addresses at some hours of five days."""
    own = {"tenant_id": f"ten_{n}", "space_id": f"spc_{n}", "source": f"spc_{n}/broker-0"}
    reached = {"orders": 0, "news": 0}
    days = sorted(chance.sample(range(5), chance.randint(2, 5)))
    moments = [(day, hour) for day in days for hour in sorted(chance.sample(range(24), 3))]
    for seq, (day, hour) in enumerate(moments, start=1):
        yield beat(at(hour, day=day), seq, connections_opened=seq * 2, **own)
        for address in reached:
            reached[address] += chance.randint(0, 9)
            fallen = chance.randint(1, 20) if chance.random() < 0.05 else 0
            value = max(0, reached[address] - fallen)
            if chance.random() < 0.8:
                yield row(at(hour, day=day), seq, address=address, messages_in=value, **own)


def stop_after(name: str) -> Callable[[str], None]:
    def stop(done: str) -> None:
        if done == name:
            raise KeyboardInterrupt

    return stop


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.drill) for seed in range(2, 8))]
)
def test_every_table_equals_the_rebuilt_one(lake: Lake, landed: Landed, seed: int) -> None:
    chance = random.Random(seed)
    rows = [sample for n in range(6) for sample in history(chance, n)]
    chance.shuffle(rows)
    rows += chance.sample(rows, len(rows) // 10)
    cuts = sorted(chance.sample(range(len(rows)), 3))
    for start, end in zip([0, *cuts], [*cuts, len(rows)], strict=True):
        landed(*rows[start:end])
        stopped = chance.choice([None, *schemas.DERIVED])
        if stopped is None:
            pipeline.run(lake)
            continue
        with pytest.raises(KeyboardInterrupt):
            pipeline.run(lake, stop_after(stopped.name))

    pipeline.run(lake)

    differences = rebuild.run(lake, write=False)["differences"]
    assert differences == dict.fromkeys(differences, 0)
    assert tables.read(lake, schemas.OPENINGS).count() > 0


def test_lake_of_an_older_version_is_filled_by_the_next_run(lake: Lake, landed: Landed) -> None:
    landed(row(at(10), 1, messages_in=5), beat(at(10), 1))
    landed(row(at(10, day=1), 2, messages_in=7), beat(at(10, day=1), 2))
    pipeline.run(lake)
    working = [table for table in schemas.DERIVED if table not in schemas.PINNED]
    for table in working:
        shutil.rmtree(lake.path(table))
    jvm: Any = lake.spark._jvm
    jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    landed(row(at(10, day=2), 3, messages_in=12), beat(at(10, day=2), 3))

    pipeline.run(lake)

    cells = tables.read(lake, schemas.USAGE).orderBy("date").collect()
    assert [cell["quantity"] for cell in cells] == [5, 2, 5]
    differences = rebuild.run(lake, write=False)["differences"]
    assert differences == dict.fromkeys(differences, 0)


def test_rows_of_both_sides_of_midnight_keep_what_the_first_day_used_before(
    lake: Lake, landed: Landed
) -> None:
    landed(row(at(10), 1, messages_in=5))
    pipeline.run(lake)
    landed(row(at(9, day=1), 2, messages_in=8))
    pipeline.run(lake)
    landed(row(at(23, 59, day=1), 3, messages_in=9), row(at(0, 1, day=2), 4, messages_in=11))

    pipeline.run(lake)

    cells = tables.read(lake, schemas.USAGE).orderBy("bucket_at").collect()
    assert [cell["quantity"] for cell in cells] == [5, 3, 1, 2]
    assert set(rebuild.run(lake, write=False)["differences"].values()) == {0}


def test_late_row_changes_the_days_of_its_own_incarnation_only(lake: Lake, landed: Landed) -> None:
    other = {"source": "spc_1/broker-1"}
    landed(*(row(at(10, day=day), day + 1, messages_in=10 * day + 1) for day in (0, 1, 4)))
    landed(*(row(at(10, day=day), day + 1, messages_in=day + 1, **other) for day in (2, 3)))
    pipeline.run(lake)
    before = files_by_day(lake, schemas.USAGE)
    landed(row(at(11), 2, messages_in=5))  # of the first day; day 1 had reached 11

    pipeline.run(lake)

    after = files_by_day(lake, schemas.USAGE)
    changed = {day for day in after if after[day] != before[day]}
    assert changed == {str(at(0, day=day).date()) for day in (0, 1)}


def test_resting_head_gives_the_opening_of_an_incarnation_that_speaks_again(
    lake: Lake, landed: Landed
) -> None:
    landed(row(at(10), 1, messages_in=5), row(at(10, day=40), 1, messages_in=1, boot_id="new"))
    pipeline.run(lake)
    lake.spark.sql(
        f"UPDATE delta.`{lake.path(schemas.HEADS)}` SET resting = true WHERE boot_id <> 'new'"
    )
    landed(row(at(10, day=41), 2, messages_in=8))

    pipeline.run(lake)

    cells = tables.read(lake, schemas.USAGE).orderBy("date").collect()
    assert [cell["quantity"] for cell in cells] == [5, 1, 3]
    heads = tables.read(lake, schemas.HEADS).collect()
    assert [head["resting"] for head in heads] == [False, False]
    assert set(rebuild.run(lake, write=False)["differences"].values()) == {0}


def files_by_day(lake: Lake, table: schemas.Table) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for file in lake.spark.read.format("delta").load(lake.path(table)).inputFiles():
        found.setdefault(file.split("date=")[1].split("/")[0], set()).add(file)
    return found
