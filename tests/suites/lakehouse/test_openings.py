"""Gold from openings equals gold from all days at once, in any order of arrival, after any kill.

Random histories of five days land in random batches: shuffled, late, repeated, with counters that
fall, with days on which an incarnation has no bucket. Runs stop after a random table. ``rebuild``
is the oracle: it computes usage and quality without openings.
"""

import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from pyspark.sql import SparkSession

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


# Each story has a tenant of its own, and its rows land before the first, second and third run.
# The late row is on days that no other story has, because its test compares files.
LATE = at(0, day=100)
STORIES: dict[str, tuple[list[SampleRow], ...]] = {
    "midnight": (
        [row(at(10), 1, messages_in=5)],
        [row(at(9, day=1), 2, messages_in=8)],
        [row(at(23, 59, day=1), 3, messages_in=9), row(at(0, 1, day=2), 4, messages_in=11)],
    ),
    "late": (
        [
            *(row(at(10, day=100 + n), n + 1, messages_in=10 * n + 1) for n in (0, 1, 4)),
            *(row(at(10, day=100 + n), n + 1, messages_in=n + 1, boot_id="2") for n in (2, 3)),
        ],
        [row(at(11, day=100), 2, messages_in=5)],  # the second day had reached 11
        [],
    ),
    "resting": (
        [row(at(10), 1, messages_in=5), row(at(10, day=40), 1, messages_in=1, boot_id="new")],
        [],
        [row(at(10, day=41), 2, messages_in=8)],  # its head rests since the second run
    ),
}


@dataclass(frozen=True)
class Outcome:
    """The lake after three runs, and the files of ``gold.usage`` by day after each run."""

    lake: Lake
    files: list[dict[str, set[str]]]

    def used(self, tenant: str) -> list[int]:
        """The quantities of a tenant, from the earliest bucket to the latest."""
        cells = tables.read(self.lake, schemas.USAGE).where(f"tenant_id = '{tenant}'")
        return [cell["quantity"] for cell in cells.orderBy("bucket_at").collect()]


@pytest.fixture(scope="module")
def outcome(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    root = tmp_path_factory.mktemp("openings")
    lake, landed, files = Lake(spark, str(root)), Landed(root), []
    for part in range(3):
        landed(*(_of(tenant, sample) for tenant in STORIES for sample in STORIES[tenant][part]))
        pipeline.run(lake)
        files.append(files_by_day(lake, schemas.USAGE))
        if part == 1:
            spark.sql(
                f"UPDATE delta.`{lake.path(schemas.HEADS)}` SET resting = true "
                "WHERE tenant_id = 'resting' AND boot_id <> 'new'"
            )
    return Outcome(lake, files)


def _of(tenant: str, sample: SampleRow) -> SampleRow:
    own = {"tenant_id": tenant, "space_id": f"spc_{tenant}", "source": f"spc_{tenant}/broker-0"}
    return SampleRow.of_columns({**sample.columns, **own})


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
    outcome: Outcome,
) -> None:
    assert outcome.used("midnight") == [5, 3, 1, 2]


def test_late_row_changes_the_days_of_its_own_incarnation_only(outcome: Outcome) -> None:
    before, after = outcome.files[0], outcome.files[1]
    late = {day for day in after if day >= str(LATE.date())}
    changed = {day for day in late if after[day] != before[day]}
    assert changed == {str((LATE + timedelta(days=day)).date()) for day in (0, 1)}


def test_resting_head_gives_the_opening_of_an_incarnation_that_speaks_again(
    outcome: Outcome,
) -> None:
    assert outcome.used("resting") == [5, 1, 3]
    heads = tables.read(outcome.lake, schemas.HEADS).where("tenant_id = 'resting'").collect()
    assert [head["resting"] for head in heads] == [False, False]


def test_all_stories_equal_the_rebuilt_tables(outcome: Outcome) -> None:
    assert set(rebuild.run(outcome.lake, write=False)["differences"].values()) == {0}


def files_by_day(lake: Lake, table: schemas.Table) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for file in lake.spark.read.format("delta").load(lake.path(table)).inputFiles():
        found.setdefault(file.split("date=")[1].split("/")[0], set()).add(file)
    return found
