"""Reads what a tenant agreed on besides its plan: discounts, commitments, and how it is taxed."""

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


def of_month(tenant: Tenant, month: Period, currency: str) -> Terms:
    """Return the discounts and commitments of a billing month, in the currency of its invoices.

    A discount counts for all of a month if an instant of the month is in its time. Percentages
    apply first, then amounts, each in the order in which they began; of one instant, discounts of
    all meters apply before those of some, and then in the order of their titles.
    """
    inside = Q(starts_at__lt=month.ends_at) & (
        Q(ends_at__isnull=True) | Q(ends_at__gt=month.starts_at)
    )
    discounts = Discount.objects.filter(inside, tenant=tenant).filter(
        Q(percent__isnull=False) | Q(currency=currency)
    )
    commitments = Commitment.objects.filter(inside, tenant=tenant, currency=currency)
    spans = [(row, month.clip(row.starts_at, row.ends_at))
             for row in commitments.order_by("starts_at", "id")]  # fmt: skip
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
