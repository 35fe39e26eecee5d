"""A back-test with the real Spark job: quantities from gold, results in ``gold.backtest``."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pytest_django import Settings

from controlplane.core import leases
from lakehouse import schemas, tables
from lakehouse.errors import LakehouseError
from lakehouse.jobs import backtest
from lakehouse.tables import Commit, Lake
from lakehouse.transforms import window_usage
from plans.invoicing import back_testing
from plans.models import BackTest, BackTestRow
from plans.usage.meters import CONNECTION_MS, MESSAGES_IN, PEAK_CONNECTIONS
from plans.usage.reading import UsageCell
from tenants.actions import catalog_drafts
from tests.support.plans import billing_rows as rows
from workers.metering import back_tests, pipeline

pytestmark = [pytest.mark.spark, pytest.mark.slow]
NOW = datetime(2026, 5, 5, tzinfo=UTC)


def write_gold(lake: Lake, cells: list[UsageCell], version: int = 1) -> None:
    tables.ensure(lake, schemas.USAGE)
    frame = lake.spark.createDataFrame(
        [
            (c.tenant_id, c.space_id, c.address, c.meter, c.bucket_at, c.bucket_at.date(),
             c.quantity)
            for c in cells
        ],
        schemas.USAGE.schema,
    )  # fmt: skip
    tables.append(lake, schemas.USAGE, frame, Commit("test", version))


@pytest.mark.django_db
def test_back_test_by_spark_gives_the_issued_invoices_and_a_table(
    lake: Lake, settings: Settings
) -> None:
    settings.LAKEHOUSE_ROOT = lake.root
    owner, quiet = rows.tenant(), rows.tenant()
    space = rows.space(owner)
    cells = rows.used(
        rows.cell(space, MESSAGES_IN, 12_345_678, address="orders"),
        rows.cell(space, MESSAGES_IN, 5, at=datetime(2026, 4, 30, 23, 45, tzinfo=UTC)),
        rows.cell(space, CONNECTION_MS, 7_200_000),
        rows.cell(space, PEAK_CONNECTIONS, 9),
    )
    invoices = {owner.pk: rows.issued(owner, cells), quiet.pk: rows.issued(quiet)}
    write_gold(lake, cells)
    draft = catalog_drafts.prepare(
        yaml=rows.CATALOG.replace('"title": "Free"', '"title": "Nothing"'), by=rows.STAFF
    )
    test = back_testing.request(
        draft=draft, months=2, source=BackTest.Source.LAKEHOUSE, by=rows.STAFF, now=NOW
    )
    assert leases.acquire(pipeline.LEASE, "a pipeline", 60)
    back_tests.run(test.pk)  # it waits for the pipeline
    test.refresh_from_db()
    assert (test.state, test.n_rated) == (BackTest.State.RUNNING, 0)
    leases.release(pipeline.LEASE, "a pipeline")
    # Usage that lands now is not in the pinned version.
    write_gold(lake, [rows.cell(space, MESSAGES_IN, 10**9, address="late")], version=2)

    back_tests.run(test.pk)

    test.refresh_from_db()
    assert (test.state, test.error, test.n_rated) == (BackTest.State.SUCCEEDED, "", 2)
    found = {row.tenant_id: row for row in BackTestRow.objects.all()}
    for tenant_id, invoice in invoices.items():
        row = found[tenant_id]
        assert row.present_net_minor == row.draft_net_minor == invoice.net_minor
        assert row.present_total_minor == row.draft_total_minor == invoice.total_minor
    stored = tables.read(lake, schemas.BACKTEST, test.stored_version).collect()
    assert {(r.tenant_id, r.back_test, r.plan, r.draft_total_minor) for r in stored} == {
        (tenant_id, test.pk, "team", invoice.total_minor) for tenant_id, invoice in invoices.items()
    }


def test_sums_are_by_window_and_space_and_a_peak_is_a_maximum(spark: SparkSession) -> None:
    at = [datetime(2026, 4, day, tzinfo=UTC) for day in (1, 2, 3)]
    usage = spark.createDataFrame(
        [
            ("t", "s", "a", MESSAGES_IN, at[0], at[0].date(), 3),
            ("t", "s", "b", MESSAGES_IN, at[1], at[1].date(), 4),
            ("t", "s", "", schemas.PEAK, at[0], at[0].date(), 7),
            ("t", "s", "", schemas.PEAK, at[1], at[1].date(), 5),
            ("t", "s", "a", MESSAGES_IN, at[2], at[2].date(), 100),
            ("other", "s", "a", MESSAGES_IN, at[0], at[0].date(), 1000),
        ],
        schemas.USAGE.schema,
    )
    windows = spark.createDataFrame(
        [("t", at[0], at[2]), ("t", at[1], at[2])], window_usage.WINDOWS
    )

    found = window_usage.sums(usage, windows).collect()

    sums = {(r.starts_at.day, r.meter, r.quantity) for r in found}
    assert sums == {(1, MESSAGES_IN, 7), (1, schemas.PEAK, 7),
                    (2, MESSAGES_IN, 4), (2, schemas.PEAK, 5)}  # fmt: skip


def test_storing_again_replaces_the_rows_of_one_back_test_only(lake: Lake, tmp_path: Path) -> None:
    file = tmp_path / "results.csv"
    header = [f.name for f in schemas.BACKTEST.schema.fields if f.name != "back_test"]
    for test, amount in (("one", 1), ("two", 2), ("one", 3)):
        line = f"t,team,2026-04-01T00:00:00+00:00,EUR,{amount},{amount},{amount},{amount}"
        file.write_text(f"{','.join(header)}\n{line}\n")
        backtest.store(lake, test, file)

    found = tables.read(lake, schemas.BACKTEST).collect()

    assert {(r.back_test, r.draft_net_minor) for r in found} == {("one", 3), ("two", 2)}


def test_a_replaced_table_of_usage_is_refused(lake: Lake, tmp_path: Path) -> None:
    tables.ensure(lake, schemas.USAGE)
    with pytest.raises(LakehouseError, match="was replaced"):
        backtest.quantities(lake, tmp_path / "in.csv", tmp_path / "out.csv", "another", 0)


@pytest.mark.django_db
def test_a_back_test_without_gold_fails_with_what_to_do(tmp_path: Path, settings: Settings) -> None:
    settings.LAKEHOUSE_ROOT = str(tmp_path)
    rows.tenant()
    draft = catalog_drafts.prepare(yaml=json.dumps(json.loads(rows.CATALOG)), by=rows.STAFF)
    test = back_testing.request(
        draft=draft, months=1, source=BackTest.Source.LAKEHOUSE, by=rows.STAFF, now=NOW
    )

    back_tests.run(test.pk)

    test.refresh_from_db()
    assert test.state == BackTest.State.FAILED
    assert "use the copy as the source" in test.error
