"""The billing law on real Spark and Delta: whatever a bad day does, the bill is what happened.

Five random histories (``billing_histories``) share one lake, each as a tenant of its own: they
arrive in any order, in other batches, twice and late, over three runs of the pipeline of which one
is stopped half-way. The true usage was booked while each history happened, never from counters.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakehouse import schemas, tables
from lakehouse.jobs import pipeline
from lakehouse.tables import Lake
from plans.invoicing.evidence import UsageKey
from plans.rating.periods import Period
from tests.support import billing_histories
from tests.support.billing_histories import CellKey, Delivery, History
from tests.support.lakehouse.samples import Landed, from_columns
from workers.metering import recompute
from workers.metering.pipeline import Table
from workers.metering.source_states import SampleRow

pytestmark = pytest.mark.spark

SEEDS = (3, 14, 15, 92, 65)


@dataclass(frozen=True)
class Day:
    """The lake after everything arrived, and what really happened."""

    lake: Lake
    landed: Landed
    histories: dict[int, History]

    def cells(self, past: History) -> dict[CellKey, int]:
        tenant_id = next(iter(past.cells)).tenant_id
        rows = tables.read(self.lake, schemas.USAGE).where(f"tenant_id = '{tenant_id}'").collect()
        return {
            CellKey(
                row["tenant_id"], row["space_id"], row["address"], row["meter"],
                row["bucket_at"].astimezone(past.starts_at.tzinfo),
            ): row["quantity"]
            for row in rows
        }  # fmt: skip

    def asked(self, past: History) -> recompute.Question:
        table = self.landed.table
        pin = Table(str(table.metadata().id), int(table.version()))
        period = Period(past.starts_at, past.ends_at)
        tenant_id = next(iter(past.cells)).tenant_id
        return recompute.question(self.landed.root, pin, tenant_id, period)


@pytest.fixture(scope="module")
def day(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Day:
    root = tmp_path_factory.mktemp("law")
    lake, landed = Lake(spark, str(root)), Landed(Path(root))
    histories = {
        seed: billing_histories.history(seed, tenant_id=f"ten_{seed:02d}") for seed in SEEDS
    }
    deliveries = [billing_histories.disturbed(past, seed) for seed, past in histories.items()]
    for part in (0, 1, 2):
        landed.many([rows for delivery in deliveries for rows in _part(delivery, part)])
        if part == 1:
            with pytest.raises(KeyboardInterrupt):
                pipeline.run(lake, _stop_after_state)
        else:
            pipeline.run(lake)
    return Day(lake, landed, histories)


def _part(delivery: Delivery, part: int) -> Sequence[Sequence[SampleRow]]:
    return [[from_columns(row) for row in batch.rows] for batch in delivery.batches[part::3]]


def _stop_after_state(done: str) -> None:
    if done == schemas.STATE.name:
        raise KeyboardInterrupt


@pytest.mark.parametrize("seed", SEEDS)
def test_usage_is_exactly_what_happened(day: Day, seed: int) -> None:
    past = day.histories[seed]

    assert day.cells(past) == dict(past.cells)


@pytest.mark.parametrize("seed", SEEDS)
def test_recompute_from_bronze_agrees_for_the_period(day: Day, seed: int) -> None:
    past = day.histories[seed]
    true: dict[UsageKey, int] = {}
    for cell, quantity in past.period_cells().items():
        key = UsageKey(cell.space_id, cell.address, cell.meter)
        peak = max(true.get(key, 0), quantity)
        true[key] = peak if cell.meter == schemas.PEAK else true.get(key, 0) + quantity

    assert recompute.totals(day.asked(past)) == true
    assert recompute.counter_resets(day.asked(past)) == ()


def test_quarantine_stays_empty(day: Day) -> None:
    assert tables.read(day.lake, schemas.QUARANTINE).count() == 0
