"""A tenant whose month is closed; Spark is stood in for, everything else is real.

The stand-in computes gold from bronze by the rules in tests/support/plans/reference_gold.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from plans.invoicing import invoice_closing
from plans.models import Invoice
from plans.usage import reading
from plans.usage.reading import UsageCell
from tenants.models import AddressSpace, Tenant
from tests.support.billing_histories import Batch
from tests.support.metering.deltas import write_gold
from tests.support.metering.readings import snapshot
from tests.support.plans import billing_rows, reference_gold
from tests.unit.workers.metering.conftest import FakeReaders, clock
from workers.metering import (
    committer,
    delta,
    pipeline,
)
from workers.metering.pipeline import Report, Table


@pytest.fixture(autouse=True)
def _mid_bucket(mid_bucket: None) -> None:
    """Every close here needs it."""


@pytest.fixture
def owner() -> Tenant:
    return billing_rows.tenant(subscribed_at=clock() - timedelta(days=40))


@pytest.fixture
def space(owner: Tenant) -> AddressSpace:
    row = billing_rows.space(owner, active_since=clock())
    billing_rows.address(row, active_since=clock())
    return row


@pytest.fixture(autouse=True)
def spark(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stands in for the Spark job."""

    def run(where: Path) -> Report:
        bronze = committer.ensure_table(where)
        rows = delta.ask("SELECT * FROM b", {"b": bronze})
        cells = reference_gold.gold(reference_gold.fold({}, [Batch("all", tuple(rows))]))
        gold = write_gold(
            where, [UsageCell(*key, quantity) for key, quantity in cells.items()], clock()
        )
        pin = Table(str(bronze.metadata().id), int(bronze.version()))
        return Report({"bronze.samples": pin, "gold.usage": gold}, pin.version, {}, None)

    monkeypatch.setattr(pipeline, "run", run)


@pytest.fixture
def shows(space: AddressSpace, readers: FakeReaders) -> Callable[..., None]:
    """``shows(orders=(5, 0))``: from now on the broker answers that."""

    def answer(boot_id: str = "boot-1", **shown: Any) -> None:
        readers.answers[space.id] = {"broker-0": snapshot(boot_id, **shown)}

    return answer


def close_now(tenant: Tenant, now: datetime | None = None) -> Invoice:
    invoice, _ = invoice_closing.close_now(tenant=tenant, by=billing_rows.STAFF, now=now or clock())
    return invoice


def reasons(invoice: Invoice) -> set[str]:
    invoice.refresh_from_db()
    return {reason["code"] for reason in invoice.held_reasons}


def billed(invoice: Invoice) -> dict[str, int]:
    return reading.totals(invoice.tenant_id, invoice.starts_at, invoice.ends_at)
