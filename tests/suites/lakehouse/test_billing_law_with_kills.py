"""The billing law on real Spark and Delta, with money and with kills between any two commits.

Twenty random histories share one lake, each as a tenant of its own. Their rows arrive in disorder
over ten runs of the pipeline. Each of the first runs is stopped after another table, so that every
gap between two commits is met once. In the middle invoices are made; what lands afterwards is late
usage, which the next invoice corrects. ``law_bills`` says what the money must come to.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakehouse import schemas, tables
from lakehouse.jobs import pipeline
from lakehouse.tables import Lake
from tests.support import billing_histories
from tests.support.billing_histories import Batch, CellKey, Delivery, History
from tests.support.lakehouse.samples import Landed, from_columns
from tests.support.plans import law_bills, reference_gold

pytestmark = [pytest.mark.spark, pytest.mark.drill]

SEEDS = range(20)
# One for each table that a run may be stopped after, and two that are not stopped: before the
# invoices are made, and at the end.
N_PARTS = len(schemas.DERIVED) + 2
CLOSED_AFTER = N_PARTS // 2
Cells = dict[CellKey, int]


@dataclass(frozen=True)
class Month:
    """What gold said when the invoices were made, and at the end, by tenant."""

    histories: dict[int, History]
    deliveries: dict[int, Delivery]
    at_close: dict[str, Cells]
    at_end: dict[str, Cells]
    quarantined: int


@pytest.fixture(scope="module")
def month(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Month:
    root = tmp_path_factory.mktemp("law")
    lake, landed = Lake(spark, str(root)), Landed(Path(root))
    histories = {
        seed: billing_histories.history(seed, tenant_id=f"ten_{seed:02d}") for seed in SEEDS
    }
    deliveries = {seed: billing_histories.disturbed(past, seed) for seed, past in histories.items()}
    kills = [table.name for table in schemas.DERIVED]
    at_close: dict[str, Cells] = {}
    for part in range(N_PARTS):
        batches = [_part(delivery, part) for delivery in deliveries.values()]
        landed.many([[from_columns(row) for row in batch.rows] for batch in batches])
        if part in (CLOSED_AFTER, N_PARTS - 1):
            pipeline.run(lake)
        else:
            with pytest.raises(KeyboardInterrupt):
                pipeline.run(lake, _stop_after(kills.pop()))
        if part == CLOSED_AFTER:
            at_close = _gold(lake)
    assert kills == []
    quarantined = tables.read(lake, schemas.QUARANTINE).count()
    return Month(histories, deliveries, at_close, _gold(lake), quarantined)


def _part(delivery: Delivery, part: int) -> Batch:
    """Return every tenth row, so that each part has rows of all instants."""
    rows = [row for batch in delivery.batches for row in batch.rows]
    return Batch(f"part-{part}", tuple(rows[part::N_PARTS]))


def _stop_after(name: str) -> Callable[[str], None]:
    def stop(done: str) -> None:
        if done == name:
            raise KeyboardInterrupt

    return stop


def _gold(lake: Lake) -> dict[str, Cells]:
    found: dict[str, Cells] = {}
    for row in tables.read(lake, schemas.USAGE).collect():
        bucket_at = row["bucket_at"].astimezone(UTC)
        key = CellKey(row["tenant_id"], row["space_id"], row["address"], row["meter"], bucket_at)
        found.setdefault(key.tenant_id, {})[key] = row["quantity"]
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_gold_at_the_close_is_what_had_landed(month: Month, seed: int) -> None:
    past = month.histories[seed]
    landed = [_part(month.deliveries[seed], part) for part in range(CLOSED_AFTER + 1)]

    assert month.at_close[past.tenant_id] == reference_gold.gold(reference_gold.fold({}, landed))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_two_invoices_cost_what_happened(month: Month, seed: int) -> None:
    past = month.histories[seed]

    law_bills.require_lawful(past, month.at_close[past.tenant_id], month.at_end[past.tenant_id])


def test_most_histories_had_late_usage(month: Month) -> None:
    late = [tenant for tenant, cells in month.at_end.items() if cells != month.at_close[tenant]]

    assert len(late) > len(SEEDS) / 2


def test_quarantine_stays_empty(month: Month) -> None:
    assert month.quarantined == 0
