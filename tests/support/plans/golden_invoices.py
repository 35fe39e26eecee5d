"""Issued invoices of each pricing engine, kept as files, which every later version must verify.

A file has the rows that an invoice depends on, and its usage. A new engine version gets files of
its own: ``pytest tests/support/plans/write_golden_invoices.py`` writes those of the newest engine.
Files are never written again afterwards.
"""

import json
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.core import serializers
from django.db import connection, models, transaction

from plans.catalog import parsing, publishing
from plans.invoicing import facts, invoice_closing, issuing
from plans.models import (
    AddressPlan,
    CatalogVersion,
    Invoice,
    InvoiceLine,
    LedgerEntry,
    LedgerPosting,
    Plan,
    PlanSubscription,
    SpacePlan,
)
from plans.usage import reading
from plans.usage.reading import UsageCell
from tenants.models import Tenant
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import ENDS_AT, STAFF, STARTS_AT

FOLDER = Path(__file__).parents[2] / "data" / "golden_invoices"
JUNE = datetime(2026, 6, 1, tzinfo=UTC)
MIDDLE, LATER = STARTS_AT + timedelta(days=12, hours=7), JUNE + timedelta(days=9)
# Name of a file -> replacements in the catalog of the tests.
KINDS = {
    "half-even-eur": (),
    "half-up-jpy": (("half_even", "half_up"), ("EUR", "JPY")),
    "half-up-kwd": (("half_even", "half_up"), ("EUR", "KWD")),
}
_MODELS: tuple[type[models.Model], ...] = (
    CatalogVersion, Plan, SpacePlan, AddressPlan, Tenant, PlanSubscription, Invoice, InvoiceLine,
    LedgerEntry, LedgerPosting,
)  # fmt: skip


def paths() -> list[Path]:
    """Return all files; the name of the folder of each is that of its engine: ``engine-3``."""
    return sorted(FOLDER.glob("engine-*/*.json"))


def load(path: Path) -> list[tuple[Invoice, list[UsageCell]]]:
    """Store the rows of a file; return its invoices, the oldest first, each with its usage."""
    read = json.loads(path.read_text(encoding="utf-8"))
    with transaction.atomic(), connection.cursor() as cursor:
        # Lines of an issued invoice cannot be inserted with the triggers on.
        cursor.execute("SET LOCAL session_replication_role = replica")
        # ``ignorenonexistent``: columns that no longer exist.
        for row in serializers.deserialize("python", read["rows"], ignorenonexistent=True):
            row.save()
        cursor.execute("SET LOCAL session_replication_role = DEFAULT")
    usage = [
        [
            UsageCell(**{**cell, "bucket_at": datetime.fromisoformat(cell["bucket_at"])})
            for cell in cells
        ]
        for cells in read["usage"]
    ]
    return list(zip(Invoice.objects.order_by("starts_at"), usage, strict=True))


def write() -> None:
    """Write the files of the newest engine. Needs an empty database for each."""
    for name, changes in KINDS.items():
        with transaction.atomic():
            made = _made(changes)
            transaction.set_rollback(True)
        path = FOLDER / f"engine-{facts.ENGINE_VERSION}" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(made, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _made(changes: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    usage = _billed(changes)
    found = [row for model in _MODELS for row in model._default_manager.order_by("pk")]
    return {"rows": json.loads(serializers.serialize("json", found)), "usage": usage}


def _cells(owner: Tenant) -> list[dict[str, Any]]:
    found = reading.cells(owner.pk, STARTS_AT, JUNE)
    return [{**asdict(cell), "bucket_at": cell.bucket_at.isoformat()} for cell in found]


def _billed(changes: tuple[tuple[str, str], ...]) -> list[list[dict[str, Any]]]:
    """Issue three invoices: April in two parts with a change of plan, and May, which corrects.

    Returns the usage that each of them saw.
    """
    catalog = rows.CATALOG
    for old, new in changes:
        catalog = catalog.replace(old, new)
    publishing.publish(parsing.parse(catalog), by=STAFF)
    owner = rows.tenant(to=publishing.plan("team"))
    space = rows.space(owner)
    rows.address(space)
    _used(space, 2_300_017, 11_000_003)
    _issued(owner, STARTS_AT, MIDDLE)
    changed = MIDDLE + timedelta(days=3)
    owner.plan_subscriptions.update(ends_at=changed)
    PlanSubscription.objects.create(tenant=owner, plan=publishing.plan("bulk"), starts_at=changed)
    _issued(owner, MIDDLE, ENDS_AT)
    early = _cells(owner)
    _used(space, 2_300_019, 11_000_503)
    _issued(owner, ENDS_AT, JUNE)
    return [early, early, _cells(owner)]


def _used(space: Any, first: int, second: int) -> None:
    days = {2: first, 14: second, 20: 777, 40: 1234}
    rows.used(
        *(
            rows.cell(space, meter, n // part, at=STARTS_AT + timedelta(days=day), address=address)
            for day, n in days.items()
            for meter, part, address in (
                ("messages_in", 1, "orders"), ("messages_out", 3, "orders"),
                ("connection_ms", 2, ""), ("peak_connections", 100, ""),
            )
        )
    )  # fmt: skip


def _issued(owner: Tenant, starts_at: datetime, ends_at: datetime) -> Invoice:
    invoice, _ = invoice_closing.request_close(
        tenant=owner, starts_at=starts_at, ends_at=ends_at, by=STAFF, now_forced=True, now=LATER
    )
    evidence = rows.evidence(
        reading.cells(owner.pk, starts_at, ends_at),
        as_of=ends_at,
        sampled_spaces=frozenset(owner.spaces.values_list("id", flat=True)),
        earlier=rows.earlier(invoice),
    )
    drafted = invoice_closing.close(invoice=invoice, evidence=evidence, by=STAFF)
    assert drafted.state == Invoice.State.DRAFT, drafted.held_reasons
    approved = issuing.approve(invoice=drafted, by=STAFF)
    return issuing.issue(invoice=approved, by=STAFF, now=LATER)
