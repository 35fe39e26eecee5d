"""The recomputation of many tenants at once equals that of each alone, which reads all history.

Random histories of five days land shuffled and repeated, with late rows, gaps in ``seq``, counters
that fall and samples with two values. Periods begin and end within days.
"""

import random
from datetime import datetime

import pytest
from pyspark.sql import SparkSession

from lakehouse.jobs import pipeline
from lakehouse.tables import Lake
from plans.invoicing import comparisons
from plans.rating.periods import Period
from tests.suites.lakehouse.test_openings import history
from tests.support.lakehouse.samples import Landed, at, beat, row
from workers.metering import batch_recompute, delta, gold, recompute
from workers.metering.batch_recompute import PeriodUsage
from workers.metering.pipeline import Table
from workers.metering.roots import Root
from workers.metering.source_states import SampleRow

pytestmark = pytest.mark.spark
IDS = [f"ten_{n}" for n in range(8)]
PERIODS = [
    Period(at(0, day=1), at(0, day=3)),
    Period(at(7, day=1), at(15, day=3)),
    Period(at(11, 15, day=2), at(18, 45, day=2)),
    Period(at(0, day=-3), at(12, day=0)),
    Period(at(0, day=4), at(0, day=9)),
]


def pinned(lake: Lake) -> dict[str, Table]:
    """Run the pipeline; return the pins of its tables."""
    tables = pipeline.run(lake)["tables"]
    return {name: Table(pin["id"], pin["version"]) for name, pin in tables.items()}


def alone(root: Root, pins: dict[str, Table], tenant_id: str, period: Period) -> PeriodUsage:
    """Return what ``recompute`` says about one tenant."""
    query = recompute.question(root, pins[delta.BRONZE], tenant_id, period)
    cells = gold.cells(root, pins[delta.USAGE], tenant_id, period.starts_at, period.ends_at)
    samples = recompute.samples(query)
    doubts = (recompute.gaps(query), recompute.counter_resets(query), samples.doubled)
    return PeriodUsage(
        comparisons.figures(cells),
        recompute.totals(query),
        samples,
        recompute.sampled_spaces(query),
        recompute.last_seqs(query),
        any(doubts),
    )


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.drill) for seed in range(2, 6))]
)
def test_many_tenants_at_once_equal_each_alone(
    lake: Lake, landed: Landed, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    rows = [sample for n in range(len(IDS)) for sample in history(chance, n)]
    rows = [sample for sample in rows if chance.random() < 0.97]  # some never arrive
    chance.shuffle(rows)
    half = len(rows) // 2
    landed(*rows[:half])
    pipeline.run(lake)
    landed(*rows[half:], *chance.sample(rows, len(rows) // 10))
    pins = pinned(lake)
    monkeypatch.setattr(batch_recompute, "_SAMPLES_AT_ONCE", 20)  # several chunks

    doubtful = set[bool]()
    for period in PERIODS:
        found = batch_recompute.read(landed.root, pins, period, IDS)
        for tenant_id in IDS:
            one, expected = found[tenant_id], alone(landed.root, pins, tenant_id, period)
            assert one.recomputed == expected.recomputed
            assert one.gold == expected.gold
            assert one.samples.hash == expected.samples.hash
            assert one.samples.n_samples == expected.samples.n_samples
            assert one.sampled_spaces == expected.sampled_spaces
            assert one.is_doubtful == expected.is_doubtful, (tenant_id, period)
            since = {k: n for k, n in expected.last_seqs.items() if k in one.last_seqs}
            assert one.last_seqs == since
            doubtful.add(one.is_doubtful)
    assert doubtful == {True, False}


@pytest.fixture(scope="module")
def read_late(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, PeriodUsage]:
    """What is read of a period, by tenant, when the file of an earlier day is gone."""
    root = tmp_path_factory.mktemp("late")
    landed = Landed(root)
    landed(*(sample for tenant in ("one", "two") for sample in of(tenant, at(10), 1, 5)))
    landed(*of("one", at(10, day=3), 2, 9), *of("two", at(10, day=3), 2, 9))
    landed(*of("two", at(10, day=3), 2, 10))
    pins = pinned(Lake(spark, str(root)))
    # Without the file of the first day only its opening is left.
    (file,) = (root / "bronze/samples").glob(f"**/date={at(10).date()}/*.parquet")
    file.unlink()
    return batch_recompute.read(root, pins, Period(at(0, day=3), at(0, day=4)), ["one", "two"])


def of(tenant: str, taken_at: datetime, seq: int, messages_in: int) -> list[SampleRow]:
    own = {"tenant_id": tenant, "space_id": f"spc_{tenant}", "source": f"spc_{tenant}/broker-0"}
    return [beat(taken_at, seq, **own), row(taken_at, seq, messages_in=messages_in, **own)]


def test_a_sample_with_two_values_makes_its_tenant_doubtful(
    read_late: dict[str, PeriodUsage],
) -> None:
    assert read_late["two"].is_doubtful
    assert not read_late["one"].is_doubtful


def test_it_reads_the_days_of_the_period_only(read_late: dict[str, PeriodUsage]) -> None:
    (quantity,) = read_late["one"].recomputed.values()
    assert quantity == 4


def test_without_openings_every_tenant_is_left_to_the_other_way(landed: Landed) -> None:
    assert batch_recompute.read(landed.root, {}, PERIODS[0], IDS) == {}
