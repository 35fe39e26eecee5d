"""Exports charges by FOCUS 1.0, the FinOps Open Cost and Usage Specification.

``COLUMNS`` is the registry of its columns: a new column is one row. Source of names, types and
values: the specification's version 1.0, chapter "Columns". Rows come from documents of issued
invoices and credit notes, so they agree with them to the cent.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.db.models import DateTimeField, F, Func, Q, QuerySet, Value
from django.db.models.functions import Coalesce, NullIf

from plans.exports import charges
from plans.exports.charges import TAX, Charge
from plans.exports.tables import Column, Row, Type
from plans.invoicing import document
from plans.models import CreditNote, Invoice
from plans.rating import money
from plans.rating.periods import Period
from tenants.models import AddressSpace

Labels = Mapping[str, Mapping[str, str]]  # of spaces, by their id
_USAGE, _PURCHASE, _ADJUSTMENT, _CREDIT, _TAX = "Usage", "Purchase", "Adjustment", "Credit", "Tax"
# Kind of a line -> ChargeCategory and ChargeFrequency.
_CATEGORIES = {
    "fee": (_PURCHASE, "Recurring"),
    "usage": (_USAGE, "Usage-Based"),
    "lifetime": (_USAGE, "Usage-Based"),
    "repriced": (_USAGE, "Usage-Based"),
    "correction": (_USAGE, "Usage-Based"),
    "discount": (_CREDIT, "One-Time"),
    "commitment": (_ADJUSTMENT, "One-Time"),
    TAX: (_TAX, "One-Time"),
}
_FURTHEST = timedelta(hours=24)
_BATCH = 200  # documents that are in memory at once


@dataclass(frozen=True)
class FocusColumn:
    """One column: its name and type; ``value`` makes the cell from a charge and spaces' labels."""

    name: str
    type: Type
    value: Callable[[Charge, Labels], Any]


def category(charge: Charge) -> str:
    """Return the ChargeCategory of a charge."""
    return _CATEGORIES[charge.kind][0]


def is_priced(charge: Charge) -> bool:
    """Return whether the charge is a quantity at a price."""
    return charge.quantity is not None and category(charge) in (_USAGE, _PURCHASE)


def _cost(charge: Charge, _labels: Labels) -> Decimal:
    return money.to_major(charge.amount_minor, charge.currency)


def _price(charge: Charge, _labels: Labels) -> Decimal | None:
    return charge.unit_price if is_priced(charge) else None


def _sku_price(charge: Charge, _labels: Labels) -> str | None:
    if not charge.meter:
        return None
    return f"{charge.meter}@{charge.unit_price:f}" if is_priced(charge) else charge.meter


def _tags(charge: Charge, labels: Labels) -> str | None:
    if not charge.space_id:
        return None
    return json.dumps(dict(labels.get(charge.space_id, {})), sort_keys=True, ensure_ascii=False)


def _nothing(_charge: Charge, _labels: Labels) -> None:
    return None


COLUMNS = (
    FocusColumn("AvailabilityZone", Type.CODE, _nothing),
    FocusColumn("BilledCost", Type.DECIMAL, _cost),
    FocusColumn("BillingAccountId", Type.CODE, lambda charge, _: charge.tenant_id),
    FocusColumn("BillingAccountName", Type.TEXT, lambda charge, _: charge.tenant),
    FocusColumn("BillingCurrency", Type.CODE, lambda charge, _: charge.currency),
    FocusColumn("BillingPeriodEnd", Type.INSTANT, lambda charge, _: charge.month[1]),
    FocusColumn("BillingPeriodStart", Type.INSTANT, lambda charge, _: charge.month[0]),
    FocusColumn("ChargeCategory", Type.CODE, lambda charge, _: category(charge)),
    FocusColumn(
        "ChargeClass", Type.CODE, lambda charge, _: "Correction" if charge.takes_back else None
    ),
    FocusColumn("ChargeDescription", Type.TEXT, lambda charge, _: charge.description),
    FocusColumn("ChargeFrequency", Type.CODE, lambda charge, _: _CATEGORIES[charge.kind][1]),
    FocusColumn("ChargePeriodEnd", Type.INSTANT, lambda charge, _: charge.span[1]),
    FocusColumn("ChargePeriodStart", Type.INSTANT, lambda charge, _: charge.span[0]),
    FocusColumn("CommitmentDiscountCategory", Type.CODE, _nothing),
    FocusColumn("CommitmentDiscountId", Type.CODE, _nothing),
    FocusColumn("CommitmentDiscountName", Type.CODE, _nothing),
    FocusColumn("CommitmentDiscountStatus", Type.CODE, _nothing),
    FocusColumn("CommitmentDiscountType", Type.CODE, _nothing),
    FocusColumn(
        "ConsumedQuantity",
        Type.DECIMAL,
        lambda charge, _: charge.used if category(charge) == _USAGE else None,
    ),
    FocusColumn(
        "ConsumedUnit", Type.CODE, lambda charge, _: None if charge.used is None else charge.unit
    ),
    FocusColumn("ContractedCost", Type.DECIMAL, _cost),
    FocusColumn("ContractedUnitPrice", Type.DECIMAL, _price),
    FocusColumn("EffectiveCost", Type.DECIMAL, _cost),
    FocusColumn("InvoiceIssuerName", Type.TEXT, lambda charge, _: charge.seller),
    FocusColumn("ListCost", Type.DECIMAL, _cost),
    FocusColumn("ListUnitPrice", Type.DECIMAL, _price),
    FocusColumn(
        "PricingCategory", Type.CODE, lambda charge, _: "Standard" if is_priced(charge) else None
    ),
    FocusColumn(
        "PricingQuantity",
        Type.DECIMAL,
        lambda charge, _: charge.quantity if is_priced(charge) else None,
    ),
    FocusColumn(
        "PricingUnit", Type.CODE, lambda charge, _: charge.unit if is_priced(charge) else None
    ),
    FocusColumn("ProviderName", Type.TEXT, lambda charge, _: charge.seller),
    FocusColumn("PublisherName", Type.TEXT, lambda charge, _: charge.seller),
    FocusColumn("RegionId", Type.CODE, _nothing),
    FocusColumn("RegionName", Type.CODE, _nothing),
    FocusColumn("ResourceId", Type.CODE, lambda charge, _: charge.space_id or None),
    FocusColumn("ResourceName", Type.TEXT, lambda charge, _: charge.space or None),
    FocusColumn(
        "ResourceType", Type.CODE, lambda charge, _: "Address space" if charge.space_id else None
    ),
    FocusColumn("ServiceCategory", Type.CODE, lambda charge, _: "Integration"),
    FocusColumn("ServiceName", Type.CODE, lambda charge, _: "Messaging"),
    FocusColumn("SkuId", Type.CODE, lambda charge, _: charge.meter or None),
    FocusColumn("SkuPriceId", Type.CODE, _sku_price),
    FocusColumn("SubAccountId", Type.CODE, lambda charge, _: charge.space_id or None),
    FocusColumn("SubAccountName", Type.TEXT, lambda charge, _: charge.space or None),
    FocusColumn("Tags", Type.TEXT, _tags),
    # A column of Waypost's own begins with x_, as the specification demands.
    FocusColumn("x_InvoiceNumber", Type.CODE, lambda charge, _: charge.document),
)
TABLE = tuple(Column(column.name, column.type) for column in COLUMNS)


