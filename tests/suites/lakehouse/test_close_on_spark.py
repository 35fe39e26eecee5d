"""One close with nothing stood in for: outbox, bronze, the Spark process, copy, validation."""

from datetime import timedelta
from pathlib import Path

import pytest
from pytest_django import Settings

from lakehouse import schemas
from lakehouse.jobs import pipeline as job
from plans.invoicing import invoice_closing
from plans.models import Invoice
from plans.usage import reading
from tests.support.lakehouse import engines
from tests.support.metering import levels
from tests.support.metering.readings import snapshot, topic
from tests.support.plans import billing_rows
from tests.unit.workers.metering.conftest import FakeReaders, clock
from workers.metering import closing, delta, gold, pipeline, sampling, verifying
from workers.metering.pipeline import Report
from workers.metering.roots import Root

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.django_db]


def test_close_drafts_what_was_sampled_and_a_close_without_new_samples_starts_no_spark(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "lakehouse"
    settings.LAKEHOUSE_ROOT = str(root)
    assert gold.report_without_run(root) is None  # there is no table yet
    close_and_verify(root)
    invoice = Invoice.objects.get()
    # Another tenant, whose month has the same samples in bronze and none of its own.
    other = billing_rows.tenant(subscribed_at=clock() - timedelta(days=40))
    second, _ = invoice_closing.close_now(tenant=other, by=billing_rows.STAFF, now=clock())
    ran: list[Root] = []
    really = pipeline.run

    def run(root: Root) -> Report:
        ran.append(root)
        return really(root)

    monkeypatch.setattr(pipeline, "run", run)

    found = gold.report_without_run(root)
    closing.close(second.id, FakeReaders())

    second.refresh_from_db()
    assert found is not None
    assert (second.state, ran) == (Invoice.State.DRAFT, [])
    report = pipeline.run(root)
    assert (found.tables, found.rows, found.as_of) == (report.tables, report.rows, report.as_of)
    assert second.manifest["tables"] == invoice.manifest["tables"]


def test_metering_names_the_tables_and_the_job_as_the_lakehouse_does() -> None:
    assert {table.name: table.path for table in schemas.ALL} == delta.FOLDERS
    assert pipeline.APP == job.APP


def close_and_verify(root: Root) -> None:
    """Meter a space into the configured lakehouse at ``root``, bill it and prove the bill."""
    clock.start()
    owner = billing_rows.tenant(subscribed_at=clock() - timedelta(days=40))
    space = billing_rows.space(owner, active_since=clock())
    readers = FakeReaders()
    for queues in ({"a#1": 4}, {"b#2": 3}):
        shown = snapshot(
            orders=(5, 2, 1000), events=topic(7, queues), opened=len(queues) + 2, open_now=3
        )
        readers.answers[space.id] = {"broker-0": shown, "router-0": snapshot("r", rpc=(9, 9))}
        sampling.sample_all(readers)
    invoice, _ = invoice_closing.close_now(tenant=owner, by=billing_rows.STAFF, now=clock())

    closing.close(invoice.id, readers)

    invoice.refresh_from_db()
    assert (invoice.state, invoice.held_reasons) == (Invoice.State.DRAFT, [])
    found = reading.totals(owner.id, invoice.starts_at, invoice.ends_at)
    assert (found["messages_in"], found["messages_out"]) == (5 + 7 + 9, 2 + 4 + 3 + 9)
    assert (found["connections_opened"], found["peak_connections"]) == (3, 3)
    assert found["stored_byte_ms"] > 0
    assert verifying.recomputed(invoice, root).differences == ()
    with_files = verifying.recomputed(invoice, root, files=True)
    assert with_files.same, [str(finding) for finding in with_files.findings]
    assert levels.add_up(invoice) >= 1
    assert engines.by_table(root) == engines.EXPECTED
