"""Rows and evidence for billing tests: one seller, a Team plan, tenants, spaces, usage."""

import json
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from itertools import count
from typing import Any

from controlplane.core.audit import Actor
from plans.catalog import parsing, publishing
from plans.invoicing import close_runs, comparisons, draft_batch, invoice_closing, issuing
from plans.invoicing.evidence import EarlierUsage, Evidence, TablePin, UsageKey
from plans.models import Invoice, Plan, PlanSubscription
from plans.usage import reading, recording
from plans.usage.reading import UsageCell
from tenants.models import Address, AddressSpace, Tenant

STAFF = Actor("user:staff@seller.example")
STARTS_AT = datetime(2026, 4, 1, tzinfo=UTC)
ENDS_AT = datetime(2026, 5, 1, tzinfo=UTC)
AFTER_GRACE = ENDS_AT + timedelta(hours=72)

_SMALL = {
    "space_type": "standard",
    "router_credit": 1,
    "broker_credit": 1,
    "aggregate_credit": 1,
    "max_brokers": 1,
    "max_addresses": 9,
    "max_users": 9,
    "max_connections": 9,
    "routers": 1,
}
_FREE = {
    "title": "Free",
    "monthly_fee_minor": 0,
    "quotas": {"messages_per_month": 1000},
    "at_quota": "withdraw_send",
    "space_plans": ["standard-small"],
    "address_plans": ["standard-small-queue"],
}
_TEAM = {
    **_FREE,
    "title": "Team",
    "monthly_fee_minor": 4900,
    "included": {"messages": 1_000_000},
    "prices": {
        "messages": {
            "model": "graduated",
            "unit": "million messages",
            "base_per_unit": 1_000_000,
            "tiers": [["10", "0.80"], [None, "0.50"]],
        }
    },
}
_BULK = {
    **_FREE,
    "title": "Bulk",
    "quotas": {},
    "prices": {
        "messages": {
            "model": "volume",
            "unit": "messages",
            "base_per_unit": 1,
            "tiers": [["1000", "1"], [None, "0.50"]],
        }
    },
}
# JSON is YAML, so this is a catalog document.
CATALOG = json.dumps(
    {
        "seller": {
            "key": "wp",
            "name": "Waypost Test GmbH",
            "address": "Lindenweg 1\n10115 Berlin",
            "country": "DE",
            "tax_id": "DE123456789",
            "currency": "EUR",
            "rounding": "half_even",
            "tax_percent": "19",
            "payment_days": 14,
        },
        "space_plans": {
            "standard-small": {**_SMALL, "title": "small", "hour_price": "0.02"},
            "free-of-charge": {**_SMALL, "title": "nothing"},
        },
        "address_plans": {
            "standard-small-queue": {
                "title": "small queue",
                "space_type": "standard",
                "address_type": "queue",
                "router_credit": 1,
                "broker_credit": 1,
                "hour_price": "0.001",
            }
        },
        "plans": {
            "free": _FREE,
            "notified": {**_FREE, "title": "Notified", "at_quota": "notify"},
            "unlimited": {**_FREE, "title": "Unlimited", "quotas": {}},
            "team": _TEAM,
            "bulk": _BULK,
            "business": {**_TEAM, "title": "Business", "monthly_fee_minor": 9800, "included": {}},
        },
    }
)
_numbers = count(1)


def plan(key: str = "team") -> Plan:
    """Return a plan of the test catalog, which is published if it was not."""
    publishing.publish(parsing.parse(CATALOG), by=STAFF)
    return publishing.plan(key)


def tenant(subscribed_at: datetime = STARTS_AT, *, to: Plan | None = None, **fields: Any) -> Tenant:
    """Return a tenant with full billing details and a plan."""
    number = next(_numbers)
    row = Tenant.objects.create(
        **{
            "name": f"Example {number}",
            "slug": f"example-{number}",
            "billing_name": "Example Ltd",
            "billing_email": "bills@example.org",
            "billing_address": "High Street 5\nLeeds",
            "billing_country": "GB",
            **fields,
        }
    )
    PlanSubscription.objects.create(tenant=row, plan=to or plan(), starts_at=subscribed_at)
    return row


