"""What an invoice was computed from gives the same figures again, or says why not."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from controlplane.core.models import Operation
from plans.invoicing import document, invoice_verification, issuing, releasing
from plans.invoicing.findings import Place
from plans.models import Invoice
from plans.rating.periods import Period
from plans.usage.reading import UsageCell
from tenants.models import Tenant
from tests.support.metering.deltas import write_gold
from tests.support.metering.tampering import sql
from tests.support.plans import billing_rows
from tests.unit.workers.metering.closing.conftest import billed, close_now, reasons
from tests.unit.workers.metering.conftest import FakeReaders, clock
from workers.metering import closing, ingest, periodic, recompute, sampling, verifying
from workers.metering.pipeline import Table
from workers.models import MeteredSource

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


def test_a_released_invoice_gives_the_same_bytes_again(
    owner: Tenant, readers: FakeReaders, shows: Callable[..., None], root: Path
) -> None:
    shows(orders=(5, 0))
    sampling.sample_all(readers)
    ingest.ingest()
    # Samples 2 to 9 never landed, and their instance is gone.
    MeteredSource.objects.filter(source__endswith="broker-0").update(
        seq=9, ended_at=clock(), ended_cleanly=True
    )
    shows("boot-2", orders=(5, 0))
    invoice = close_now(owner)
    closing.close(invoice.id, readers)
    assert reasons(invoice) == {"samples.hole_at_end"}

    why = "The disk is lost."
    releasing.release(invoice=invoice, reason=why, by=billing_rows.STAFF, now=clock())
    closing.close(invoice.id, readers)

    invoice.refresh_from_db()
    assert (invoice.state, billed(invoice)["messages_in"]) == (State.DRAFT, 10)
    issued = issuing.issue(
        invoice=issuing.approve(invoice=invoice, by=billing_rows.STAFF), by=billing_rows.STAFF
    )
    operation = invoice_verification.request_verify(invoice=issued, by=billing_rows.STAFF)
    verifying.verify(invoice.id)
    operation.refresh_from_db()
    assert verifying.recomputed(issued, root).differences == ()
    assert (operation.state, operation.error_message) == (Operation.State.SUCCEEDED, "")
    assert any("staff released samples.hole_at_end" in s["message"] for s in operation.steps)


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
    owner: Tenant, readers: FakeReaders, shows: Callable[..., None], root: Path
) -> None:
    shows(orders=(5, 2))
    invoice = close_now(owner)
    closing.close(invoice.id, readers)
    shutil.rmtree(root / "gold")
    write_gold(root, [UsageCell(owner.id, "spc", "", "messages_in", clock(), 1)], clock())

    operation = invoice_verification.request_verify(invoice=invoice, by=billing_rows.STAFF)
    verifying.verify(invoice.id)

    operation.refresh_from_db()
    assert operation.error_code == "metering.table_replaced"
    assert operation.error_message.startswith("The invoice cannot be compared: gold: ")


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
        max((root / "gold/usage/_delta_log").glob("*.json")).unlink()

    operation = invoice_verification.request_verify(invoice=invoice, by=billing_rows.STAFF)
    verifying.verify(invoice.id)

    operation.refresh_from_db()
    assert operation.error_code == "metering.table_replaced"
    assert "restore the lakehouse" in operation.error_message


def test_any_error_is_an_answer(
    owner: Tenant,
    readers: FakeReaders,
    shows: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shows(orders=(5, 2))
    invoice = close_now(owner)
    closing.close(invoice.id, readers)
    operation = invoice_verification.request_verify(invoice=invoice, by=billing_rows.STAFF)

    def fails(*_given: object, **_named: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(verifying, "recomputed", fails)
    verifying.verify(invoice.id)

    operation.refresh_from_db()
    assert (operation.state, operation.error_code) == (
        Operation.State.FAILED,
        "invoice.verify_failed",
    )


def test_a_verification_that_is_killed_each_time_ends(
    owner: Tenant,
    readers: FakeReaders,
    shows: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shows(orders=(5, 2))
    invoice = close_now(owner)
    closing.close(invoice.id, readers)
    operation = invoice_verification.request_verify(invoice=invoice, by=billing_rows.STAFF)

    def dies(*_given: object, **_named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(verifying, "recomputed", dies)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            verifying.verify(invoice.id)
    verifying.verify(invoice.id)

    operation.refresh_from_db()
    assert operation.error_code == "invoice.verify_crashed"
    assert invoice_verification.waiting() == []


def test_an_invoice_of_before_values_were_hashed_is_verified_by_its_ids(
    owner: Tenant, readers: FakeReaders, shows: Callable[..., None], root: Path
) -> None:
    shows(orders=(5, 2))
    asked = close_now(owner)
    closing.close(asked.id, readers)
    invoice = Invoice.objects.get(pk=asked.pk)
    made, pin = document.loaded(invoice.document), invoice.manifest["tables"]["bronze.samples"]
    period = Period(invoice.starts_at, invoice.ends_at)
    question = recompute.question(root, Table(pin["id"], pin["version"]), owner.id, period)
    for name in ("sample_hash_version", "prices"):
        del made["manifest"][name]
    made["manifest"]["sample_hash"], _ = recompute.sample_ids(question)
    Invoice.objects.filter(pk=invoice.pk).update(
        document=document.canonical(made), manifest=made["manifest"]
    )
    sql("UPDATE plans_invoiceevent SET document_sha256 = ''")
    invoice = Invoice.objects.get(pk=asked.pk)

    found = verifying.recomputed(invoice, root)

    assert found.findings == ()
    assert found.outcomes[Place.SAMPLES].note.endswith("hash version 1")
    assert Place.PRICES not in found.outcomes
    made["manifest"]["sample_hash"] = "ab" * 32
    invoice.document = document.canonical(made)
    assert Place.SAMPLES in {row.place for row in verifying.recomputed(invoice, root).findings}
