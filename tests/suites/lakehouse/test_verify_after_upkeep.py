"""Invoices still verify after each upkeep of the lakehouse: compaction, vacuum, rest, a restore.

Nothing is stood in for: outbox, files, bronze, Spark, the copy, and verification with files.
"""

from datetime import timedelta
from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from pytest_django import Settings

from lakehouse import schemas
from lakehouse.jobs import housekeeping as job
from lakehouse.jobs import pipeline
from lakehouse.tables import Lake
from plans.invoicing import invoice_closing
from plans.models import Invoice
from tests.support.lakehouse import older
from tests.support.metering.readings import snapshot
from tests.support.plans import billing_rows
from tests.unit.workers.metering.conftest import FakeReaders, clock
from workers.backups import lakehouse_copy
from workers.metering import (
    bronze_housekeeping,
    closing,
    committer,
    delta,
    ingest,
    restored,
    sampling,
    verifying,
)
from workers.models import FileHash

pytestmark = [pytest.mark.spark, pytest.mark.drill, pytest.mark.django_db]

_SETTLED = timedelta(days=5)  # a day of now is compacted then


def test_an_invoice_verifies_after_compaction_vacuum_and_restore(
    spark: SparkSession, tmp_path: Path, settings: Settings
) -> None:
    root = tmp_path / "lakehouse"
    settings.LAKEHOUSE_ROOT = str(root)
    lake = Lake(spark, str(root))
    invoice = _closed(lake)
    pinned = invoice.manifest["tables"]
    later = (clock() + _SETTLED).date()
    before = _versions(root)

    compacted = bronze_housekeeping.compact(root, later)
    _assert_verifies(invoice, root, "compaction of bronze")

    found = job.run(lake, later)["tables"]
    _assert_verifies(invoice, root, "compaction and vacuum by Spark")

    again = job.run(lake, later + _SETTLED)["tables"]
    _assert_verifies(invoice, root, "a second housekeeping")

    # All of that did something: else nothing would be proved.
    assert compacted is not None
    assert (compacted.days, compacted.altered) == (1, ())
    assert compacted.files_after < compacted.files_before
    assert found[schemas.STATE.name]["days"] == 1
    assert {table["days"] for table in again.values()} == {0}
    after = _versions(root)
    for name in (schemas.BRONZE.name, schemas.STATE.name, schemas.USAGE.name):
        assert after[name] > before[name]
        assert pinned[name]["version"] <= before[name]

    other = tmp_path / "restored"
    lakehouse_copy.copy(root, other, after)
    restored.check(other)
    _assert_verifies(invoice, other, "a restore")
    # The restored lakehouse goes on.
    settings.LAKEHOUSE_ROOT = str(other)
    assert pipeline.run(Lake(spark, str(other)))["rows"]["samples"] == 0


def test_an_invoice_of_before_a_meter_was_added_verifies_after_the_upgrade(
    spark: SparkSession, tmp_path: Path, settings: Settings
) -> None:
    settings.LAKEHOUSE_ROOT = str(tmp_path / "made")
    invoice = _closed(Lake(spark, settings.LAKEHOUSE_ROOT))
    FileHash.objects.all().delete()  # the copy has other files
    root = older.copy(tmp_path / "made", tmp_path / "old")
    settings.LAKEHOUSE_ROOT = str(root)
    _assert_verifies(invoice, root, "nothing")
    before = _versions(root)

    committer.add_lacking(root)
    report = pipeline.run(Lake(spark, str(root)))

    _assert_verifies(invoice, root, "the columns were added")
    assert report["rows"]["samples"] == 0
    after = _versions(root)
    assert {name for name in after if after[name] > before[name]} == {
        table.name
        for table in (
            schemas.BRONZE,
            schemas.QUARANTINE,
            schemas.STATE,
            schemas.OPENINGS,
            schemas.HEADS,
        )
    }
    bronze_housekeeping.compact(root, (clock() + _SETTLED).date())
    _assert_verifies(invoice, root, "compaction of rows with nulls")


def _closed(lake: Lake) -> Invoice:
    """Meter a space for three minutes, each a run of the pipeline, and close its period."""
    clock.start()
    owner = billing_rows.tenant(subscribed_at=clock() - timedelta(days=40))
    space = billing_rows.space(owner, active_since=clock())
    readers = FakeReaders()
    for n in (1, 2, 3):
        shown = snapshot(orders=(5 * n, 2 * n, 1000), opened=2, open_now=1)
        readers.answers[space.id] = {"broker-0": shown}
        sampling.sample_all(readers)
        ingest.ingest()
        pipeline.run(lake)
    # Rows of another incarnation alone: the state gets a second file of this day, which the rows
    # above do not give it, because each merge writes their file again.
    other = billing_rows.space(billing_rows.tenant(name="other"), active_since=clock())
    readers.answers[other.id] = {"broker-0": snapshot(orders=(1, 1, 1))}
    sampling.sample([other], readers)
    ingest.ingest()
    pipeline.run(lake)
    invoice, _ = invoice_closing.close_now(tenant=owner, by=billing_rows.STAFF, now=clock())
    closing.close(invoice.id, readers)
    invoice.refresh_from_db()
    assert (invoice.state, invoice.held_reasons) == (Invoice.State.DRAFT, [])
    return invoice


def _assert_verifies(invoice: Invoice, root: Path, after: str) -> None:
    found = verifying.recomputed(invoice, root, files=True)
    assert found.same, f"after {after}: {[str(finding) for finding in found.findings]}"


def _versions(root: Path) -> dict[str, int]:
    return {
        name: int(DeltaTable(root / folder).version()) for name, folder in delta.FOLDERS.items()
    }
