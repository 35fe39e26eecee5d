"""Reads what a tenant agreed on besides its plan: discounts, commitments, and how it is taxed."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Q

from plans.models import Commitment, Discount, TaxExemption
from plans.rating import taxes, terms, vat_ids
from plans.rating.periods import Period, zone
from plans.rating.taxes import Buyer, Category, TaxRule
from plans.rating.terms import Terms
from plans.rating.vat_ids import Status
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


def tax_of(tenant: Tenant, seller_country: str, period: Period, time_zone: str) -> TaxRule | None:
    """Return the tax of a tenant for a period; None: the seller's own rate, as the catalog says it.

    ``seller_country`` is empty for a seller that taxes everything at one rate. Rate and exemption
    are those of the period's last day in the billing time zone: then the service is complete.

    Raises:
        Invalid: the table of rates lacks a country.
    """
    last = (period.ends_at.astimezone(zone(time_zone)) - timedelta(microseconds=1)).date()
    exemption = exemption_on(tenant, last)
    if not seller_country:
        return exemption
    buyer = Buyer(tenant.billing_country, tax_id_status(tenant), exemption)
    return taxes.decide(seller_country, buyer, last)


def exemption_on(tenant: Tenant, day: date) -> TaxRule | None:
    """Return the tax of the tenant's exemption of a day, the one that began last; None: none."""
    inside = Q(starts_on__lte=day) & (Q(ends_on__isnull=True) | Q(ends_on__gte=day))
    rows = TaxExemption.objects.filter(inside, tenant=tenant).order_by("-starts_on", "-pk")
    row = rows.first()
    if row is None:
        return None
    note = f"{row.text} (certificate {row.certificate})"
    return TaxRule(Decimal(0), Category(row.category), note)


def tax_id_status(tenant: Tenant) -> Status:
    """Return what is known of the tenant's tax id: by its form, or by what the register said."""
    if tenant.tax_id_status == Status.REFUSED:
        return Status.REFUSED
    return vat_ids.check(tenant.billing_country, tenant.tax_id)


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
