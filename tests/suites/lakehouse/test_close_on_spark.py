"""One close with nothing stood in for: outbox, bronze, the Spark process, copy, validation."""

from datetime import timedelta
from pathlib import Path

import pytest
from pytest_django import Settings

from plans.invoicing import invoice_closing
from plans.models import Invoice
from plans.usage import reading
from tests.support.lakehouse import engines
from tests.support.metering.readings import snapshot, topic
from tests.support.plans import billing_rows
from tests.unit.workers.metering.conftest import FakeReaders, clock
from workers.metering import closing, sampling, verifying
from workers.metering.roots import Root

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.django_db]


def test_close_drafts_what_was_sampled_and_can_be_verified(
    tmp_path: Path, settings: Settings
) -> None:
    settings.LAKEHOUSE_ROOT = str(tmp_path / "lakehouse")

    close_and_verify(tmp_path / "lakehouse")


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
    assert engines.by_table(root) == engines.EXPECTED