def space(owner: Tenant, name: str = "shop", **fields: Any) -> AddressSpace:
    """Return a space that was Active from the beginning of the month, at 0.02 an hour."""
    size = publishing.space_plan("standard-small")
    values = {"type": "standard", "active_since": STARTS_AT, "space_plan": size, **fields}
    row = AddressSpace.objects.create(tenant=owner, name=name, **values)
    AddressSpace.objects.filter(pk=row.pk).update(created_at=values["active_since"] or STARTS_AT)
    return row


def address(of: AddressSpace, name: str = "orders", **fields: Any) -> Address:
    """Return a queue that was Active from the beginning of the month, at 0.001 an hour."""
    kind = publishing.address_plan("standard-small-queue")
    values = {"type": "queue", "active_since": STARTS_AT, "address_plan": kind, **fields}
    return Address.objects.create(space=of, address=name, **values)


def cell(
    of: AddressSpace, meter: str, quantity: int, *, at: datetime = STARTS_AT, address: str = ""
) -> UsageCell:
    return UsageCell(of.tenant_id, of.id, address, meter, at, quantity)


def used(*cells: UsageCell) -> list[UsageCell]:
    """Copy cells in as the next version of gold; returns them."""
    days: set[date] = {cell.bucket_at.date() for cell in cells}
    recording.copy_in(
        table_id="gold", table_version=next(_numbers), as_of=ENDS_AT, days=days, cells=cells
    )
    return list(cells)


def evidence(cells: Iterable[UsageCell] = (), **changes: Any) -> Evidence:
    """Return flawless evidence for the given cells."""
    cells = list(cells)
    totals: dict[UsageKey, int] = {}
    for cell in cells:
        key = UsageKey(cell.space_id, cell.address, cell.meter)
        totals[key] = reading.merged(cell.meter, totals.get(key, 0), cell.quantity)
    values = {
        "as_of": ENDS_AT,
        "tables": {"bronze.samples": TablePin("b", 7)},
        "sample_hash": "ab" * 32,
        "n_samples": 12,
        "gold": totals,
        "recomputed": totals,
        "pipeline_version": "1",
        "sampled_spaces": frozenset(cell.space_id for cell in cells),
        **changes,
    }
    return Evidence(**values)


def earlier(invoice: Invoice) -> tuple[EarlierUsage, ...]:
    """Return flawless evidence for the months that a close of ``invoice`` corrects."""
    found = []
    for span in draft_batch.corrected_spans([invoice])[invoice.id]:
        cells = list(reading.cells(invoice.tenant_id, span.starts_at, span.ends_at))
        totals = comparisons.figures(cells)
        found.append(EarlierUsage(span, totals, totals))
    return tuple(found)


def asked(owner: Tenant) -> Invoice:
    """Return the invoice of April in the state closing."""
    invoice, _ = invoice_closing.request_close(
        tenant=owner, starts_at=STARTS_AT, ends_at=ENDS_AT, by=STAFF, now=AFTER_GRACE
    )
    return invoice


def requested(now: datetime) -> list[Invoice]:
    """Return the invoices of a run of all closes that are due, requested; [] if none is."""
    run = close_runs.start_due(by=STAFF, now=now)
    if run is None:
        return []
    close_runs.request_invoices(run, now=now)
    return list(Invoice.objects.filter(close_runs__run=run).order_by("starts_at", "id"))


def drafted(owner: Tenant, cells: Iterable[UsageCell] = (), **changes: Any) -> Invoice:
    """Return the invoice of April after a close with flawless evidence."""
    return invoice_closing.close(
        invoice=asked(owner), evidence=evidence(cells, **changes), by=STAFF
    )


def issued(owner: Tenant, cells: Iterable[UsageCell] = ()) -> Invoice:
    """Return the invoice of April as issued."""
    invoice = issuing.approve(invoice=drafted(owner, cells), by=STAFF)
    return issuing.issue(invoice=invoice, by=STAFF, now=AFTER_GRACE)
