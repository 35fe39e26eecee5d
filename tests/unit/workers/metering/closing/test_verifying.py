"""What an invoice was computed from gives the same figures again, or says why not."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from controlplane.core.models import Operation
from plans.invoicing import invoice_verification
from plans.models import Invoice
from plans.usage.reading import UsageCell
from tenants.models import Tenant
from tests.support.metering.deltas import write_gold
from tests.support.plans import billing_rows
from tests.unit.workers.metering.closing.conftest import close_now
from tests.unit.workers.metering.conftest import FakeReaders, clock
from workers.metering import closing, ingest, periodic, sampling, verifying

pytestmark = pytest.mark.django_db
State = Invoice.State


def test_verify_gives_the_same_bytes_again(
    owner: Tenant, readers: FakeReaders, shows: Callable[..., None], root: Path
) -> None:
    shows(orders=(5, 2))
    invoice = close_now(owner)
    closing.close(invoice.id, readers)
    shows(orders=(50, 20))
    sampling.sample_all(readers)
    ingest.ingest()
    periodic.run_pipeline(clock())
    invoice.refresh_from_db()

    operation = invoice_verification.request_verify(invoice=invoice, by=billing_rows.STAFF)
    verifying.verify(invoice.id)

    operation.refresh_from_db()
    assert verifying.recomputed(invoice, root).differences == ()
    assert (operation.state, operation.error_message) == (Operation.State.SUCCEEDED, "")


def test_verify_says_what_differs(
    owner: Tenant, readers: FakeReaders, shows: Callable[..., None], root: Path
) -> None:
    shows(orders=(5, 2))
    invoice = close_now(owner)
    closing.close(invoice.id, readers)
    invoice.refresh_from_db()
    gold = invoice.manifest["tables"]["gold.usage"]
    write_gold(root, [UsageCell(owner.id, "spc", "", "messages_in", clock(), 1)], clock())
    invoice.manifest["tables"]["gold.usage"] = {**gold, "version": gold["version"] + 1}
    Invoice.objects.filter(pk=invoice.pk).update(manifest=invoice.manifest)

    operation = invoice_verification.request_verify(invoice=invoice, by=billing_rows.STAFF)
    verifying.verify(invoice.id)

    operation.refresh_from_db()
    assert operation.error_code == "invoice.differs"


def test_verify_of_a_replaced_table_says_so(
    owner: Tenant, readers: FakeReaders, shows: Callable[..., None]
) -> None:
    shows(orders=(5, 2))
    invoice = close_now(owner)
    closing.close(invoice.id, readers)
    invoice.refresh_from_db()
    invoice.manifest["tables"]["gold.usage"]["id"] = "another"
    Invoice.objects.filter(pk=invoice.pk).update(manifest=invoice.manifest)

    operation = invoice_verification.request_verify(invoice=invoice, by=billing_rows.STAFF)
    verifying.verify(invoice.id)

    operation.refresh_from_db()
    assert operation.error_code == "metering.table_replaced"


@pytest.mark.parametrize("lost", ["lakehouse", "version"])
def test_verify_ends_when_what_was_pinned_is_gone(
    owner: Tenant, readers: FakeReaders, shows: Callable[..., None], root: Path, lost: str
) -> None:
    shows(orders=(5, 2))
    invoice = close_now(owner)
    closing.close(invoice.id, readers)
    invoice.refresh_from_db()
    if lost == "lakehouse":
        shutil.rmtree(root)
    else:
        invoice.manifest["tables"]["gold.usage"]["version"] = 300
        Invoice.objects.filter(pk=invoice.pk).update(manifest=invoice.manifest)

    operation = invoice_verification.request_verify(invoice=invoice, by=billing_rows.STAFF)
    verifying.verify(invoice.id)

    operation.refresh_from_db()
    assert operation.error_code == "metering.table_replaced"
    assert "restore the lakehouse" in operation.error_message