def rows(window: Period, tenant_id: str | None = None) -> Iterator[Row]:
    """Yield the charges of issued invoices, then those of credit notes, in a stable order.

    The invoices are those whose period begins in ``window``. Credit notes, and invoices that
    replace a voided one, are those that were issued in it: what was exported of a past window does
    not change. ``tenant_id`` None: of all tenants, for the operator only. The bounds are then
    times in UTC for what is chosen by its issue, and for the other invoices times on the clock of
    their billing time zones.
    """
    issued = Q(issued_at__gte=window.starts_at, issued_at__lt=window.ends_at)
    if tenant_id is not None:
        issued &= Q(tenant_id=tenant_id)
    begun = _begun_in(window) if tenant_id is None else _of_tenant(tenant_id, window)
    replacing = Invoice.objects.filter(issued, replaces__isnull=False)
    for invoices in (begun.filter(replaces__isnull=True), replacing):
        ordered = invoices.order_by("starts_at", "pk").only("tenant_id", "document")
        for row in ordered.iterator(chunk_size=_BATCH):
            yield from _rows(charges.of_invoice(row.tenant_id, document.loaded(row.document)))
    notes = CreditNote.objects.filter(issued).select_related("invoice")
    for note in notes.order_by("issued_at", "pk").iterator(chunk_size=_BATCH):
        yield from _rows(
            charges.of_credit_note(
                note.tenant_id,
                document.loaded(note.document),
                document.loaded(note.invoice.document),
            )
        )


def _of_tenant(tenant_id: str, window: Period) -> QuerySet[Invoice]:
    return Invoice.objects.filter(
        number__isnull=False,
        starts_at__gte=window.starts_at,
        starts_at__lt=window.ends_at,
        tenant_id=tenant_id,
    )


def _begun_in(window: Period) -> QuerySet[Invoice]:
    """Return the issued invoices of all tenants that begin in the window by their own clocks.

    The window's bounds in UTC are read as times on the clock of each invoice's billing time zone.
    So the November of all tenants has the November of each, wherever its month begins.
    """
    zone = Coalesce(NullIf(F("time_zone"), Value("")), Value("UTC"))
    local = Func(zone, F("starts_at"), function="timezone", output_field=DateTimeField())
    return Invoice.objects.annotate(
        begins=Func(Value("UTC"), local, function="timezone", output_field=DateTimeField())
    ).filter(
        number__isnull=False,
        begins__gte=window.starts_at,
        begins__lt=window.ends_at,
        # No time zone is further from UTC. Without these bounds the whole table would be read.
        starts_at__gte=window.starts_at - _FURTHEST,
        starts_at__lt=window.ends_at + _FURTHEST,
    )


def _rows(found: Iterator[Charge]) -> Iterator[Row]:
    listed = list(found)
    ids = {charge.space_id for charge in listed if charge.space_id}
    # The labels that spaces have now: documents do not store labels.
    labels = dict(AddressSpace.objects.filter(pk__in=ids).values_list("pk", "labels"))
    for charge in listed:
        yield {column.name: column.value(charge, labels) for column in COLUMNS}
