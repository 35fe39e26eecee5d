"""Reads what a tenant agreed on besides its plan: discounts, commitments, and how it is taxed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Q

from plans.models import Commitment, Discount
from plans.rating import taxes, terms, vat_ids
from plans.rating.periods import Period, zone
from plans.rating.taxes import Buyer, Category, TaxRule
from plans.rating.terms import Terms
from tenants.models import Tenant

# The billing month of a period begins and ends at most this far from it, in any time zone.
_MONTH = timedelta(days=32)


@dataclass(frozen=True)
class Agreed:
    """The discounts and commitments of one tenant near a period, in any currency."""

    discounts: Sequence[Discount]
    commitments: Sequence[Commitment]

    @classmethod
    def read_each(cls, tenants: Sequence[Tenant], period: Period) -> "dict[str, Agreed]":
        """Read those of each tenant in two queries; return them by the tenant's id."""
        near = Q(starts_at__lt=period.ends_at + _MONTH) & (
            Q(ends_at__isnull=True) | Q(ends_at__gt=period.starts_at - _MONTH)
        )
        discounts: dict[str, list[Discount]] = {tenant.id: [] for tenant in tenants}
        commitments: dict[str, list[Commitment]] = {tenant.id: [] for tenant in tenants}
        for discount in Discount.objects.filter(near, tenant__in=tenants):
            discounts[discount.tenant_id].append(discount)
        agreed = Commitment.objects.filter(near, tenant__in=tenants)
        for commitment in agreed.order_by("starts_at", "id"):
            commitments[commitment.tenant_id].append(commitment)
        return {id: cls(mine, commitments[id]) for id, mine in discounts.items()}


def of_month(agreed: Agreed, month: Period, currency: str) -> Terms:
    """Return the discounts and commitments of a billing month, in the currency of its invoices.

    A discount counts for all of a month if an instant of the month is in its time. Percentages
    apply first, then amounts, each in the order in which they began; of one instant, discounts of
    all meters apply before those of some, and then in the order of their titles.
    """
    discounts = [
        row
        for row in agreed.discounts
        if _overlaps(row, month) and (row.percent is not None or row.currency == currency)
    ]
    spans = [
        (row, month.clip(row.starts_at, row.ends_at))
        for row in agreed.commitments
        if _overlaps(row, month) and row.currency == currency
    ]
    ordered = sorted(
        discounts,
        key=lambda row: (
            row.percent is None, row.starts_at, bool(row.meters), row.title, row.pk
        ),
    )  # fmt: skip
    return Terms(
        tuple(
            terms.Discount(row.pk, row.title, row.percent, row.amount_minor, tuple(row.meters))
            for row in ordered
        ),
        tuple(
            terms.Commitment(row.pk, row.title, row.minimum_minor, span)
            for row, span in spans
            if span is not None
        ),
    )


def _overlaps(row: Discount | Commitment, month: Period) -> bool:
    is_over = row.ends_at is not None and row.ends_at <= month.starts_at
    return row.starts_at < month.ends_at and not is_over


def tax_of(tenant: Tenant, seller_country: str, period: Period, time_zone: str) -> TaxRule:
    """Return the tax that a seller under VAT charges the tenant for a period.

    The rate is the one of the period's last day in the billing time zone: then the service is
    complete.

    Raises:
        Invalid: the table of rates lacks a country.
    """
    last = period.ends_at.astimezone(zone(time_zone)) - timedelta(microseconds=1)
    status = vat_ids.check(tenant.billing_country, tenant.tax_id)
    buyer = Buyer(tenant.billing_country, status, tenant.tax_exemption)
    return taxes.decide(seller_country, buyer, last.date())


def plain_tax(rule: TaxRule) -> dict[str, Any]:
    """Return the tax as JSON values for a manifest; ``tax_from`` makes it again."""
    return {
        "percent": f"{rule.percent.normalize():f}",
        "category": rule.category.value,
        "note": rule.note,
    }


def tax_from(plain: dict[str, str] | None) -> TaxRule | None:
    """Return the tax from the result of ``plain_tax``; None if the seller taxed at a flat rate."""
    if plain is None:
        return None
    return TaxRule(Decimal(plain["percent"]), Category(plain["category"]), plain["note"])
