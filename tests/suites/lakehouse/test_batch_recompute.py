"""The recomputation of many tenants at once equals that of each alone, which reads all history.

Random histories of five days land shuffled and repeated, with late rows, gaps in ``seq``, counters
that fall and samples with two values. Periods begin and end within days.
"""

import random
from pathlib import Path

import pytest

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


def test_a_sample_with_two_values_makes_its_tenant_doubtful(lake: Lake, landed: Landed) -> None:
    landed(beat(at(10), 1), row(at(10), 1, messages_in=5))
    landed(row(at(10), 1, messages_in=6))
    other = {"tenant_id": "ten_b", "space_id": "spc_b", "source": "spc_b/broker-0"}
    landed(beat(at(10), 1, **other), row(at(10), 1, messages_in=5, **other))

    period = Period(at(0), at(0, day=1))
    found = batch_recompute.read(landed.root, pinned(lake), period, ["ten_a", "ten_b"])

    assert found["ten_a"].is_doubtful
    assert not found["ten_b"].is_doubtful


def test_it_reads_the_days_of_the_period_only(
    lake: Lake, landed: Landed, monkeypatch: pytest.MonkeyPatch
) -> None:
    landed(beat(at(10), 1), row(at(10), 1, messages_in=5))
    landed(beat(at(10, day=3), 2), row(at(10, day=3), 2, messages_in=9))
    pins = pinned(lake)
    # Without the file of the first day only its opening is left.
    (file,) = Path(lake.root, "bronze/samples").glob(f"**/date={at(10).date()}/*.parquet")
    file.unlink()

    found = batch_recompute.read(landed.root, pins, Period(at(0, day=3), at(0, day=4)), ["ten_a"])

    (quantity,) = found["ten_a"].recomputed.values()
    assert quantity == 4
    assert not found["ten_a"].is_doubtful


def test_without_openings_every_tenant_is_left_to_the_other_way(landed: Landed) -> None:
    assert batch_recompute.read(landed.root, {}, PERIODS[0], IDS) == {}
