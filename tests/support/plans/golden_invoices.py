"""Issued invoices of each pricing engine, kept as files, which every later version must verify.

A file has the rows that an invoice depends on, and its usage. A new engine version gets files of
its own: ``pytest tests/support/plans/write_golden_invoices.py`` writes those of the newest engine.
Files are never written again afterwards.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.core import serializers
from django.db import connection, models, transaction

from plans.catalog import parsing, publishing, selling
from plans.invoicing import discounting, facts, granting, invoice_closing, issuing
from plans.invoicing.discounting import Reduction
from plans.invoicing.granting import Wish
from plans.models import (
    AddressPlan,
    CatalogVersion,
    Commitment,
    CreditGrant,
    CreditUse,
    Discount,
    Invoice,
    InvoiceLine,
    LedgerEntry,
    LedgerPosting,
    Plan,
    PlanSubscription,
    SellerAssignment,
    SpacePlan,
    TaxExemption,
)
from plans.rating.periods import Period
from plans.usage import reading
from plans.usage.reading import UsageCell
from tenants.actions import tax_details
from tenants.actions.tax_details import Exemption
from tenants.models import Tenant
from tests.support.plans import billing_rows as rows
from tests.support.plans import two_sellers
from tests.support.plans.billing_rows import ENDS_AT, STAFF, STARTS_AT

FOLDER = Path(__file__).parents[2] / "data" / "golden_invoices"
JUNE = datetime(2026, 6, 1, tzinfo=UTC)
MIDDLE, LATER = STARTS_AT + timedelta(days=12, hours=7), JUNE + timedelta(days=9)
_MODELS: tuple[type[models.Model], ...] = (
    CatalogVersion, Plan, SpacePlan, AddressPlan, Tenant, SellerAssignment, PlanSubscription,
    TaxExemption, Discount, Commitment, Invoice, InvoiceLine, LedgerEntry, LedgerPosting,
    CreditGrant, CreditUse,
)  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """What the invoices of one file are about.

    ``changes`` are replacements in the catalog of the tests, ``buyer`` fields of the tenant. With
    ``offer`` the catalog has two sellers, and the tenant chose this one. ``later`` are fields of
    the tenant that change before May is closed. All have a discount in percent and one of an
    amount, a commitment, promotional and prepaid credit.
    """

    changes: tuple[tuple[str, str], ...] = ()
    buyer: Mapping[str, Any] = field(default_factory=dict)
    offer: tuple[str, str] | None = None
    is_exempt: bool = False
    trial_days: int = 0
    later: Mapping[str, Any] = field(default_factory=dict)


_UNDER_VAT = ('"payment_days": 14}, "space_plans"',
              '"payment_days": 14, "tax_regime": "vat"}, "space_plans"')  # fmt: skip
_HALF_UP = ('"half_even"', '"half_up"')
# Name of a file -> its kind.
KINDS = {
    "half-even-eur": Kind(
        (_UNDER_VAT,), {"billing_country": "FR", "tax_id": "FR40303265045"}, trial_days=5
    ),
    "half-up-jpy": Kind((_HALF_UP, ("EUR", "JPY"))),
    "half-up-kwd": Kind((_HALF_UP, ("EUR", "KWD")), is_exempt=True),
    "two-sellers-usd": Kind(offer=two_sellers.DOLLARS),
    "consumer-eur": Kind((_HALF_UP, _UNDER_VAT), {"billing_country": "FR"}),
    # April has the rate of France, May reverse charge: the correction of April bears the former.
    "registered-eur": Kind(
        (_UNDER_VAT,), {"billing_country": "FR"}, later={"tax_id": "FR40303265045"}
    ),
}


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
    for name, kind in KINDS.items():
        with transaction.atomic():
            made = _made(kind)
            transaction.set_rollback(True)
        path = FOLDER / f"engine-{facts.ENGINE_VERSION}" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(made, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _made(kind: Kind) -> dict[str, Any]:
    usage = _billed(kind)
    found = [row for model in _MODELS for row in model._default_manager.order_by("pk")]
    return {"rows": json.loads(serializers.serialize("json", found)), "usage": usage}


def _cells(owner: Tenant) -> list[dict[str, Any]]:
    found = reading.cells(owner.pk, STARTS_AT, JUNE)
    return [{**cell._asdict(), "bucket_at": cell.bucket_at.isoformat()} for cell in found]


def _owner(kind: Kind) -> Tenant:
    catalog = json.dumps(two_sellers.document()) if kind.offer else rows.CATALOG
    for old, new in kind.changes:
        assert old in catalog
        catalog = catalog.replace(old, new)
    publishing.publish(parsing.parse(catalog), by=STAFF)
    owner = rows.tenant(to=publishing.plan("team"), **kind.buyer)
    if kind.offer:
        selling.assign(owner.pk, selling.offer(*kind.offer), STAFF.name)
    if kind.trial_days:
        owner.plan_subscriptions.update(trial_ends_at=STARTS_AT + timedelta(days=kind.trial_days))
    return owner


def _agree(owner: Tenant, kind: Kind) -> None:
    """Give the tenant terms: all are in force in April, some in May, too."""
    for reduction in (
        Reduction("Partner", percent=Decimal("12.5")),
        Reduction("Welcome", amount_minor=301, months=1),
        Reduction("Half the fee", percent=Decimal(50), meters=["plan_fee"], months=1),
    ):
        discounting.give(tenant=owner, reduction=reduction, by=STAFF, now=STARTS_AT)
    discounting.commit(
        tenant=owner, title="Yearly deal", minimum_minor=40_001,
        span=Period(STARTS_AT + timedelta(days=9), LATER), by=STAFF,
    )  # fmt: skip
    for wish in (
        Wish("promotional", 777, "launch", "a gift", LATER + timedelta(days=1)),
        Wish("prepaid", 10_000, "bank-1", "paid in advance"),
    ):
        granting.grant(tenant=owner, wish=wish, by=STAFF, now=STARTS_AT)
    if kind.is_exempt:
        until = JUNE.date() - timedelta(days=2)  # so April is exempt, and May is not
        wanted = Exemption("E", "2026-0815", "Section 4", STARTS_AT.date(), until)
        tax_details.set_exemption(tenant=owner, wanted=wanted, by=STAFF)


def _billed(kind: Kind) -> list[list[dict[str, Any]]]:
    """Issue three invoices: April in two parts with a change of plan, and May, which corrects.

    Returns the usage that each of them saw.
    """
    owner = _owner(kind)
    _agree(owner, kind)
    space = rows.space(owner)
    rows.address(space)
    _used(space, 2_300_017, 11_000_003)
    _issued(owner, STARTS_AT, MIDDLE)
    changed = MIDDLE + timedelta(days=3)
    owner.plan_subscriptions.update(ends_at=changed)
    PlanSubscription.objects.create(tenant=owner, plan=publishing.plan("bulk"), starts_at=changed)
    _issued(owner, MIDDLE, ENDS_AT)
    early = _cells(owner)
    Tenant.objects.filter(pk=owner.pk).update(**kind.later)
    owner.refresh_from_db()
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
