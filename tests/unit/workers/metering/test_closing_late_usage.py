"""Usage of an invoiced month that reaches gold late, through a close of the workers, and its proof.

Spark is stood in for; the tables, the copy, the close and the verification are real.
"""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.core.management import call_command

from plans.invoicing import document, invoice_closing, issuing
from plans.models import Invoice, UsageRecord
from plans.rating.periods import Period, month_of
from plans.usage.reading import UsageCell
from tenants.models import AddressSpace, Tenant
from tests.support.billing_histories import Batch
from tests.support.lakehouse.samples import row
from tests.support.metering.deltas import write_gold
from tests.support.metering.readings import snapshot
from tests.support.plans import billing_rows, reference_gold
from tests.support.plans.billing_rows import STAFF
from tests.unit.workers.metering.conftest import FakeReaders, clock
from workers.metering import closing, committer, delta, gold, landing, pipeline, verifying
from workers.metering.pipeline import Report, Table
from workers.metering.roots import Root
from workers.metering.source_states import floor_bucket

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("mid_bucket")]


@pytest.fixture
def space() -> AddressSpace:
    """A space of a tenant that pays 1.00 a message, Active since a moment ago."""
    subscribed_at = clock() - timedelta(days=40)
    owner = billing_rows.tenant(subscribed_at, to=billing_rows.plan("bulk"))
    made = billing_rows.space(owner, active_since=clock())
    billing_rows.address(made, active_since=clock())
    return made


@pytest.fixture
def late(root: Path, space: AddressSpace, monkeypatch: pytest.MonkeyPatch) -> UsageCell:
    """Five messages of last month, which are in gold from the next run on."""
    at = last_month(space.tenant).ends_at - timedelta(days=1)
    cell = UsageCell(space.tenant_id, space.id, "orders", "messages_in", floor_bucket(at), 5)
    sample = row(
        at, 1, tenant_id=space.tenant_id, space_id=space.id, source=f"{space.id}/broker-9",
        messages_in=5,
    )  # fmt: skip

    def run(where: Path) -> Report:
        bronze = committer.ensure_table(where)
        rows = delta.ask("SELECT * FROM b", {"b": bronze})
        cells = reference_gold.gold(reference_gold.fold({}, [Batch("all", tuple(rows))]))
        found = [UsageCell(*key, quantity) for key, quantity in cells.items()]
        assert cell in found
        usage = write_gold(where, found, clock())
        pin = Table(str(bronze.metadata().id), int(bronze.version()))
        return Report({"bronze.samples": pin, "gold.usage": usage}, pin.version, {}, None)

    monkeypatch.setattr(pipeline, "run", run)
    landing.reserve([sample])
    return cell


def last_month(owner: Tenant) -> Period:
    this = month_of(clock(), owner.billing_time_zone)
    return month_of(this.starts_at - timedelta(seconds=1), owner.billing_time_zone)


def issued(owner: Tenant, period: Period) -> Invoice:
    """Return an issued invoice of a month without usage."""
    now: datetime = clock()
    invoice, _ = invoice_closing.request_close(
        tenant=owner, starts_at=period.starts_at, ends_at=period.ends_at, by=STAFF,
        now_forced=True, now=now,
    )  # fmt: skip
    evidence = billing_rows.evidence(as_of=period.ends_at)
    drafted = invoice_closing.close(invoice=invoice, evidence=evidence, by=STAFF)
    return issuing.issue(invoice=issuing.approve(invoice=drafted, by=STAFF), by=STAFF)


def test_late_usage_is_billed_and_proved_from_the_pinned_tables(
    space: AddressSpace, late: UsageCell, readers: FakeReaders, root: Path
) -> None:
    earlier = issued(space.tenant, last_month(space.tenant))
    readers.answers[space.id] = {"broker-0": snapshot("boot-1", orders=(7, 0))}
    invoice, _ = invoice_closing.close_now(tenant=space.tenant, by=STAFF, now=clock())

    closing.close(invoice.id, readers)

    invoice.refresh_from_db()
    lines = document.loaded(invoice.document)["lines"]
    found = {line["kind"]: (line["quantity"], line["amount_minor"]) for line in lines
             if line["meter"] == "messages"}  # fmt: skip
    assert found == {"usage": ("7", 700), "correction": ("5", 500)}
    assert [late["number"] for late in invoice.quality["late"]] == [earlier.number]
    assert verifying.recomputed(invoice, root).differences == ()


def test_a_correction_is_held_if_only_the_copy_has_the_late_usage(
    space: AddressSpace, late: UsageCell, readers: FakeReaders, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = issued(space.tenant, last_month(space.tenant))
    readers.answers[space.id] = {"broker-0": snapshot("boot-1", orders=(7, 0))}
    invoice, _ = invoice_closing.close_now(tenant=space.tenant, by=STAFF, now=clock())
    really = gold.copy_newest

    def copy(root: Root) -> int | None:
        version = really(root)
        UsageRecord.objects.filter(bucket_at=late.bucket_at).update(quantity=9)
        return version

    with monkeypatch.context() as altered:
        altered.setattr(gold, "copy_newest", copy)
        closing.close(invoice.id, readers)

    invoice.refresh_from_db()
    (reason,) = invoice.held_reasons
    assert reason["code"] == "usage.copy_differs"
    assert f"the month of {earlier.number}" in reason["message"]
    assert "messages_in of orders is 9 against 5" in reason["message"]
    assert "copy_gold" in reason["message"]

    call_command("copy_gold")
    invoice_closing.request_close(
        tenant=space.tenant,
        starts_at=invoice.starts_at,
        ends_at=invoice.ends_at,
        by=STAFF,
        now_forced=True,
        now=clock(),
    )
    closing.close(invoice.id, readers)

    invoice.refresh_from_db()
    assert invoice.state == Invoice.State.DRAFT
